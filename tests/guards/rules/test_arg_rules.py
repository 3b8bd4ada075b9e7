"""`arg_rules`: patterns that must not occur in the arguments of some tools."""

from __future__ import annotations

import pytest

from edgeward.policies.yaml_file import ConfigValidationError

from .deciding import verdict, word

TRAVERSAL = {"name": "traversal", "reason": "it leaves its folder", "regex": r"\.\./"}
RULES: dict[str, object] = {"arg_rules": [TRAVERSAL]}


@pytest.mark.parametrize(
    "arguments",
    [
        {"path": "../x"},
        {"path": "..%2Fx"},
        {"path": "%2e%2e%2fx"},
        {"paths": ["ok", {"deep": "a/../b"}]},
        {"../": 1},
    ],
)
def test_a_pattern_is_found_wherever_and_however_it_is_written(
    arguments: dict[str, object],
) -> None:
    """In values and keys, nested, and in what they are once decoded."""
    assert word(RULES, "read", arguments) == "block"


@pytest.mark.parametrize("arguments", [{}, {"path": "a/b"}, {"n": 3}, {"text": "wait... what"}])
def test_other_arguments_may_pass(arguments: dict[str, object]) -> None:
    """What does not hold the pattern is none of the rule's business."""
    assert word(RULES, "read", arguments) == "allow"


def test_the_text_around_the_values_is_not_searched() -> None:
    """A pattern of JSON's own signs finds nothing: values are seen, not their rendering."""
    rules = {"arg_rules": [{"name": "json", "regex": '[{":]'}]}
    assert word(rules, "read", {"a": "b", "c": ["d"]}) == "allow"


@pytest.mark.parametrize(
    ("tool", "expected"),
    [("read_doc", "block"), ("READ_DOC", "block"), ("fs_list", "block"), ("send", "allow")],
)
def test_tools_narrow_a_rule(tool: str, expected: str) -> None:
    """Names and globs, in every spelling; other tools are left alone."""
    rules = {"arg_rules": [{**TRAVERSAL, "tools": ["read_doc", "fs_*"]}]}
    assert word(rules, tool, {"path": "../x"}) == expected


def test_the_refusal_names_rule_reason_argument_and_value() -> None:
    """The rule's name, its own words, and what was found where."""
    (finding,) = verdict(RULES, "read", {"files": ["ok", "../x"]}).deciding
    assert finding.rule == "arg_rules.traversal"
    assert (finding.reason, finding.argument) == ("it leaves its folder", "files[1]")
    assert finding.value == "../x"


def test_a_rule_without_a_reason_says_its_name() -> None:
    """The reader of a refusal hears at least which rule it was."""
    rules = {"arg_rules": [{"name": "traversal", "regex": r"\.\./"}]}
    assert "'traversal'" in verdict(rules, "read", {"p": "../x"}).reason


def test_a_long_value_is_cut_around_what_was_found() -> None:
    """A refusal is no copy of the arguments."""
    (finding,) = verdict(RULES, "read", {"p": "a" * 500 + "../" + "b" * 500}).deciding
    assert "../" in finding.value
    assert len(finding.value) < 200


def test_a_secret_beside_the_match_is_masked() -> None:
    """The value is shown, and what is secret in it is not."""
    key = "sk-ant-api03-" + "A1b2C3d4" * 12
    said = verdict(RULES, "read", {"p": f"../{key}"})
    assert all(key not in f"{finding.value}{finding.reason}" for finding in said.findings)


def test_a_pattern_that_does_not_compile_is_an_error_at_load() -> None:
    """Not at the first call: a rule that cannot be read would block nothing."""
    with pytest.raises(ConfigValidationError, match="arg_rules"):
        word({"arg_rules": [{"name": "x", "regex": "("}]})
