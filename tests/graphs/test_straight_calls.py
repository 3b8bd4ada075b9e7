"""Calls that are run within one graph step are run as step by step: each with its ticket, once, and
whatever comes between."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import BaseMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import interrupt

from edgeward import AgentConfig, AgentProfile, ReActAgent, ScriptedModel
from edgeward.graphs.agent import BaseAgent
from edgeward.graphs.context import RunContext
from edgeward.graphs.drive import NodeRunnable
from edgeward.graphs.locked import LockedGraph
from edgeward.graphs.result import AgentResult
from edgeward.graphs.runner import NO_TICKET
from edgeward.graphs.straight import ASKED_INSIDE, MOST_ROUNDS, STRAIGHT_KEY, Straight
from edgeward.guards.verdict import ToolCall
from edgeward.nodes._base import NodeFault
from edgeward.nodes.compress import ASK
from edgeward.nodes.reflect import JUDGE
from edgeward.profiles.scripted import call
from edgeward.profiles.tools.python import as_tool
from tests.fakes import NotingKey, agent_graph, answers, ask, keyed_graph, on, policy, turn

PROFILE = AgentProfile.from_mapping({"id": "a", "name": "Ada"})
QUICK = """\
strategy: quick
start: act
nodes: {act: act, guard: guard, tool: {kind: tool, timeout_s: 1}}
edges:
  act.call: guard
  act.answer: end
  act.limit: end
  guard.allow: tool
  guard.block: act
  tool.done: act
