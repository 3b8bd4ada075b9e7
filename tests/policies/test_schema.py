"""`load_policy`: where a policy comes from, what its file may say, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from edgeward.guards.decide import Policy, decide
from edgeward.guards.ledger import History
from edgeward.guards.rules import rule_modules
from edgeward.guards.verdict import ToolCall, Verdict
from edgeward.policies.schema import (
    BLOCK_MESSAGE,
    load_policy,
    policy_model,
    shipped_policies,
)
from edgeward.policies.yaml_file import (
    ConfigError,
    ConfigFileMissing,
    ConfigParseError,
    ConfigValidationError,
)

REFERENCE = """\
version: 1
description: >
  Default policy for a document-summarizing assistant.

tool_allowlist:
  - read_doc
  - summarize
  - http_fetch
  - search_kb

tool_denylist:
  - send_email
  - run_shell
  - delete_file
  - transfer_funds

egress_allowlist:
  - example.com
  - docs.company.internal

secret_patterns:
  - name: groq_key
    regex: 'gsk_[A-Za-z0-9]{20,}'
  - name: aws_access_key
    regex: 'AKIA[0-9A-Z]{16}'

arg_rules:
  - name: path_traversal
    reason: "path traversal sequence in argument"
    regex: '\\.\\./|\\.\\.\\\\'
    tools: ["*"]
  - name: command_substitution
    reason: "shell command substitution in argument"
    regex: '\\$\\([^)]*\\)|`[^`]*`'
    tools: ["*"]

injection_phrases:
  - ignore previous instructions
  - disregard the above
  - system override

