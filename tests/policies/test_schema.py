"""`load_policy`: where a policy comes from, and what its file says."""

from __future__ import annotations

from pathlib import Path

import pytest

from edgeward.guards.decide import Policy, decide
from edgeward.guards.ledger import History
from edgeward.guards.rules import rule_modules
from edgeward.guards.verdict import ToolCall, Verdict
from edgeward.policies.problems import ConfigFileMissing, ConfigValidationError
from edgeward.policies.schema import (
    BLOCK_MESSAGE,
    load_policy,
    policy_model,
)

from .written import write

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


def test_a_policy_is_read_once(tmp_path: Path) -> None:
    """Deciding needs no file (F013)."""
    path = write(tmp_path, REFERENCE)
    policy = load_policy(path)
    path.unlink()
    assert verdict(policy, "send_email").word == "block"


def test_a_file_that_has_not_changed_is_the_same_policy(tmp_path: Path) -> None:
    """Whoever loads it for each request waits once; a changed one is another, as is a copy."""
    path = write(tmp_path, "version: 1\ntool_denylist: [pay]\n")
    first = load_policy(path)
    assert load_policy(path) is first
    copy = tmp_path / "copy.yaml"
    copy.write_text(path.read_text())
    assert load_policy(copy).source == str(copy)
    path.write_text("version: 1\ntool_denylist: [buy]\n")
    assert [verdict(load_policy(path), tool).word for tool in ("pay", "buy")] == ["allow", "block"]
    path.write_text("version: 9\n")
    for _ in range(2):
        with pytest.raises(ConfigValidationError):
            load_policy(path)
    path.unlink()
    with pytest.raises(ConfigFileMissing):
        load_policy(path)


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
