"""What a guarded step costs, beside LangChain's `create_agent` without a guard and with one hook.

CPU time of this process, the variants in turn, medians of the ratios pair by pair: these figures
hold on a noisy machine, absolute times do not. Nothing here asserts a time; run it with
`pytest -m benchmark -s -n 0`. `EDGEWARD_BENCH=short` plays 10 steps only, a few times.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from edgeward import build_graph
from edgeward.graphs.checkpoints import SqliteThreads

SHORT = os.environ.get("EDGEWARD_BENCH") == "short"
STEPS = (10,) if SHORT else (10, 100, 500)
ROUNDS = {10: 5 if SHORT else 15, 100: 5, 500: 3}

POLICY: dict[str, object] = {
    "version": 2,
    "default": "allow",
    "tools": {"add": "allow", "delete_*": "block", "send_*": "ask"},
    "tool_denylist": ["run_shell", "transfer_funds"],
    "arg_rules": [
        {"name": f"rule_{n}", "reason": "not wanted", "regex": rf"forbidden[-_ ]{n}\b"}
        for n in range(18)
    ],
}


class Counting(BaseChatModel):
    """Proposes `steps` additions one by one, then answers."""

    steps: int

    @property
    def _llm_type(self) -> str:
        return "counting"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self.bind(tools=tools)

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        done = sum(message.type == "tool" for message in messages)
        call = {"name": "add", "args": {"a": done, "b": 1}, "id": f"call_{done}"}
        more = done < self.steps
        message = AIMessage("" if more else "done", tool_calls=[call] if more else [])
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _agenerate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        return self._generate(messages)


class AllowAll(AgentMiddleware[Any, Any]):
    """The cheapest possible guard in `create_agent`: a hook around each tool call."""

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        return handler(request)

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        return await handler(request)


@tool("add")
def add_sync(a: int, b: int) -> str:
    """Add two numbers."""
    return str(a + b)


@tool("add")
async def add_async(a: int, b: int) -> str:
    """Add two numbers."""
    return str(a + b)


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    """A loop that is kept: `asyncio.run` prints the whole result to itself, which costs more."""
    new = asyncio.new_event_loop()
    yield new
    new.close()


@pytest.mark.benchmark
@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("kept", ["nowhere", "memory", "sqlite"])
@pytest.mark.parametrize("mode", ["sync", "async"])
def test_a_guarded_step_beside_an_unguarded_one(
    steps: int,
    kept: str,
    mode: str,
    tmp_path: Path,
    loop: asyncio.AbstractEventLoop,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """All variants do the same work; their CPU time a step is printed, with ratios to ours."""
    add = add_sync if mode == "sync" else add_async
    model = Counting(steps=steps)
    peer_saver = _peer_saver(kept, mode, tmp_path, loop)
    graphs = {
        "edgeward, guarded": build_graph(
            "react",
            policy=POLICY,
            model=model,
            tools=[add],
            max_steps=steps + 1,
            checkpointer=_own_saver(kept, tmp_path),
        ),
        "create_agent, no guard": create_agent(model, [add], checkpointer=peer_saver),
        "create_agent, one hook": create_agent(
            model, [add], middleware=[AllowAll()], checkpointer=peer_saver
        ),
    }
    costs: dict[str, list[float]] = {name: [] for name in graphs}
    for number in range(-1, ROUNDS[steps]):
        for name, graph in graphs.items():
            config = {
                "configurable": {"thread_id": f"{name}-{number}"},
                "recursion_limit": 10 * steps,
            }
            cost, messages = _timed(graph, config, mode, loop)
            assert len(messages) == 2 * steps + 2
            if number >= 0:
                costs[name].append(cost / steps * 1e6)
    with capsys.disabled():
        print("\n" + _report(costs, steps, kept, mode))
    if peer_saver is not None and mode == "async" and kept == "sqlite":
        loop.run_until_complete(peer_saver.conn.close())


def _timed(graph: Any, config: Any, mode: str, loop: asyncio.AbstractEventLoop) -> Any:
    given = {"messages": [HumanMessage("go")]}
    start = time.process_time()
    if mode == "sync":
        result = graph.invoke(given, config)
    else:
        result = loop.run_until_complete(graph.ainvoke(given, config))
    return time.process_time() - start, result["messages"]


def _report(costs: dict[str, list[float]], steps: int, kept: str, mode: str) -> str:
    own, *peers = costs
    parts = [f"{steps:4} steps, {mode:5}, kept {kept:8}"]
    parts += [f"{name}: {statistics.median(cost):7.0f} us" for name, cost in costs.items()]
    for peer in peers:
        ratios = [a / b for a, b in zip(costs[own], costs[peer], strict=True)]
        parts.append(f"ours/{peer}: {statistics.median(ratios):.2f}")
    return " | ".join(parts)


def _own_saver(kept: str, folder: Path) -> Any:
    if kept == "memory":
        return "memory"
    return SqliteThreads(folder / "own.sqlite") if kept == "sqlite" else None


def _peer_saver(kept: str, mode: str, folder: Path, loop: asyncio.AbstractEventLoop) -> Any:
    """The stock saver, with the same durability settings as ours."""
    if kept == "memory":
        return InMemorySaver()
    if kept == "nowhere":
        return None
    if mode == "sync":
        connection = SqliteThreads(folder / "peer.sqlite").conn
        return SqliteSaver(connection)

    async def opened() -> AsyncSqliteSaver:
        import aiosqlite

        connection = await aiosqlite.connect(folder / "peer.sqlite")
        await connection.execute("PRAGMA journal_mode=WAL")
        await connection.execute("PRAGMA synchronous=NORMAL")
        return AsyncSqliteSaver(connection)

    return loop.run_until_complete(opened())
