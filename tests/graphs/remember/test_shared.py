"""A memory that several agents share, that is one's own, or that a graph has."""

from __future__ import annotations

import asyncio

import pytest

from edgeward import (
    AgentProfile,
    Mem0Memory,
    ScriptedModel,
    SimpleAgent,
    build_graph,
)
from edgeward.profiles.scripted import call
from edgeward.profiles.tools.registry import ToolRegistry
from tests.fakes import WordEmbedder, ask, on

from .conftest import ALICE, OUTCOME, SCOPE, agent, kept


def test_D129_two_agents_share_a_memory_and_tools(profile, memory):
    """With different models: what one kept, the other recalls; closing one leaves it open."""
    registry = ToolRegistry()
    shared = {"tool_registry": registry, "save_trajectory": False}
    with agent(profile, memory, ["done"], **shared) as one:
        one.run_sync("read it", context=ALICE)
    turns = [call("memory_recall", query="read it"), lambda messages: messages[-1].text]
    with agent(profile, memory, turns, **shared) as two:
        answer = two.run_sync("what was it?", context=ALICE).final_answer
    assert "Task: read it Answer: done" in answer


def test_D131_a_subclass_is_asked(profile):
    """The override of `search_records` is what the tool calls."""

    class Cached(Mem0Memory):
        def search_records(self, query, **_):
            return [{"content": f"cached {query}", "memory_type": "outcome"}]

    turns = [call("memory_recall", query="tea"), lambda messages: messages[-1].text]
    with Cached(profile, embedder=WordEmbedder()) as memory, agent(profile, memory, turns) as made:
        assert "cached tea" in made.run_sync("go").final_answer


def test_a_name_that_is_taken_is_refused(profile, memory):
    """A tool of one's own called memory_recall is a collision like any other."""

    def memory_recall(query: str) -> str:
        """Mine."""
        return query

    with pytest.raises(ValueError, match=r"memory_recall.*two tools have this name"):
        agent(profile, memory, ["x"], tools=[memory_recall])


def test_agents_without_tools_keep_their_runs_too(profile, memory):
    """SimpleAgent has no tool loop; what it did is kept."""
    with agent(profile, memory, ["done"], kind=SimpleAgent, use_tools=False) as made:
        made.run_sync("read it", context=ALICE)
    assert kept(memory)[-1] == OUTCOME


def test_a_graph_recalls_by_itself_and_keeps_when_it_is_told(tmp_path, monkeypatch):
    """`build_graph` gives the tool; `remember` keeps the last run of a thread, `aremember` too."""
    monkeypatch.chdir(tmp_path)
    profile = AgentProfile.from_mapping({"id": "bot", "name": "B", "memory": {}}, base_dir=tmp_path)
    turns = ["done", call("memory_recall", query="read it"), lambda messages: messages[-1].text]
    graph = build_graph(
        "react", profile=profile, policy="default", checkpointer="memory",
        model=ScriptedModel(turns=turns, order="call"),
    )  # fmt: skip
    graph.invoke(ask("read it"), on("one"), context=ALICE)
    assert graph.remember(on("one"), context=ALICE) == {}
    said = graph.invoke(ask("what was it?"), on("two"), context=ALICE)
    assert "- [outcome] Task: read it Answer: done" in said["messages"][-1].text
    asyncio.run(graph.aremember(on("two"), context=ALICE))
    assert len(graph.builder.ruled.current.keeper.wants.memory.records(SCOPE)) == 5
    graph.close()


def test_two_runs_on_one_thread_are_kept_apart(profile, memory):
    """The second waits for the first; each is kept as itself."""
    with agent(profile, memory, [lambda m: f"re {m[-1].text}"] * 6, save_trajectory=False) as made:

        async def many():
            await asyncio.gather(
                *(made.run(f"task {n}", thread="t", context=ALICE) for n in range(6))
            )

        asyncio.run(many())
    assert sorted(kept(memory)) == sorted(
        ("outcome", f"Task: task {n}\nAnswer: re task {n}") for n in range(6)
    )
