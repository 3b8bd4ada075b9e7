"""C23: nothing of ours blocks the event loop: every node kind, the first run and later ones.

The checker is the one that `langgraph dev` uses, with none of the exceptions it makes there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from blockbuster import BlockingError, blockbuster_ctx
from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command

from edgeward.graphs import studio
from edgeward.graphs.agent import PlanAndSolveAgent, ReActAgent
from edgeward.graphs.build import build_graph
from edgeward.graphs.config import AgentConfig
from edgeward.graphs.locked import LockedGraph
from edgeward.nodes import kinds
from edgeward.nodes.compress import ASK
from edgeward.profiles.obedient import ObedientModel
from edgeward.profiles.scripted import ScriptedModel, Turn, call
from tests.fakes import on, policy

ALL_KINDS = """
strategy: all_kinds
description: One node of every kind.
start: recall
nodes:
  recall: recall
  plan: plan
  act: {kind: act, max_substeps: 3}
  guard: guard
  tool: {kind: tool, timeout_s: 5}
  compress:
    {kind: compress, context_limit: 1024, reserved_buffer: 900, prune_protect: 8, prune_minimum: 8}
  answer: {kind: act, tools: none}
  critic: {kind: reflect, mode: critique, max_revisions: 1}
edges:
  recall.call: guard
  recall.skip: plan
  plan.step: act
  plan.done: answer
  act.call: guard
  act.answer: plan
  act.limit: plan
  guard.allow: tool
  guard.block: compress
  tool.done: compress
  compress.done: act
  answer.answer: critic
  critic.revise: answer
  critic.accept: end
"""
TURNS: list[Turn] = [
    "1. Look at the files.",
    call("look", "c1"),
    call("ask_me", "c2", what="x"),
    "The files were looked at.",
    "All is done.",
    "REVISE: say more",
    "All is done, and well.",
]
"""Replies in the order in which the nodes ask, but for the summaries: plan, act, act, act, …"""
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}


@tool
def look() -> str:
    """Look at the files."""
    return Path(__file__).read_text(encoding="utf-8")[:300]


@tool
async def ask_me(what: str) -> str:
    """Ask a person."""
    await asyncio.sleep(0)
    return f"yes, {what}"


@pytest.fixture
def no_blocking() -> Iterator[None]:
    """Every blocking call on an event loop raises."""
    with blockbuster_ctx():
        yield


async def test_the_checker_checks(no_blocking: None) -> None:
    """A file that is opened on the loop is found, so that silence below means something."""
    with pytest.raises(BlockingError):
        Path(__file__).read_text(encoding="utf-8")


def _replies(turns: list[Any]) -> Callable[[list[BaseMessage]], Any]:
    """The turns one by one; a summary to whoever asks for one, which depends on the thread."""
    left = iter(turns)

    def reply(messages: list[BaseMessage]) -> Any:
        return "A summary." if messages[-1].text.startswith(ASK) else next(left)

    return reply


@pytest.fixture(params=["memory", "sqlite"])
def graph(
    request: pytest.FixtureRequest, tmp_path: Path, strategy_file: Callable[[str], Path]
) -> Iterator[LockedGraph]:
    """A graph with every node kind, on two checkpointers, built off the loop."""
    kept = tmp_path / "threads.sqlite" if request.param == "sqlite" else "memory"
    built = build_graph(
        strategy_file(ALL_KINDS),
        model=ScriptedModel(turns=[_replies(TURNS * 3)] * 40, order="call"),
        tools=[look, ask_me],
        policy=policy({"look": "allow", "ask_me": "ask"}),
        checkpointer=kept,
        store=InMemoryStore(),
    )
    yield built
    if request.param == "sqlite":
        built.checkpointer.close()  # type: ignore[union-attr]


async def test_every_node_kind_runs_without_blocking(graph: LockedGraph, no_blocking: None) -> None:
    """Three runs, the third on the thread of the first, each with a question and its answer."""
    task = [{"type": "text", "text": "Look at the files."}, IMAGE]
    drawn = (node.metadata or {} for node in graph.get_graph().nodes.values())
    assert {data["kind"] for data in drawn if data} == set(kinds())
    for thread in ("one", "two", "one"):
        config = cast("RunnableConfig", on(thread))
        given: Any = {"messages": [("user", task)]}
        ran: list[str] = []
        async for update in graph.astream(given, config, stream_mode="updates"):
            ran += update
        assert "__interrupt__" in ran
        approval: Command[Any] = Command(resume={"c2": {"decision": "approve"}})
        async for update in graph.astream(approval, config, stream_mode="updates"):
            ran += update
        assert set(ran) - {"__interrupt__"} == set(graph.builder.nodes)
        state = await graph.aget_state(config)
        assert state.values["messages"][-1].text == "All is done, and well."


async def test_the_served_graphs_run_without_blocking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_blocking: None
) -> None:
    """The factories that `langgraph dev` calls on its loop: asked for, drawn, run and run again."""
    monkeypatch.setenv("EDGEWARD_WORKSPACE", str(tmp_path / "workspace"))
    for factory in (studio.simple, studio.react, studio.plan_and_solve):
        for _ in range(2):
            served = await factory()
            await served.aget_graph(xray=True)
            given = {"messages": [("user", "List my mail and my documents.")]}
            values = await served.ainvoke(given)
            assert values["messages"][-1].text


@pytest.mark.parametrize("kind", [ReActAgent, PlanAndSolveAgent])
async def test_agents_run_without_blocking(
    kind: type[ReActAgent] | type[PlanAndSolveAgent],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    no_blocking: None,
) -> None:
    """An agent with threads in SQLite, built in a thread: runs, a stream, and its end."""
    monkeypatch.setenv("EDGEWARD_WORKSPACE", str(tmp_path / "workspace"))
    config = AgentConfig(
        profile="assistant",
        policy="assistant",
        llm=ObedientModel(),
        checkpointer=tmp_path / "threads.sqlite",
    )
    agent = await asyncio.to_thread(kind, config)
    async with agent:
        for thread in (None, "one", "one"):
            result = await agent.run("List my mail and my documents.", thread=thread)
            assert result.final_answer
        assert [step async for step in agent.astream("List my documents.")]
