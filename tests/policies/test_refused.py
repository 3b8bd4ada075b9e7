"""`load_policy`: what no policy may say, each fault with its place and what is allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from edgeward.policies.schema import load_policy, shipped_policies
from edgeward.policies.yaml_file import (
    ConfigError,
    ConfigFileMissing,
    ConfigParseError,
    ConfigValidationError,
)

from .written import write


def refused(folder: Path, text: str, error: type[ConfigError] = ConfigValidationError) -> list[str]:
    """The lines of the message with which the file is refused, without the folder."""
    with pytest.raises(error) as caught:
        load_policy(write(folder, text))
    return str(caught.value).replace(f"{folder}/", "").splitlines()


def test_a_missing_policy_lists_the_shipped_names() -> None:
    """With the nearest name, for a name and for a path."""
    for source in ("defualt", Path("no/such/defualt.yaml")):
        with pytest.raises(ConfigFileMissing) as caught:
            load_policy(source)
        message = str(caught.value)
        assert message.startswith(f"{source}: there is no such policy; allowed: a path, or ")
        assert all(name in message for name in shipped_policies())
        assert message.endswith("did you mean default?")


def test_a_policy_text_in_place_of_a_path_is_refused_in_one_line() -> None:
    """A text with line breaks is no path."""
    with pytest.raises(ConfigFileMissing) as caught:
        load_policy("version: 1\ntool_denylist: [a]\n")
    assert len(str(caught.value).splitlines()) == 1


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    """A file that lost its content must not mean that any tool may run."""
    for text in ("", "# nothing\n", "---\n"):
        (line,) = refused(tmp_path, text, ConfigParseError)
        assert "the file is empty" in line


def test_a_misspelt_key_is_refused(tmp_path: Path) -> None:
    """`tool_deny_list:` does not load as "nothing denied" (X8)."""
    (line,) = refused(tmp_path, "version: 1\ntool_deny_list: [send_email]\n")
    assert line.startswith("policy.yaml:2: tool_deny_list: unknown key (extra_forbidden); allowed:")
    assert line.endswith("did you mean tool_denylist?")


def test_a_repeated_key_is_refused(tmp_path: Path) -> None:
    """The case of C07, through the policy loader."""
    text = "tool_denylist: [send_email]\nversion: 1\ntool_denylist: []\n"
    (line,) = refused(tmp_path, text, ConfigParseError)
    assert line.startswith("policy.yaml:3: tool_denylist: key tool_denylist stands twice")
    assert "lines 1 and 3" in line


@pytest.mark.parametrize(
    ("text", "field", "kind"),
    [
        ("tool_denylist: send_email", "tool_denylist", "list_type"),
        ("tool_allowlist: send_email", "tool_allowlist", "list_type"),
        ("tool_denylist: [send_email, 5]", "tool_denylist[1]", "string_type"),
        ("tool_denylist: [true]", "tool_denylist[0]", "string_type"),
        ("egress_allowlist: example.com", "egress_allowlist", "list_type"),
        ("injection_phrases: ignore", "injection_phrases", "list_type"),
        ("token_budget_per_session: true", "token_budget_per_session", "int_type"),
        ("token_budget_per_session: '20000'", "token_budget_per_session", "int_type"),
        ("token_budget_per_session: 1.5", "token_budget_per_session", "int_type"),
        ("injection_threshold: high", "injection_threshold", "float_type"),
        ("fail_closed: 1", "fail_closed", "bool_type"),
        ("fail_closed: maybe", "fail_closed", "bool_type"),
        ("version: 3", "version", "less_than_equal"),
        ("version: '1'", "version", "int_type"),
        ("version: true", "version", "int_type"),
        ("me: emma@corp.example", "me", "list_type"),
        ("default: redact", "default", "literal_error"),
        ("otherwise: allow", "otherwise", "literal_error"),
        ("description: [x]", "description", "string_type"),
        ("block_message: 5", "block_message", "string_type"),
        (
            "arg_rules: [{name: a, reason: b, regex: c, tools: read_doc}]",
            "arg_rules[0].tools",
            "list_type",
        ),
        (
            "arg_rules: [{name: a, reason: b, regex: c, tool: [x]}]",
            "arg_rules[0].tool",
            "extra_forbidden",
        ),
        ("arg_rules: [{name: a, reason: b}]", "arg_rules[0].regex", "missing"),
        ("secret_patterns: [{regex: c}]", "secret_patterns[0].name", "missing"),
        ("secret_patterns: {a: b}", "secret_patterns", "list_type"),
    ],
)
def test_a_value_of_the_wrong_kind_is_refused(
    tmp_path: Path, text: str, field: str, kind: str
) -> None:
    """One problem, with its line, its field and pydantic's word for it."""
    (line,) = refused(tmp_path, "# comment\n" + text + "\n")
    assert line.startswith(f"policy.yaml:2: {field}: ")
    assert f"({kind})" in line


