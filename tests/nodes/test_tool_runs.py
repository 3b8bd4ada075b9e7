"""A tool that fails, hangs, ends the program or asks a person costs its own call, and no more."""

from __future__ import annotations

import asyncio
import copy
import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Annotated, Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import InjectedToolCallId, StructuredTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

from edgeward import AgentProfile
from edgeward.graphs.drive import NodeRunnable
from tests.fakes import Recorder, agent_graph, answers, ask, fails, on, turn

FAST = (
    "strategy: s\nstart: act\nnodes: {act: act, guard: guard, tool: {kind: tool, timeout_s: 0.2}}\n"
    "edges: {act.call: guard, act.answer: end, act.limit: end, guard.allow: tool,"
    " guard.block: act, tool.done: act}\n"
)
PATIENT = AgentProfile.from_mapping({"id": "a", "name": "A", "tools": {"timeout_s": {"give": 60}}})
"""Under which `give` has its time on a machine that is busy, whatever the strategy gives others."""


def give() -> str:
    """Gives."""
    return "given"


async def agive() -> str:
    """Gives, on an event loop."""
    await asyncio.sleep(0)
    return "given"


async def all_ways(graph: Any, given: Any = None) -> list[list[tuple[str, str]]]:
    """The answers of a run: sync, async, and both with somebody listening."""
    heard = graph.with_config(callbacks=[BaseCallbackHandler()])
    results = []
    for number, way in enumerate((graph, heard)):
        results.append(way.invoke(given or ask(), on(f"s{number}")))
        results.append(await way.ainvoke(given or ask(), on(f"a{number}")))
    return [answers(result["messages"]) for result in results]


async def test_sync_and_async_tools() -> None:
    """Sync and async tools run in sync and async runs alike."""
    calls = turn(("give", {}, "c1"), ("agive", {}, "c2"))
    graph = agent_graph([calls, "done"], tools=[give, agive])
    for found in await all_ways(graph):
        assert found == [("c1", "given"), ("c2", "given")]


async def test_D095_answers_in_the_order_of_the_calls() -> None:
    """Parallel calls are answered once each, in the order in which they were proposed."""
    started = threading.Barrier(3, timeout=20)

    def wait(number: int) -> int:
        """Waits until all three run, the first the longest."""
        started.wait()
        threading.Event().wait(0.05 * (3 - number))
        return number

    calls = turn(*[("wait", {"number": n}, f"c{n}") for n in range(3)])
    graph = agent_graph([calls, "done"], tools=[wait])
    for found in await all_ways(graph):
        assert found == [("c0", "0"), ("c1", "1"), ("c2", "2")]


ERRORS = {
    "an error": (ValueError("bad\nmore"), "boom failed: ValueError: bad"),
    "an error without a text": (KeyError(), "boom failed: KeyError: "),
    "the end of an iteration": (StopIteration("x"), "boom failed: "),
    "the end of an async iteration": (StopAsyncIteration("x"), "boom failed: "),
    "the end of the program": (SystemExit(3), "boom tried to end the program"),
    "an interrupt of its own": (KeyboardInterrupt(), "boom tried to end the program"),
    "a time-out of its own": (TimeoutError("too slow"), "boom failed: TimeoutError: too slow"),
    "a time-out without a text": (TimeoutError(), "boom failed: TimeoutError: "),
    "a key in its text": (
        RuntimeError("401 for sk-proj-TESTTESTTESTTESTTEST"),
        "boom failed: RuntimeError: 401 for [REDACTED:openai_key]",
    ),
    "a cancellation of its own": (asyncio.CancelledError(), "boom failed: CancelledError: "),
    "a recursion": (RecursionError("deep"), "boom failed: RecursionError: deep"),
}


