"""One answer of a person lets one run go on, however often it is given at once."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command

from edgeward import FirewallMiddleware, ScriptedModel

from fakes import Recorder, agent_graph, ask, on, policy, turn

ASKED = {"pay": "ask"}
TURNS = [turn(("pay", {"what": "x"}, "c1")), "done", "done"]
APPROVED: Any = {"c1": {"decision": "approve"}}
APPROVE: Any = Command(resume=APPROVED)


def agent(door: str, recorder: Recorder, turns: Any = TURNS) -> Any:
    """A graph, one within a plain graph, or an agent with the middleware."""
    if door == "middleware":
        model = ScriptedModel(turns=list(turns))
        middleware = [FirewallMiddleware(policy(ASKED))]
        tools = [recorder.tool("pay")]
        return create_agent(model, tools, middleware=middleware, checkpointer=InMemorySaver())
    keeps: Any = {"graph": InMemorySaver(), "within": None, "within, kept": True}[door]
    tools = [recorder.tool("pay")]
    graph: Any = agent_graph(turns, tools=tools, words=ASKED, checkpointer=keeps)
    if door == "graph":
        return graph
    outer = StateGraph(MessagesState).add_node("agent", graph)
    outer.add_edge(START, "agent").add_edge("agent", END)
    return outer.compile(checkpointer=InMemorySaver())


doors = pytest.mark.parametrize("door", ["graph", "within", "within, kept", "middleware"])


@doors
async def test_answers_at_once(door: str) -> None:
    """Of several approvals of one question that come at once, one counts."""
    recorder = Recorder()
    graph = agent(door, recorder)
    await graph.ainvoke(ask(), on())
    await asyncio.gather(*(graph.ainvoke(APPROVE, on()) for _ in range(4)), return_exceptions=True)
    assert recorder.names() == ["pay"]


@doors
def test_questions_one_after_the_other(door: str) -> None:
    """Each question has its answer, also one that was asked before in these words."""
    recorder = Recorder()
    turns = [turn(("pay", {"what": "x"}, f"c{n}")) for n in range(3)]
    graph = agent(door, recorder, [*turns, "done"])
    graph.invoke(ask(), on())
    for number in range(3):
        graph.invoke(Command(resume={f"c{number}": {"decision": "approve"}}), on())
    assert recorder.names() == ["pay"] * 3


@doors
def test_back_to_the_question(door: str) -> None:
    """Who goes back to before a question is asked anew, and the new answer counts."""
    recorder = Recorder()
    graph = agent(door, recorder)
    graph.invoke(ask(), on())
    asked = graph.get_state(on()).config
    graph.invoke(APPROVE, on())
    graph.invoke(None, asked)
    assert recorder.names() == ["pay"]
    graph.invoke(APPROVE, on())
    assert recorder.names() == ["pay", "pay"]


def test_several_answers_to_one_turn() -> None:
    """Calls of one turn that are answered one by one all count."""
    recorder = Recorder()
    both = turn(("pay", {"what": "x"}, "c1"), ("pay", {"what": "y"}, "c2"))
    for door in ("graph", "within"):
        graph = agent(door, recorder, [both, "done"])
        graph.invoke(ask(), on())
        graph.invoke(APPROVE, on())
        graph.invoke(Command(resume={"c2": {"decision": "edit", "args": {"what": "z"}}}), on())
    assert [run[1]["what"] for run in recorder.runs] in (["x", "z"] * 2, ["z", "x"] * 2)