@pytest.mark.parametrize("regex", ["(", "[a-", "(?=x)", r"(a)\\1", "a{2,1}"])
def test_a_pattern_that_does_not_compile_is_refused_with_its_place(
    tmp_path: Path, regex: str
) -> None:
    """Neither rule nor secret pattern waits for the first call to fail (C95)."""
    text = (
        "arg_rules:\n"
        f"  - {{name: first, reason: r, regex: '{regex}'}}\n"
        "secret_patterns:\n"
        f"  - {{name: second, regex: '{regex}'}}\n"
    ).replace("\\\\", "\\")
    lines = refused(tmp_path, text)
    assert [line.partition(": ")[0] for line in lines] == ["policy.yaml:2", "policy.yaml:4"]
    assert lines[0].split(": ")[1].startswith("arg_rules[0]")
    assert lines[1].split(": ")[1].startswith("secret_patterns[0]")


def test_all_problems_of_a_file_come_at_once(tmp_path: Path) -> None:
    """Five faults, five lines, in the order of the file."""
    text = (
        "version: 9\n"
        "tool_deny_list: []\n"
        "tool_allowlist: read_doc\n"
        "arg_rules:\n"
        "  - {name: a, reason: b, regex: '('}\n"
        "fail_closed: 3\n"
    )
    lines = refused(tmp_path, text)
    assert [line.partition(": ")[0] for line in lines] == [
        f"policy.yaml:{n}" for n in (1, 2, 3, 5, 6)
    ]


@pytest.mark.parametrize("text", ["- a\n", "word\n", "5\n"])
def test_a_file_that_is_no_mapping_is_refused(tmp_path: Path, text: str) -> None:
    """A policy is keys with values."""
    (line,) = refused(tmp_path, text)
    assert line.startswith("policy.yaml:1: is ")
    assert "allowed: a mapping" in line


def test_hostile_yaml_is_refused_by_the_loader(tmp_path: Path) -> None:
    """Object tags, self-reference and deep nesting end in one ordinary error each (C94)."""
    for text in ("a: !!python/object/apply:os.getcwd []", "a: &x [*x]", "[" * 100_000):
        assert refused(tmp_path, text, ConfigParseError)


def test_a_mapping_is_checked_like_a_file() -> None:
    """A policy written in Python has no lines; the rest is the same."""
    with pytest.raises(ConfigValidationError, match="did you mean tool_denylist"):
        load_policy({"tool_deny_list": ["a"]})
    with pytest.raises(ConfigValidationError, match="is not plain data"):
        load_policy({"tool_denylist": {"a"}})


@pytest.mark.parametrize(
    "key", ["default: ask", "otherwise: ask", "me: [a@b.example]", "tools: {}"]
)
@pytest.mark.parametrize("version", ["", "version: 1\n"])
def test_keys_of_version_two_need_it(tmp_path: Path, version: str, key: str) -> None:
    """A version 1 file does not say what it does not mean."""
    (line,) = refused(tmp_path, f"{version}{key}\n")
    assert line.startswith(f"policy.yaml:{len(version.splitlines()) + 1}: {key.split(':')[0]}: ")
    assert "version: 2" in line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("tools: {send: alow}", "tools.send: is alow, which is not one of the words"),
        ("tools: {send: {arg: {}}}", "tools.send.arg: unknown key (extra_forbidden); allowed: "),
        ("tools: {send: [allow]}", "tools.send[0]: is text (model_type)"),
        ("tools: {send: }", "tools.send: is blank (literal_error)"),
        ("tools: [send]", "tools: is a list (dict_type)"),
        ("tool: {send: allow}", "tool: unknown key (extra_forbidden)"),
        ("tools: {send: {otherwise: allow}}", "tools.send.otherwise: is allow, which is not one"),
        ("tools: {send: {otherwise: blok}}", "tools.send.otherwise: is blok, which is not one"),
    ],
)
def test_what_tools_may_not_say(tmp_path: Path, text: str, line: str) -> None:
    """One problem each, at its place; a tool without a word is none that may run."""
    (found,) = refused(tmp_path, f"version: 2\n{text}\n")
    assert found.startswith(f"policy.yaml:2: {line}")


def test_a_misspelt_key_without_a_value_is_refused_too(tmp_path: Path) -> None:
    """Only known keys may be left blank."""
    (line,) = refused(tmp_path, "version: 1\ntool_deny_list:\n")
    assert "unknown key" in line


def test_problems_that_only_several_keys_show_come_at_once(tmp_path: Path) -> None:
    """Each key that version 1 does not have is named."""
    assert len(refused(tmp_path, "default: ask\nme: [x]\ntools: {}\n")) == 3