@pytest.mark.parametrize("kind", ["sync", "async"])
@pytest.mark.parametrize("case", ERRORS)
async def test_failing_tool(case: str, kind: str) -> None:
    """What a tool raises becomes the answer to its call; its siblings and the run go on."""
    error, expected = ERRORS[case]
    if sys.version_info < (3, 11):
        if isinstance(error, KeyboardInterrupt) and kind == "async":
            pytest.skip("cannot be told from a person's Ctrl-C")
        if isinstance(error, asyncio.CancelledError):
            pytest.skip("cannot be told from a run that is cancelled")

    def boom() -> str:
        """Fails."""
        raise copy.copy(error)

    async def aboom() -> str:
        """Fails."""
        raise copy.copy(error)

    aboom.__name__ = "boom"
    calls = turn(("give", {}, "c1"), ("boom", {}, "c2"), ("give", {}, "c3"))
    graph = agent_graph([calls, "done"], tools=[give, boom if kind == "sync" else aboom])
    for found in await all_ways(graph):
        assert [call_id for call_id, _ in found] == ["c1", "c2", "c3"]
        assert found[1][1].startswith(expected)
        assert found[0][1] == found[2][1] == "given"


async def test_what_ends_a_generator() -> None:
    """A plain function that raises GeneratorExit ends its own call, and not the run that awaits."""

    def boom() -> str:
        """Fails."""
        raise GeneratorExit

    calls = turn(("boom", {}, "c1"), ("give", {}, "c2"))
    for found in await all_ways(agent_graph([calls, "done"], tools=[give, boom])):
        assert "GeneratorExit" in found[0][1]
        assert found[1][1] == "given"


@pytest.fixture
def released() -> Iterator[threading.Event]:
    """An event that hanging tools wait for; set when the test is over."""
    event = threading.Event()
    yield event
    event.set()


@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_hanging_tool(
    kind: str, released: threading.Event, strategy_file: Callable[[str], Path]
) -> None:
    """A tool that does not come back is answered for when its time is over."""

    def hang() -> str:
        """Does not come back."""
        released.wait()
        return "late"

    async def ahang() -> str:
        """Does not come back."""
        await asyncio.Event().wait()
        return "late"

    ahang.__name__ = "hang"
    calls = turn(("hang", {}, "c1"), ("give", {}, "c2"))
    tools = [give, hang if kind == "sync" else ahang]
    strategy = strategy_file(FAST)
    graph = agent_graph([calls, "done"], tools=tools, strategy=strategy, profile=PATIENT)
    for found in await all_ways(graph):
        assert found == [("c1", "hang did not finish within 0.2 s"), ("c2", "given")]


async def test_cancelled_run() -> None:
    """A run that is cancelled while a tool works ends at once, and is not answered for."""
    started = asyncio.Event()

    async def hang() -> str:
        """Does not come back."""
        started.set()
        await asyncio.Event().wait()
        return "late"

    graph = agent_graph([turn(("hang", {}, "c1")), "done"], tools=[hang])
    task = asyncio.create_task(graph.ainvoke(ask()))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_async_tool_in_a_sync_run_is_cancelled(
    strategy_file: Callable[[str], Path],
) -> None:
    """When its time is over; it is not left behind in a thread."""
    ended = threading.Event()

    async def hang() -> str:
        """Does not come back."""
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return "late"

    calls = turn(("hang", {}, "c1"))
    graph = agent_graph([calls, "done"], tools=[hang], strategy=strategy_file(FAST))
    for way in (graph, graph.with_config(callbacks=[BaseCallbackHandler()])):
        found = answers((await asyncio.to_thread(way.invoke, ask()))["messages"])
        assert found == [("c1", "hang did not finish within 0.2 s")]
        assert ended.wait(timeout=20)
        ended.clear()


@pytest.mark.skipif(sys.platform == "win32", reason="no signals")
@pytest.mark.parametrize("kind", ["sync", "async"])
def test_callers_interrupt(kind: str) -> None:
    """A person's Ctrl-C ends the run, cancels an async tool, and the thread can go on after it."""
    pressed: list[str] = []
    ended = threading.Event()
    released = threading.Event()

    def press() -> bool:
        if pressed:
            return False
        pressed.append("Ctrl-C")
        os.kill(os.getpid(), signal.SIGINT)
        return True

    def stop() -> str:
        """Is stopped the first time."""
        if press():
            released.wait(timeout=20)
        return "given"

    async def astop() -> str:
        """Is stopped the first time."""
        try:
            if press():
                await asyncio.Event().wait()
        finally:
            ended.set()
        return "given"

    astop.__name__ = "stop"
    tool = stop if kind == "sync" else astop
    saver = InMemorySaver()
    graph = agent_graph([turn(("stop", {}, "c1")), "done"], tools=[tool], checkpointer=saver)
    try:
        with pytest.raises(KeyboardInterrupt):
            graph.invoke(ask(), on())
        assert kind == "sync" or ended.wait(timeout=20)
    finally:
        released.set()
    assert answers(graph.invoke(None, on())["messages"]) == [("c1", "given")]


