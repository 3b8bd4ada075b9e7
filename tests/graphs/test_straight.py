"""A run into which nobody looks between two steps goes straight from node to node: fewer graph
steps, and the same result as step by step."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langgraph.checkpoint.memory import InMemorySaver

from edgeward import AgentConfig, AgentProfile, ReActAgent, ScriptedModel, build_graph
from edgeward.graphs.agent import BaseAgent, PlanAndSolveAgent
from edgeward.graphs.drive import NodeRunnable
from edgeward.graphs.result import AgentResult
from edgeward.graphs.straight import STRAIGHT_KEY, Straight
from tests.fakes import agent_graph, answers, ask, on, policy, turn

PROFILE = AgentProfile.from_mapping({"id": "a", "name": "Ada"})
WORDS = {"add": "allow", "add_slowly": "allow", "broken": "allow", "drop": "block", "pay": "ask"}


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


async def add_slowly(a: int, b: int) -> int:
    """Add two numbers after the others."""
    await asyncio.sleep(0.01)
    return a + b


def pay(amount: int) -> str:
    """Pay an amount."""
    return f"paid {amount}"


def drop(name: str) -> str:
    """Drop a table."""
    raise AssertionError(name)


TOOLS: dict[str, Any] = {"add": add, "add_slowly": add_slowly, "pay": pay, "drop": drop}


def broken() -> str:
    """Fails."""
    raise OSError("no disk")


def one(number: int, name: str = "add") -> Any:
    """A turn with one call."""
    return turn((name, {"a": number, "b": 1}, f"c{number}"), text=f"step {number}")


ONE_BY_ONE = [one(1), one(2, "add_slowly"), one(3), "4"]
SIDE_BY_SIDE = [
    turn(("add_slowly", {"a": 1, "b": 1}, "c1"), ("add", {"a": 2, "b": 2}, "c2")),
    one(3),
    "done",
]
REFUSED = [
    one(1),
    turn(("drop", {"name": "users"}, "c2"), ("add", {"a": 2, "b": 2}, "c3")),
    turn(("drop", {"name": "users"}, "c4")),
    turn(("nothing", {}, "c5")),
    "I may not",
]
FAILING = [one(1), turn(("broken", {}, "c2")), one(3), "well"]
SECRET = [one(1), turn(("add", {"a": "sk-" + "proj-" + "a1B2" * 10, "b": 1}, "c2")), "well"]
ENDLESS = [one(n) for n in range(9)]
PAYING = [one(1), one(2), turn(("pay", {"amount": 5}, "c3")), one(4), "paid"]
PLANNED = ["1. first\n2. second", one(1), "two", one(2), "three", "2 and 3"]


def agent(turns: list[Any], kind: type[BaseAgent] = ReActAgent, **more: Any) -> BaseAgent:
    """An agent that plays these turns under a policy that counts everything."""
    limits = {"run": {"calls": 50, "tokens": 100_000}, "thread": {"tokens": 200_000}}
    given: dict[str, Any] = {
        "profile": PROFILE,
        "policy": policy(WORDS, limits=limits),
        "llm": ScriptedModel(turns=turns),
        "tools": [*TOOLS.values(), broken],
        "load_env": False,
        "max_steps": 6,
    }
    return kind(AgentConfig(**{**given, **more}))


def told(result: AgentResult) -> list[Any]:
    """All that a result says, but for ids and times."""
    steps = [
        (s.kind, s.content, [c.name for c in s.tool_calls], [m.text for m in s.tool_results])
        for s in result.steps
    ]
    verdicts = [(v["id"], v["tool"], v["word"], v["rules"]) for v in result.verdicts]
    waiting = [q["id"] for q in result.waiting]
    return [steps, verdicts, waiting, result.final_answer, result.stopped_reason, result.usage]


SCRIPTS = [ONE_BY_ONE, SIDE_BY_SIDE, REFUSED, FAILING, SECRET, ENDLESS, PAYING]


@pytest.mark.parametrize("turns", SCRIPTS)
@pytest.mark.parametrize("mode", ["sync", "async"])
async def test_the_result_is_the_same(turns: list[Any], mode: str, tmp_path: Path) -> None:
    """Straight, on a named thread and kept in a file: the same steps, verdicts and tokens."""
    results = []
    for kept, thread in (("memory", None), ("memory", "named"), (tmp_path / "t.sqlite", None)):
        made = agent(turns, checkpointer=kept)
        if mode == "async":
            results.append(await made.run("go", thread=thread))
        else:
            results.append(await asyncio.to_thread(made.run_sync, "go", thread=thread))
    first, *others = map(told, results)
    assert others == [first, first]
    assert first[0]


async def test_a_plan_is_the_same() -> None:
    """A strategy with a plan goes straight where a step is tools and the model."""
    straight = await agent(PLANNED, PlanAndSolveAgent).run("go")
    by_step = await agent(PLANNED, PlanAndSolveAgent).run("go", thread="named")
    assert told(straight) == told(by_step)
    assert straight.steps[0].kind == "plan"


async def test_a_person_is_asked_and_answers() -> None:
    """The graph step ends in front of the guard that asks; what was done before is not repeated."""
    ran: list[int] = []

    def note(n: int) -> str:
        """Note a number."""
        ran.append(n)
        return "noted"

    calls = [turn(("note", {"n": n}, f"c{n}")) for n in (1, 2)]
    turns = [*calls, turn(("pay", {"amount": 5}, "c3")), turn(("note", {"n": 4}, "c4")), "paid"]
    made = agent(turns, tools=[note, pay], policy=policy({"note": "allow", "pay": "ask"}))
    waits = await made.run("go")
    assert waits.stopped_reason == "waiting"
    assert [q["id"] for q in waits.waiting] == ["c3"]
    result = await made.resume(waits.thread, {"c3": {"decision": "approve"}})
    assert result.final_answer == "paid"
    assert ran == [1, 2, 4]
    assert isinstance(made.config.llm, ScriptedModel)
    assert len(made.config.llm.requests) == len(turns)


def steps_of(made: BaseAgent, thread: str) -> list[tuple[str, ...]]:
    """What was next at each checkpoint of a thread, the oldest first."""
    return [state.next for state in made.graph.get_state_history(on(thread))][::-1]


async def test_how_many_graph_steps() -> None:
    """Few for many calls where nobody looks; three a call on a thread that somebody named, or
    follows."""
    made = agent(PAYING)
    await made.graph.ainvoke(ask(), on("straight", **{STRAIGHT_KEY: Straight("straight")}))
    assert steps_of(made, "straight") == [("__start__",), ("act",), ("tool",), ("guard",)]
    await made.run("go", thread="named")
    each = [("act",), ("guard",), ("tool",)]
    assert steps_of(made, "named") == [("__start__",), *each, *each, ("act",), ("guard",)]
    followed = [step async for step in made.astream("go")]
    assert [s.kind for s in followed] == ["tool_call", "tool_result"] * 2 + ["tool_call"]


async def test_it_is_written_down_when_it_waits() -> None:
    """Once, with all that was done; and what it waits for."""
    made = agent(PAYING)
    waits = await made.run("go")
    state = made.graph.get_state(on(waits.thread))
    assert state.next == ("guard",)
    assert answers(state.values["messages"]) == [("c1", "2"), ("c2", "3")]
    assert len(steps_of(made, waits.thread)) <= 2


async def test_what_it_used_is_the_same() -> None:
    """The thread's counters, and the messages of its state, are those of a run step by step."""
    states = []
    for thread in (None, "named"):
        made = agent(PAYING)
        result = await made.run("go", thread=thread)
        states.append(made.graph.get_state(on(result.thread)).values)
    straight, by_step = states
    seen, known = straight["used"], by_step["used"]
    for scope in ("run", "thread"):
        counted = {name: seen[scope][name] for name in ("calls", "tokens")}
        assert counted == {name: known[scope][name] for name in ("calls", "tokens")}
    assert answers(straight["messages"]) == answers(by_step["messages"])
    assert [m.type for m in straight["messages"]] == [m.type for m in by_step["messages"]]
    assert [e["source"] for e in straight["ledger"]] == [e["source"] for e in by_step["ledger"]]
    assert len(straight["verdicts"]) == len(by_step["verdicts"])