injection_threshold: 0.80
token_budget_per_session: 20000
fail_closed: true
block_message: "[Agent Defender] Action blocked by policy."
"""


def write(folder: Path, text: str) -> Path:
    """A policy file with this text."""
    path = folder / "policy.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def refused(folder: Path, text: str, error: type[ConfigError] = ConfigValidationError) -> list[str]:
    """The lines of the message with which the file is refused, without the folder."""
    with pytest.raises(error) as caught:
        load_policy(write(folder, text))
    return str(caught.value).replace(f"{folder}/", "").splitlines()


def verdict(policy: Policy, tool: str, **arguments: object) -> Verdict:
    """What the policy says of a first call."""
    return decide(policy, ToolCall(tool, dict(arguments)), History())


# Where a policy comes from


def test_a_file_of_version_one_loads_unchanged(tmp_path: Path) -> None:
    """A policy written for agent-defender loads as it is and keeps its words (F001, F002)."""
    path = write(tmp_path, REFERENCE)
    policy = load_policy(path)
    assert policy.name == "policy"
    assert policy.source == str(path)
    assert policy.version == 1
    assert policy.description == "Default policy for a document-summarizing assistant.\n"
    assert policy.fail_closed
    assert policy.block_message == "[Agent Defender] Action blocked by policy."


def test_a_version_one_file_decides_as_it_did(tmp_path: Path) -> None:
    """Allowed, unlisted, denied, foreign host, secret, traversal."""
    policy = load_policy(write(tmp_path, REFERENCE))
    assert verdict(policy, "read_doc", path="a.txt").word == "allow"
    assert verdict(policy, "http_fetch", url="https://api.example.com/x").word == "allow"
    for tool, arguments in (
        ("frobnicate", {}),
        ("send_email", {"to": "a@example.com"}),
        ("http_fetch", {"url": "https://evil.test/x"}),
        ("read_doc", {"text": "gsk_" + "a" * 24}),
        ("read_doc", {"path": "../../etc/passwd"}),
    ):
        found = verdict(policy, tool, **arguments)
        assert found.word == "block", tool
        assert found.reason, tool


def test_shipped_names_paths_mappings_and_policies_are_taken(tmp_path: Path) -> None:
    """Four ways to say which policy; the content alone makes the digest."""
    path = write(tmp_path, "# comment\ntool_denylist: [b, a]\nversion: 2\n")
    from_path, from_text = load_policy(path), load_policy(str(path))
    from_mapping = load_policy({"version": 2, "tool_denylist": ["b", "a"]})
    assert from_path.digest == from_text.digest == from_mapping.digest
    assert len(from_path.digest) == 64
    assert load_policy({"version": 2, "tool_denylist": ["a", "b"]}).digest != from_path.digest
    assert from_mapping.source == ""
    assert load_policy(from_path) is from_path
    assert load_policy("read_only").name == "read_only"
    assert load_policy("read_only").source == "policies/read_only.yaml"


def test_no_policy_is_the_default_policy() -> None:
    """None is not "no rules"."""
    assert load_policy(None).digest == load_policy().digest == load_policy("default").digest


def test_a_blank_key_does_not_change_the_digest() -> None:
    """A key left blank is a key left out."""
    assert load_policy({"me": None, "version": 1}).digest == load_policy({"version": 1}).digest


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


def test_a_policy_is_read_once(tmp_path: Path) -> None:
    """Deciding needs no file (F013)."""
    path = write(tmp_path, REFERENCE)
    policy = load_policy(path)
    path.unlink()
    assert verdict(policy, "send_email").word == "block"


# What a file may not say


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


# What the head's keys mean


def test_defaults_of_the_head(tmp_path: Path) -> None:
    """A file that says nothing but its version."""
    policy = load_policy(write(tmp_path, "version: 1\n"))
    assert (policy.version, policy.description, policy.fail_closed) == (1, "", True)
    assert policy.block_message == BLOCK_MESSAGE == "[Edgeward] Action blocked by policy."


@pytest.mark.parametrize("text", ["block_message:", 'block_message: ""', 'block_message: "  "'])
def test_a_blank_block_message_is_the_default(tmp_path: Path, text: str) -> None:
    """An answer is never replaced by nothing (F012)."""
    assert load_policy(write(tmp_path, f"version: 1\n{text}\n")).block_message == BLOCK_MESSAGE


def test_braces_in_a_block_message_stay(tmp_path: Path) -> None:
    """No text of a policy is a template (C59)."""
    message = 'Blocked: {name} {"ok": true} {x.__class__}'
    assert load_policy({"block_message": message}).block_message == message


@pytest.mark.parametrize(("word", "value"), [("no", False), ("off", False), ("yes", True)])
def test_fail_closed_takes_the_old_words_for_true_and_false(
    tmp_path: Path, word: str, value: bool
) -> None:
    """A file written for YAML 1.1 may say `no`, and means false."""
    assert load_policy(write(tmp_path, f"fail_closed: {word}\n")).fail_closed is value


def test_an_empty_tool_list_allows_any_tool_and_an_absent_egress_list_no_host() -> None:
    """Version 1 keeps what the reference does (F003, X9); a deny list wins (F004)."""
    policy = load_policy({"version": 1, "tool_denylist": ["send_email"], "tool_allowlist": []})
    assert verdict(policy, "anything", x="y").word == "allow"
    assert verdict(policy, "anything", url="https://example.com/").word == "block"
    both = load_policy({"tool_denylist": ["a"], "tool_allowlist": ["a", "b"]})
    assert verdict(both, "a").word == "block"
    assert verdict(both, "b").word == "allow"
    assert verdict(both, "c").word == "block"


def test_in_version_two_an_absent_egress_list_restricts_nothing_and_an_empty_one_all() -> None:
    """The one thing that the version changes."""
    absent = load_policy({"version": 2})
    empty = load_policy({"version": 2, "egress_allowlist": []})
    assert verdict(absent, "get", url="https://example.com/").word == "allow"
    assert verdict(empty, "get", url="https://example.com/").word == "block"


def test_a_denied_name_in_another_spelling_is_denied() -> None:
    """`Send_Email` does not slip past `send_email` (X10)."""
    policy = load_policy({"tool_denylist": ["send_email"]})
    for tool in ("Send_Email", "send_email ", "SEND_EMAIL"):
        assert verdict(policy, tool).word == "block", tool


def test_a_finding_names_the_line_of_its_rule(tmp_path: Path) -> None:
    """Whoever is refused can look up why: file as given, line as in the editor."""
    path = write(tmp_path, REFERENCE)
    (finding,) = verdict(load_policy(path), "read_doc", path="../../x").deciding
    assert finding.rule == "arg_rules.path_traversal"
    assert finding.reason.startswith("path traversal sequence in argument")
    assert finding.where == f"{path}:{REFERENCE.splitlines().index('  - name: path_traversal') + 1}"


def test_the_keys_of_version_one_are_in_the_schema() -> None:
    """All twelve, whoever owns them; and every rule kind has its own."""
    keys = set(policy_model().model_fields)
    head = "version description fail_closed block_message"
    rules = (
        "tool_allowlist tool_denylist egress_allowlist secret_patterns arg_rules "
        "injection_phrases injection_threshold token_budget_per_session"
    )
    assert keys >= {*head.split(), *rules.split()}
    assert keys >= set(rule_modules())


# Version 2


@pytest.mark.parametrize(
    "key", ["default: ask", "otherwise: ask", "me: [a@b.example]", "tools: {}"]
)
@pytest.mark.parametrize("version", ["", "version: 1\n"])
def test_keys_of_version_two_need_it(tmp_path: Path, version: str, key: str) -> None:
    """A version 1 file does not say what it does not mean."""
    (line,) = refused(tmp_path, f"{version}{key}\n")
    assert line.startswith(f"policy.yaml:{len(version.splitlines()) + 1}: {key.split(':')[0]}: ")
    assert "version: 2" in line


@pytest.mark.parametrize("word", ["block", "ask", "allow"])
def test_default_is_heard_without_tools(word: str) -> None:
    """`default: block` alone blocks every tool; it is not left without effect."""
    policy = load_policy({"version": 2, "default": word})
    assert verdict(policy, "anything").word == word


def test_default_and_allowlist_each_have_their_say() -> None:
    """The strictest wins where both kinds of key stand in one file."""
    policy = load_policy({"version": 2, "default": "ask", "tool_allowlist": ["a"]})
    assert verdict(policy, "a").word == "ask"
    assert verdict(policy, "b").word == "block"


def test_default_is_block_where_tools_are_named() -> None:
    """A tool that nothing names is blocked unless the file says otherwise."""
    policy = load_policy({"version": 2, "tools": {"get_x": "allow"}})
    assert verdict(policy, "get_x").word == "allow"
    assert verdict(policy, "get_y").word == "block"


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
