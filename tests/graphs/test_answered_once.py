"""One answer of a person lets one run go on, and a call that broke off is not run once more."""

from __future__ import annotations

import asyncio
import tracemalloc
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import ToolRetryMiddleware
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command, interrupt

from edgeward import FirewallMiddleware, ScriptedModel, load_policy
from edgeward.guards.langchain.once import is_first_run, may_run_again

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
    assert sorted(run[1]["what"] for run in recorder.runs) == ["x", "x", "z", "z"]


class Slow:
    """A tool that is at work until somebody ends its run; it may fail, or wait for a person."""

    def __init__(self) -> None:
        self.runs = 0
        self.begun = asyncio.Event()
        self.fails = self.asks = False

    async def pay(self, what: str = "") -> str:
        """Pays."""
        if self.asks:
            self.asks = interrupt("sure?") != "yes"
        self.runs += 1
        if self.fails:
            raise ValueError("no")
        self.begun.set()
        await asyncio.Event().wait()
        raise AssertionError


def slow_agent(door: str, slow: Slow, rules: Any) -> Any:
    """An agent that calls the slow tool once."""
    tool = StructuredTool.from_function(coroutine=slow.pay, name="pay", description="Pays.")
    if door != "middleware":
        return agent_graph(TURNS, tools=[tool], policy=rules, checkpointer=InMemorySaver())
    middleware = [FirewallMiddleware(rules)]
    model = ScriptedModel(turns=list(TURNS))
    return create_agent(model, [tool], middleware=middleware, checkpointer=InMemorySaver())


async def cancelled(graph: Any, slow: Slow, given: Any) -> None:
    """A run that somebody ends while the tool is at work."""
    task = asyncio.create_task(graph.ainvoke(given, on()))
    await slow.begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


RULES = {
    "asked": policy(ASKED),
    "once": load_policy({"version": 2, "tools": {"pay": {"max_calls": 1, "args": {}}}}),
}


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("door", ["graph", "middleware"])
async def test_a_call_that_was_cancelled_at_work(door: str, rules: str) -> None:
    """Who cancels the run and goes on does not have the call carried out once more: the model is
    told, and what it proposes then is decided anew."""
    slow = Slow()
    graph = slow_agent(door, slow, RULES[rules])
    given: Any = ask()
    if rules == "asked":
        await graph.ainvoke(given, on())
        given = APPROVE
    await cancelled(graph, slow, given)
    state = await graph.ainvoke(None, on())
    (answer,) = [m for m in state["messages"] if m.type == "tool"]
    assert slow.runs == 1
    assert answer.status == "error"
    assert "was begun for this very call before" in answer.text
    assert state["messages"][-1].text == "done"


@pytest.mark.parametrize("door", ["graph", "middleware"])
async def test_a_tool_that_waits_for_a_person(door: str) -> None:
    """A tool that asks something itself goes on with the answer."""
    slow = Slow()
    slow.asks = True
    graph = slow_agent(door, slow, RULES["once"])
    await graph.ainvoke(ask(), on())
    assert slow.runs == 0
    await cancelled(graph, slow, Command(resume="yes"))
    assert slow.runs == 1


async def test_a_tool_that_is_tried_again() -> None:
    """A call that failed may be tried again by another middleware."""
    slow = Slow()
    slow.fails = True
    tool = StructuredTool.from_function(coroutine=slow.pay, name="pay", description="Pays.")
    retry: Any = ToolRetryMiddleware(max_retries=2, initial_delay=0.0, jitter=False)
    firewall = FirewallMiddleware({"version": 2, "default": "allow"})
    model = ScriptedModel(turns=list(TURNS))
    await create_agent(model, [tool], middleware=[retry, firewall]).ainvoke(ask())
    assert slow.runs == 3


def test_a_long_id_stays_in_no_memory() -> None:
    """A call is known again by an id of any length, and none of them is kept."""
    config = {"configurable": {"__pregel_task_id": "a task"}}
    tracemalloc.start()
    try:
        for n in range(50):
            assert is_first_run(config, f"{n}" + "x" * 100_000)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 500_000
    assert not is_first_run(config, "7" + "x" * 100_000)
    may_run_again(config, "7" + "x" * 100_000)
    assert is_first_run(config, "7" + "x" * 100_000)
