"""`arg_rules`: patterns that may not occur in the arguments of some tools."""

from __future__ import annotations

import pytest

from edgeward.policies.problems import ConfigError
from edgeward.policies.schema import load_policy

from ..conftest import Ask

RULE = {"name": "exec", "reason": "runs a program", "regex": "--exec"}


def test_reason_and_place(ask: Ask) -> None:
    """The caller sees the rule's reason; the finding names rule, argument and value."""
    verdict = ask({"arg_rules": [RULE]}, {"q": {"flags": ["-x", "--exec rm"]}})
    (found,) = verdict.findings
    assert (found.rule, found.reason) == ("arg_rules.exec", "runs a program")
    assert (found.argument, found.value) == ("q.flags[1]", "--exec rm")


def test_without_reason(ask: Ask) -> None:
    """A rule without a reason is named."""
    verdict = ask({"arg_rules": [{"name": "exec", "regex": "--exec"}]}, {"a": "--exec"})
    assert verdict.reason == "argument matches the rule 'exec'"


def test_a_value_is_shown_before_the_name_of_its_argument(ask: Ask) -> None:
    """A rule that finds something in both shows what a person can change."""
    rule = {"name": "address", "regex": r"\S", "args": ["host"]}
    (found,) = ask({"arg_rules": [rule]}, {"q": "x", "host": ["evil.test"]}).findings
    assert (found.argument, found.value) == ("host[0]", "evil.test")
    (found,) = ask({"arg_rules": [rule]}, {"host": {"evil.test": ""}}).findings
    assert (found.value, found.allowed) == ("host", "a call without this argument")


@pytest.mark.parametrize(
    ("tools", "tool", "word"),
    [
        (["*"], "any", "block"),
        (["find"], "find", "block"),
        (["find"], "FIND", "block"),
        (["find"], "fs__find", "block"),
        (["find_*"], "find_file", "block"),
        (["find"], "finder", "allow"),
        (["find", "*"], "other", "block"),
    ],
)
def test_scope(ask: Ask, tools: list[str], tool: str, word: str) -> None:
    """A scoped rule applies to its tools under every spelling, and ignores others (F007)."""
    assert ask({"arg_rules": [{**RULE, "tools": tools}]}, {"a": "--exec"}, tool=tool).word == word


@pytest.mark.parametrize(
    "regex", [r"\Aab\z", "^ab$", r"\bab\b", "(?i)AB", "^a.$", r"b\z", "(?-m:^ab$)"]
)
def test_anchors_mean_the_value(ask: Ask, regex: str) -> None:
    """Anchors are those of one value, not of all the values together."""
    policy = {"arg_rules": [{"name": "r", "regex": regex}]}
    assert ask(policy, {"x": "0", "y": "ab", "z": "0"}).word == "block"
    if "b\\b" not in regex and "AB" not in regex:
        assert ask(policy, {"x": "0 cd", "y": "ab 1", "z": "0"}).word == "allow"


def test_thousand_rules(ask: Ask) -> None:
    """Of a thousand rules exactly the ones that match are named."""
    rules = [{"name": f"r{i}", "regex": rf"word{i}\b"} for i in range(1_000)]
    verdict = ask({"arg_rules": rules}, {"a": "word7 and word999"})
    assert [f.rule for f in verdict.findings] == ["arg_rules.r7", "arg_rules.r999"]


def test_long_value_is_cut_and_masked(ask: Ask) -> None:
    """A finding shows at most a short piece around the match, without secrets."""
    text = "x " * 5_000 + "--exec AKIAIOSFODNN7EXAMPLE " + "y " * 500
    (found,) = [f for f in ask({"arg_rules": [RULE]}, {"a": text}).findings if "exec" in f.rule]
    assert "--exec [REDACTED:aws_access_key]" in found.value
    assert len(found.value) < 140


@pytest.mark.parametrize(
    "entry",
    [{**RULE, "tools": "find"}, {**RULE, "regex": "("}, {**RULE, "regex": "(?=x)"}, {"name": "x"},
     {**RULE, "rexeg": "x"}, {**RULE, "regex": ""}],
)  # fmt: skip
def test_shape(entry: dict[str, object]) -> None:
    """A scalar for a list, a bad or missing pattern and a misspelt key are refused at load."""
    with pytest.raises(ConfigError, match="arg_rules"):
        load_policy({"version": 1, "arg_rules": [entry]})


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"path": ".env"}, "block"),
        ({"path": ["a", "x/.env"]}, "block"),
        ({"path": {"deep": "%2eenv"}}, "block"),
        ({"options": {"target": ".env"}}, "block"),
        ({"content": "load_dotenv('.env')\n.env"}, "allow"),
        ({"options": {"other": ".env"}}, "allow"),
        ({"paths": ".env"}, "allow"),
        ({"Path": ".env"}, "block"),
        ({"options": {"TARGET": ".env"}}, "block"),
    ],
)
def test_a_rule_may_look_at_some_arguments_only(
    ask: Ask, arguments: dict[str, object], word: str
) -> None:
    """What stands in an argument that the rule does not name is none of its business."""
    row = {"name": "keys", "regex": r"(^|/|\n)\.env$", "args": ["path", "options.target"]}
    assert ask({"arg_rules": [row]}, arguments).word == word