@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_tool_that_asks(kind: str) -> None:
    """A tool may ask a person; its sibling, which had finished, is not run again (C44)."""
    recorder = Recorder()

    def sure() -> str:
        """Asks."""
        return f"answer {interrupt('sure?')}"

    async def asure() -> str:
        """Asks."""
        return f"answer {interrupt('sure?')}"

    asure.__name__ = "sure"
    calls = turn(("pay", {"what": "inv-1"}, "c1"), ("sure", {}, "c2"))
    tools = [recorder.tool("pay"), sure if kind == "sync" else asure]
    for thread, heard in (("a", False), ("b", True)):
        graph = agent_graph([calls, "done"], tools=tools, checkpointer=InMemorySaver())
        way: Any = graph.with_config(callbacks=[BaseCallbackHandler()]) if heard else graph
        result = way.invoke(ask(), on(thread))
        assert [i.value for i in result["__interrupt__"]] == ["sure?"]
        result = way.invoke(Command(resume="yes"), on(thread))
        assert answers(result["messages"]) == [("c1", "pay ran"), ("c2", "answer yes")]
        result = await way.ainvoke(ask(), on(f"{thread} async"))
        assert [i.value for i in result["__interrupt__"]] == ["sure?"]
        result = await way.ainvoke(Command(resume="yes"), on(f"{thread} async"))
        assert answers(result["messages"]) == [("c1", "pay ran"), ("c2", "answer yes")]
    assert recorder.names() == ["pay"] * 4


def test_injected_arguments() -> None:
    """A tool may ask for its call's id and the run's configuration; a model cannot give them."""

    def who(what: str, call_id: Annotated[str, InjectedToolCallId], config: RunnableConfig) -> str:
        """Says who it is."""
        return f"{what} {call_id} {config['configurable']['thread_id']}"

    who.__annotations__ |= {"call_id": Annotated[str, InjectedToolCallId], "config": RunnableConfig}
    calls = turn(("who", {"what": "a"}, "c1"), ("who", {"what": "a", "call_id": "c9"}, "c2"))
    graph = agent_graph([calls, "done"], tools=[tool(who)], checkpointer=InMemorySaver())
    found = dict(answers(graph.invoke(ask(), on())["messages"]))
    assert found["c1"] == "a c1 t"
    assert "unknown argument call_id" in found["c2"]


def reachable(root: object) -> Iterator[object]:
    """Everything that can be reached from an object, modules and classes left out."""
    seen: set[int] = set()
    stack = [root]
    while stack:
        value = stack.pop()
        if id(value) in seen or isinstance(value, ModuleType | type):
            continue
        seen.add(id(value))
        yield value
        found = gc.get_referents(value)
        if isinstance(value, FunctionType):  # its module's names are not what it holds
            found = [v for v in found if v is not value.__globals__]
        stack += [v for v in found if v is not sys.modules]


@pytest.mark.parametrize("node", ["act", "guard", "tool"])
def test_who_holds_the_tools(node: str) -> None:
    """Only the tool node can reach a tool's code; the node that asks the model cannot (I2)."""
    body = fails(AssertionError("a tool ran"))
    body.__name__ = "pay"
    graph = agent_graph(["hello"], tools=[_described(body)])
    runnable = graph.nodes[node].bound
    assert isinstance(runnable, NodeRunnable)
    held = any(value is body for value in reachable(runnable))
    assert held == (node == "tool")


def _described(body: Callable[..., Any]) -> Callable[..., Any]:
    body.__doc__ = "Pays."
    body.__annotations__ = {}
    schema = {"type": "object", "properties": {}}
    return StructuredTool(name="pay", description="Pays.", args_schema=schema, func=body)  # type: ignore[return-value]