@pytest.mark.parametrize("mode", ["sync", "async"])
async def test_a_model_that_fails(mode: str) -> None:
    """The run fails with what the model raised, once, and what was done before it is kept."""
    saver = InMemorySaver()
    asked: list[int] = []

    def raising(messages: list[Any]) -> str:
        asked.append(len(messages))
        raise ConnectionError("gone")

    made = agent([one(1), one(2), raising], checkpointer=saver)
    thread = "t"
    config: dict[str, Any] = on(thread, **{STRAIGHT_KEY: Straight(thread)})
    running = (
        made.graph.ainvoke if mode == "async" else partial(asyncio.to_thread, made.graph.invoke)
    )
    with pytest.raises(ConnectionError, match="gone"):
        await running(ask(), config)
    assert len(asked) == 1
    state = made.graph.get_state(on(thread))
    assert answers(state.values["messages"]) == [("c1", "2"), ("c2", "3")]
    assert state.next == ("act",)


async def test_a_graph_inside_goes_step_by_step() -> None:
    """A graph that a tool runs is no part of the run that goes straight."""
    inner = agent_graph([one(1), "inner"], tools=[add], checkpointer=InMemorySaver())

    def nested() -> str:
        """Run another graph."""
        said: str = inner.invoke(ask(), on("inner"))["messages"][-1].text
        return said

    made = agent(
        [turn(("nested", {}, "n1")), "outer"], tools=[nested], policy=policy({"nested": "allow"})
    )
    assert (await made.run("go")).steps[1].tool_results[0].text == "inner"
    nexts = [state.next for state in inner.get_state_history(on("inner"))][::-1]
    assert nexts == [("__start__",), ("act",), ("guard",), ("tool",), ("act",), ()]


