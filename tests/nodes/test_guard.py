"""guard: one verdict a call, one answer for each that does not run, a ticket for each that does."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver

from edgeward.graphs.catalog import ToolCatalog
from edgeward.guards.decide import Policy
from edgeward.guards.ticket import TicketKey
from edgeward.nodes import guard
from edgeward.nodes._base import Here, Result, Tell
from tests.fakes import ALLOW_ALL, Recorder, agent_graph, answers, ask, on, policy, turn

KEY = "sk-proj-TESTTESTTESTTESTTEST"


def judge(messages: list[Any], using: Policy = ALLOW_ALL, **state: Any) -> Result:
    """Drive one guard step over a thread."""
    catalog = ToolCatalog({name: Recorder().tool(name) for name in ("pay", "read")})
    here = Here(policy=using, catalog=catalog, tickets=TicketKey(), thread="t")
    spec = guard.Spec(kind="guard")
    step = guard.step(spec, {"messages": messages, **state}, here)
    try:
        while True:
            assert isinstance(next(step), Tell)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]


def approved(result: Result) -> list[str]:
    return [sent["call"]["id"] for sent in result.update["approved"]]


TWO = turn(("pay", {"what": "a"}, "c1"), ("read", {"what": "a"}, "c2"))


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [HumanMessage("x")],
        [AIMessage("x")],
        [TWO, HumanMessage("x")],
        [TWO, ToolMessage("r", tool_call_id="c1"), ToolMessage("r", tool_call_id="c2")],
    ],
    ids=["nothing", "a question", "an answer", "calls of another turn", "answered calls"],
)
def test_nothing_to_decide(messages: list[Any]) -> None:
    """Without an open call of the model's last message nothing is approved."""
    result = judge(messages)
    assert result.outcome == "block"
    assert result.update["approved"] == []


def test_answered_calls_are_left_alone() -> None:
    """A call that has its answer is not judged again beside one that has none."""
    result = judge([TWO, ToolMessage("r", tool_call_id="c1")])
    assert approved(result) == ["c2"]
    assert [record["id"] for record in result.update["verdicts"]] == ["c2"]


def test_one_record_a_call() -> None:
    """Each call has a record: its verdict, its rules, its fingerprint, and no argument."""
    result = judge([HumanMessage("x"), TWO], policy({"pay": "block", "read": "allow"}))
    first, second = result.update["verdicts"]
    assert (first["word"], second["word"]) == ("block", "allow")
    assert first["rules"][0]["rule"] == "tools.pay"
    assert len(first["fingerprint"]) == 64
    assert "what" not in str(first)
    assert approved(result) == ["c2"]
    assert [m.tool_call_id for m in result.update["messages"]] == ["c1"]


def test_counts_what_it_lets_through() -> None:
    """The calls of a run are counted by tool, blocked ones left out."""
    words = policy({"pay": "block", "read": "allow"})
    result = judge([HumanMessage("x"), TWO], words, run={"calls": {"read": 2}})
    assert result.update["run"]["calls"] == {"read": 3}


@pytest.mark.parametrize(("word", "runs"), [("allow", False), ("redact", True), ("ask", False)])
def test_secret_in_arguments(word: str, runs: bool) -> None:
    """A secret blocks a call, unless the policy lets this tool run with secrets masked."""
    recorder = Recorder()
    graph = agent_graph(
        [turn(("pay", {"what": f"use {KEY}"}, "c1")), "done"],
        tools=[recorder.tool("pay")],
        words={"pay": word},
        checkpointer=InMemorySaver(),
    )
    result = graph.invoke(ask(), on())
    if runs:
        assert recorder.runs == [("pay", {"what": "use [REDACTED:openai_key]", "amount": 0})]
    else:
        assert recorder.runs == []
        assert "secret" in answers(result["messages"])[0][1]


def test_block_message_leads() -> None:
    """A blocked call is answered with the policy's message and the reason."""
    result = judge([HumanMessage("x"), TWO], policy({}, block_message="No."))
    assert all(m.text.startswith("No. ") for m in result.update["messages"])
    assert all(m.status == "error" for m in result.update["messages"])
    assert result.outcome == "block"


def test_blank_block_message() -> None:
    """A blank block message falls back to the default (C86)."""
    result = judge([HumanMessage("x"), TWO], policy({}, block_message=" "))
    assert result.update["messages"][0].text.startswith("[Edgeward]")
