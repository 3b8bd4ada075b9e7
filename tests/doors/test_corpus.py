"""What the doors make of every call of the corpus, beside the verdict that `test_table` holds."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage

from edgeward import (
    Firewall,
    FirewallMiddleware,
    PolicyViolationError,
    ScriptedModel,
    ToolCall,
    check_tool_calls,
)
from edgeward.guards.clients.defender import decision

from .corpus import CALLS, PARSED, AnyTool, arguments_of, policy_of


def named(case: dict[str, Any]) -> str:
    """A case's id."""
    return str(case["id"])


def test_what_cannot_come_to_a_tool_is_to_be_blocked() -> None:
    """The cases that the LangChain doors are not tried on are refused before there is a call."""
    ids = {case["id"] for case in PARSED}
    others = [case for case in CALLS if case["id"] not in ids]
    assert len(PARSED) > 100
    assert {case["expected"] for case in others} == {"block"}


@pytest.mark.parametrize("case", CALLS, ids=named)
def test_the_plain_check(case: dict[str, Any]) -> None:
    """`Firewall.check` on the text that the model wrote."""
    policy = policy_of(case)
    word = Firewall(policy).check(case["tool"], case["arguments"]).word if policy else "block"
    assert word == case["expected"], case["why"]


@pytest.mark.parametrize("case", CALLS, ids=named)
def test_agent_defenders_check(case: dict[str, Any]) -> None:
    """`check_tool_calls`, and the decision object that is made of it."""
    policy = policy_of(case)
    if policy is None:
        assert case["expected"] == "block"
        return
    call = ToolCall("c1", "function", {"name": case["tool"], "arguments": case["arguments"]})
    findings, summary = check_tool_calls([call], policy)
    statuses = {"allow": "pass", "block": "block"}
    assert findings[0].status.value == statuses[case["expected"]], case["why"]
    assert summary.status is findings[0].status
    made = decision(findings, policy)
    assert made["action"] == case["expected"]
    assert made["stripped_tool_calls"] == (["c1"] if case["expected"] == "block" else [])


@pytest.mark.parametrize("case", PARSED, ids=named)
def test_a_guarded_function(case: dict[str, Any]) -> None:
    """`Firewall.guard` around a function."""
    spy = AnyTool(case["tool"])
    guarded = Firewall(policy_of(case)).guard(spy.body, name=case["tool"])
    with suppress(PolicyViolationError):
        guarded(**(arguments_of(case) or {}))
    assert spy.word == case["expected"], case["why"]


@pytest.mark.parametrize("case", PARSED, ids=named)
def test_the_middleware(case: dict[str, Any]) -> None:
    """An agent of LangChain's with `FirewallMiddleware`."""
    spy = AnyTool(case["tool"])
    call = {"name": case["tool"], "args": arguments_of(case) or {}, "id": "c1"}
    model = ScriptedModel(turns=[AIMessage("", tool_calls=[call]), "Done."])
    agent = create_agent(model, [spy.tool], middleware=[FirewallMiddleware(policy_of(case))])
    state = agent.invoke({"messages": [("user", "Go on.")]})
    assert spy.word == case["expected"], case["why"]
    assert state["messages"][-2].status == ("success" if spy.runs else "error")
    assert state["messages"][-1].content == "Done."