async def test_whoever_listens_hears_each_node() -> None:
    """With a callback handler every node runs as LangChain runs it."""

    class Heard(BaseCallbackHandler):
        def __init__(self) -> None:
            self.names: list[str] = []

        def on_chain_start(self, *_: Any, **more: Any) -> None:
            self.names.append(more.get("name") or "")

    heard = Heard()
    made = agent([one(1), "2"])
    config: dict[str, Any] = on("t", **{STRAIGHT_KEY: Straight("t")})
    await made.graph.ainvoke(ask(), {**config, "callbacks": [heard]})
    assert [name for name in heard.names if name in ("act", "guard", "tool")] == [
        "act",
        "guard",
        "tool",
        "act",
    ]


def test_no_node_but_a_tool_node_reaches_the_tools_by_it() -> None:
    """A tool node leads on to the model, that to the guard; a call that the guard let through goes
    to the tool node of its `allow`, which only a tool node holds."""
    graph = build_graph("react", policy="allow_all", model=ScriptedModel(turns=[]), tools=[add])
    found, handed = {}, {}
    for name in ("act", "guard", "tool"):
        runnable = graph.nodes[name].bound
        assert isinstance(runnable, NodeRunnable)
        found[name] = list(runnable.onward)
        handed[name] = {guard: then.name for guard, then in runnable.handed.items()}
    assert found == {"act": ["guard"], "guard": [], "tool": ["act"]}
    assert handed == {"act": {}, "guard": {}, "tool": {"guard": "tool"}}


def test_a_key_from_outside_is_none() -> None:
    """What a request brings under the same key changes nothing."""
    graph = agent_graph([one(1), "2"], tools=[add], checkpointer=InMemorySaver())
    graph.invoke(ask(), on("t", **{STRAIGHT_KEY: {"thread": "t"}}))
    nexts = [state.next for state in graph.get_state_history(on("t"))][::-1]
    assert nexts == [("__start__",), ("act",), ("guard",), ("tool",), ("act",), ()]


def test_what_a_failure_leaves_is_taken_once() -> None:
    """A failure that waits for its node is raised there and not kept."""
    straight = Straight("t")
    straight.failures["act"] = ConnectionError("gone")
    made = agent(["fine"])
    config: dict[str, Any] = on("t", **{STRAIGHT_KEY: straight})
    with pytest.raises(ConnectionError):
        made.graph.invoke(ask(), config)
    assert not straight.failures