"""
MODES = pytest.mark.parametrize("mode", ["sync", "async"])


class Notes:
    """Tools that note what they are called with."""

    def __init__(self) -> None:
        self.ran: list[Any] = []

    def note(self, n: int) -> str:
        """Note a number."""
        self.ran.append(n)
        return f"noted {n}"

    async def anote(self, n: int) -> str:
        """Note a number, as a coroutine."""
        await asyncio.sleep(0)
        return self.note(n)

    def broken(self, n: int) -> str:
        """Fail at the second number."""
        self.ran.append(n)
        if n == 2:
            raise OSError(f"no disk {n}")
        return "fine"

    async def slow(self, n: int) -> str:
        """Hang at the second number."""
        self.ran.append(n)
        if n == 2:
            await asyncio.sleep(60)
        return "fine"

    def transfer(self, n: int) -> str:
        """Transfer an amount; of more than ten a person is asked."""
        self.ran.append(("begun", n))
        if n > 10:
            said = interrupt({"calls": [{"id": "large", "amount": n}]})
            self.ran.append(("said", said["large"]))
        return f"transferred {n}"


def pay(n: int) -> str:
    """Pay an amount."""
    return f"paid {n}"


def each(name: str, numbers: Any) -> list[Any]:
    """A turn for each number, and an answer."""
    return [*(turn((name, {"n": n}, f"c{n}")) for n in numbers), "done"]


def agent(
    turns: list[Any], tools: list[Any], strategy: str | Path = "react", **more: Any
) -> BaseAgent:
    """An agent that plays these turns."""
    given: dict[str, Any] = {
        "profile": PROFILE,
        "policy": policy({"*": "allow", "drop": "block"}),
        "llm": ScriptedModel(turns=turns, order="call"),
        "tools": tools,
        "load_env": False,
        "max_steps": 60,
    }
    return BaseAgent(AgentConfig(**{**given, **more}), strategy=strategy)


async def played(made: BaseAgent, mode: str, thread: str | None, **more: Any) -> AgentResult:
    """The result of one run."""
    if mode == "async":
        return await made.run("go", thread=thread, **more)
    return await asyncio.to_thread(partial(made.run_sync, "go", thread=thread, **more))


def told(result: AgentResult) -> list[Any]:
    """All that a result says, but for the thread and times."""
    steps = [
        (s.kind, s.content, [c.id for c in s.tool_calls], [m.text for m in s.tool_results])
        for s in result.steps
    ]
    verdicts = [(v["id"], v["tool"], v["word"], v["rules"]) for v in result.verdicts]
    return [steps, verdicts, result.final_answer, result.stopped_reason, result.usage]


async def both(turns: list[Any], tool: str, mode: str, **more: Any) -> tuple[AgentResult, Notes]:
    """The result of a run that goes straight, which is that of one step by step; and its notes."""
    results, kept = [], []
    for thread in (None, "named"):
        notes = Notes()
        made = agent(list(turns), [getattr(notes, tool)], **more)
        results.append(await played(made, mode, thread))
        kept.append(notes)
    assert told(results[0]) == told(results[1])
    assert Counter(kept[0].ran) == Counter(kept[1].ran)
    return results[0], kept[0]


def nexts(graph: LockedGraph, thread: str) -> list[tuple[str, ...]]:
    """What was next at each checkpoint of a thread, the oldest first."""
    return [state.next for state in graph.get_state_history(on(thread))][::-1]


async def stepwise(made: BaseAgent, thread: str = "t") -> list[tuple[str, ...]]:
    """The graph steps of a run that goes straight and is written down at each."""
    await made.graph.ainvoke(ask(), on(thread, **{STRAIGHT_KEY: Straight(thread)}))
    return nexts(made.graph, thread)


@MODES
@pytest.mark.parametrize("tool", ["note", "anote"])
async def test_many_calls_are_each_run_once(tool: str, mode: str) -> None:
    """More of them than one graph step runs: in order, and with the same trace and verdicts."""
    calls = range(1, 2 * MOST_ROUNDS + 6)
    result, notes = await both(each(tool, calls), tool, mode)
    assert notes.ran == [*calls]
    assert [v["id"] for v in result.verdicts] == [f"c{n}" for n in calls]
    assert result.final_answer == "done"


async def test_how_many_calls_one_graph_step_runs() -> None:
    """So many after the one that begins it; the first of a run, and what comes after an answer of
    several calls, begins one."""
    one, two = (each("note", range(MOST_ROUNDS + more)) for more in (1, 2))
    for turns, steps in ((one, 1), (two, 2)):
        made = agent(turns, [Notes().note])
        assert await stepwise(made) == [("__start__",), ("act",), *[("tool",)] * steps, ()]


async def test_a_tool_is_looked_at_first() -> None:
    """The first call of each tool begins a graph step; the later ones do not."""
    notes = Notes()
    turns = [*each("note", (1, 2))[:2], *each("anote", (3, 4))[:2], *each("note", (5,))]
    made = agent(turns, [notes.note, notes.anote])
    assert await stepwise(made) == [("__start__",), ("act",), ("tool",), ("tool",), ()]


class Slipping(NotingKey):
    """A key that signs another call than the one with the number three."""

    def sign(self, call: ToolCall, *, thread: str, policy: str) -> str:
        if not self._checking and call.arguments == {"n": 3}:
            call = replace(call, arguments={"n": 99})
        return super().sign(call, thread=thread, policy=policy)


@MODES
async def test_a_call_without_its_ticket_is_not_run(mode: str) -> None:
    """Also within the graph step of the call before it; those around it run."""
    key, notes = Slipping(), Notes()
    tools = [as_tool(notes.note)]
    graph = keyed_graph(
        each("note", (1, 2, 3, 4)), key=key, tools=tools, checkpointer=InMemorySaver()
    )
    config: dict[str, Any] = on(mode, **{STRAIGHT_KEY: Straight(mode)})
    running = graph.ainvoke if mode == "async" else partial(asyncio.to_thread, graph.invoke)
    messages = (await running(ask(), config))["messages"]
    assert answers(messages) == [
        (f"c{n}", NO_TICKET if n == 3 else f"noted {n}") for n in range(1, 5)
    ]
    assert notes.ran == [1, 2, 4]
    assert len(key.signed) == 4
    assert nexts(graph, mode) == [("__start__",), ("act",), ("tool",), ()]


def test_a_guard_hands_on_to_the_tool_node_of_its_allow_alone() -> None:
    """Whatever the strategy: no other outcome of it, and only a tool node holds that node."""
    made = agent([], [Notes().note], "reflexion")
    nodes = [node.bound for node in made.graph.nodes.values()]
    ours = [node for node in nodes if isinstance(node, NodeRunnable)]
    allowed = {node.name: node.exits["allow"] for node in ours if node.kind == "guard"}
    for node in ours:
        handed = {guard: then.name for guard, then in node.handed.items()}
        assert handed == (allowed if node.kind == "tool" else {}), node.name


@MODES
@pytest.mark.parametrize("tool", ["broken", "slow"])
async def test_a_tool_that_fails_or_hangs(tool: str, mode: str, tmp_path: Path) -> None:
    """Costs one tool message; the run goes on."""
    (path := tmp_path / "quick.yaml").write_text(QUICK, encoding="utf-8")
    result, notes = await both(each(tool, (1, 2, 3)), tool, mode, strategy=path)
    assert notes.ran == [1, 2, 3]
    statuses = [s.tool_results[0].status for s in result.steps if s.tool_results]
    assert statuses == ["success", "error", "success"]


@MODES
async def test_refused_and_parallel_calls_between(mode: str) -> None:
    """What is blocked does not run; several calls of one turn are each a task of their own."""
    turns = [
        *each("note", (1, 2))[:2],
        turn(("drop", {"n": 3}, "c3"), ("note", {"n": 4}, "c4")),
        turn(("drop", {"n": 5}, "c5")),
        turn(("note", {"n": 6}, "c6"), ("note", {"n": 7}, "c7")),
        *each("note", (8, 9)),
    ]
    result, notes = await both(turns, "note", mode)
    assert Counter(notes.ran) == Counter([1, 2, 4, 6, 7, 8, 9])
    assert [v["word"] for v in result.verdicts] == [
        "block" if v["tool"] == "drop" else "allow" for v in result.verdicts
    ]


@MODES
@pytest.mark.parametrize(
    "limits",
    [
        {"run": {"calls": 4}},
        {"run": {"calls": 6}},
        {"run": {"tokens": 2_500}},
        {"thread": {"tokens": 4_000}},
        {"repeats": 2},
    ],
)
async def test_limits_count_as_step_by_step(limits: dict[str, Any], mode: str) -> None:
    """Near a limit, at it and beyond: the same calls run, and the run ends for the same reason."""
    numbers = [1] * 6 if "repeats" in limits else range(1, 7)
    await both(each("note", numbers), "note", mode, policy=policy({"*": "allow"}, limits=limits))


@MODES
@pytest.mark.parametrize("most", [1, 2, 5, 6])
async def test_the_bound_on_steps_is_exact(most: int, mode: str) -> None:
    """So many rounds of tools run, and no more."""
    result, notes = await both(each("note", range(1, 7)), "note", mode, max_steps=most)
    assert notes.ran == [*range(1, most + 1)]
    assert result.stopped_reason == ("answered" if most > 6 else "max_steps")


def working(messages: list[BaseMessage]) -> Any:
    """A model that notes eight numbers; it also sums up, plans and judges."""
    said = " ".join(message.text for message in messages)
    if messages[-1].text.startswith(ASK):
        return "Numbers were noted."
    if JUDGE[:30] in said:
        return "ACCEPT"
    if "short steps" in messages[0].text:
        return "1. Note some\n2. Note more"
    done = said.count("noted ")
    return call("note", f"c{len(said)}", n=len(said)) if done % 5 < 4 else "Noted."


@pytest.mark.parametrize("strategy", ["react", "reflexion", "plan_and_solve", "plan_and_execute"])
async def test_other_nodes_between(strategy: str) -> None:
    """Plans, a critic and a history that is summed up: the same as step by step."""
    profile = AgentProfile.from_mapping(
        {"id": "a", "name": "Ada", "memory": {"is_retrieve": False, "context_limit": 1_024}}
    )
    given = {"strategy": strategy, "profile": profile, "max_steps": 12}
    result, _ = await both([working] * 60, "note", "async", **given)
    assert result.steps


@MODES
async def test_a_tool_that_asks_a_person(mode: str) -> None:
    """One that did not ask before: it is begun once, and once more with the answer, and what was
    done before it is not repeated."""
    results, kept = [], []
    for thread in (None, "named"):
        notes = Notes()
        made = agent(each("transfer", (1, 2, 50, 3)), [notes.transfer])
        waits = await played(made, mode, thread)
        assert waits.stopped_reason == "waiting"
        assert [q["id"] for q in waits.waiting] == ["large"]
        state = made.graph.get_state(on(waits.thread))
        assert state.next == ("tool",)
        assert [i.value["calls"][0]["amount"] for i in state.interrupts] == [50]
        results.append(await made.resume(waits.thread, {"large": "yes"}))
        kept.append(notes.ran)
    assert told(results[0]) == told(results[1])
    begun = [("begun", n) for n in (1, 2, 50, 50)]
    assert kept[0] == kept[1] == [*begun, ("said", "yes"), ("begun", 3)]


async def test_a_graph_inside_of_a_tool_that_asks() -> None:
    """Its calls are run once, whether it is known to have one or not."""
    notes = Notes()
    inner = agent_graph(
        [turn(("note", {"n": 1}, "i1")), turn(("pay", {"n": 2}, "i2")), "inner is done"],
        tools=[notes.note, pay],
        words={"note": "allow", "pay": "ask"},
    )

    async def nested(n: int) -> str:
        """Ask the other graph."""
        notes.ran.append(f"nested {n}")
        if n < 2:
            return "nothing to ask"
        return str((await inner.ainvoke(ask()))["messages"][-1].text)

    made = agent(each("nested", (2,)), [nested])
    waits = await made.run("go")
    assert [q["id"] for q in waits.waiting] == ["i2"]
    result = await made.resume(waits.thread, {"i2": {"decision": "approve"}})
    assert result.steps[0].tool_results[0].text == "inner is done"
    assert notes.ran == ["nested 2", 1, "nested 2"]

    notes.ran.clear()
    made = agent([*each("nested", (1, 1, 2))[:-1], *each("nested", (1, 1, 2))], [nested])
    with pytest.raises(NodeFault, match=ASKED_INSIDE[-40:]):
        await made.run("go")
    assert notes.ran == ["nested 1", "nested 1", "nested 2", 1]
    waits = await made.run("go")
    assert [q["id"] for q in waits.waiting] == ["i2"]


async def test_a_graph_inside_of_a_tool_that_only_answers() -> None:
    """It may come in any call: the run goes on, and from then on its tool has its own steps."""
    inner = agent_graph(["inner is done"])

    async def nested(n: int) -> str:
        """Ask the other graph, but for the first number."""
        return "first" if n == 1 else str((await inner.ainvoke(ask()))["messages"][-1].text)

    made = agent(each("nested", (1, 2, 3, 4)), [nested])
    assert await stepwise(made) == [
        ("__start__",),
        ("act",),
        ("tool",),
        ("tool",),
        ("tool",),
        (),
    ]
    said = answers(made.graph.get_state(on()).values["messages"])
    assert [text for _, text in said] == ["first", *["inner is done"] * 3]


async def test_a_run_that_is_cancelled_is_gone() -> None:
    """In the middle of a graph step: each call ran once, and nothing of the run stays."""
    notes, waits, saver = Notes(), asyncio.Event(), InMemorySaver()

    async def hang(n: int) -> str:
        """Hang from the third on."""
        notes.ran.append(n)
        if n == 3:
            waits.set()
            await asyncio.sleep(60)
        return "fine"

    made = agent(each("hang", range(1, 6)), [hang], checkpointer=saver)
    running = asyncio.create_task(made.run("go"))
    await waits.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert notes.ran == [1, 2, 3]
    assert not saver.storage


@MODES
async def test_a_model_that_fails_between(mode: str) -> None:
    """The run fails with what the model raised, once."""
    asked: list[int] = []

    def raising(messages: list[BaseMessage]) -> str:
        asked.append(len(messages))
        raise ConnectionError("gone")

    notes = Notes()
    made = agent([*each("note", (1, 2, 3))[:3], raising], [notes.note])
    with pytest.raises(ConnectionError, match="gone"):
        await played(made, mode, None)
    assert (notes.ran, len(asked)) == ([1, 2, 3], 1)


async def test_runs_side_by_side_of_one_agent() -> None:
    """Each has its own calls and answers, for its own user."""
    seen: list[Any] = []

    async def note(n: int) -> str:
        """Note a number."""
        await asyncio.sleep(0)
        seen.append(n)
        return f"noted {n}"

    made = ReActAgent(
        AgentConfig(
            profile=PROFILE,
            policy=policy({"note": "allow"}),
            llm=ScriptedModel(turns=each("note", range(8))),
            tools=[note],
            load_env=False,
        )
    )
    users = [RunContext(user=f"user {n}") for n in range(6)]
    results = await asyncio.gather(*(made.run("go", context=user) for user in users))
    assert len({str(told(result)) for result in results}) == 1
    assert Counter(seen) == Counter(dict.fromkeys(range(8), 6))
