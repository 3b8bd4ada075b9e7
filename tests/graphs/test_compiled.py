"""The invariants hold of what LangGraph made: on the compiled graph, at any depth."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.pregel._write import ChannelWrite, ChannelWriteEntry

from edgeward.graphs.compiled import broken_edges, check_compiled
from edgeward.graphs.locked import LockedGraph
from edgeward.graphs.schema import shipped_strategies
from tests.fakes import Recorder, agent_graph


def react() -> LockedGraph:
    """A guarded graph with one tool."""
    return agent_graph(["hello"], tools=[Recorder().tool("pay")])


@pytest.mark.parametrize("name", shipped_strategies())
def test_shipped_graphs_hold(name: str) -> None:
    """What is compiled from a shipped strategy keeps the invariants."""
    assert broken_edges(agent_graph(["hello"], strategy=name)) == []


def test_graph_shows_every_outcome() -> None:
    """The drawn graph has one labelled edge for each outcome of each node."""
    edges = {(e.source, e.data, e.target) for e in react().get_graph().edges if e.conditional}
    assert edges == {
        ("act", "call", "guard"),
        ("act", "answer", "__end__"),
        ("act", "limit", "__end__"),
        ("guard", "allow", "tool"),
        ("guard", "block", "compress"),
        ("tool", "done", "compress"),
        ("compress", "done", "act"),
    }


def tamper(graph: LockedGraph, source: str) -> None:
    """Lead `source` into the tool node, behind the back of everything that was checked."""
    write = ChannelWrite((ChannelWriteEntry("branch:to:tool", None),))
    node = graph.nodes[source]
    graph.nodes[source] = node.copy({"writers": [*node.writers, write]})


@pytest.mark.parametrize("source", ["act", "tool", START])
def test_edge_into_a_tool(source: str) -> None:
    """An edge that was added to the compiled graph is found, whichever node it leaves."""
    graph = react()
    tamper(graph, source)
    with pytest.raises(ValueError, match=f"{source} leads into the tool node tool"):
        check_compiled(graph)


@pytest.mark.parametrize(("source", "outcome"), [("act", "call"), ("guard", "block")])
def test_outcome_that_leads_into_a_tool(source: str, outcome: str) -> None:
    """An outcome that was led into a tool node is found, unless it is a guard's `allow`."""
    graph = react()
    node: Any = graph.nodes[source].bound
    node.exits = {**node.exits, outcome: "tool"}
    with pytest.raises(ValueError, match=f"{source} leads into the tool node tool"):
        check_compiled(graph)


def parent_of(inner: LockedGraph) -> CompiledStateGraph:
    """A graph of the user's own with a guarded graph as one node."""
    builder = StateGraph(MessagesState)
    builder.add_node("agent", inner)
    builder.add_edge(START, "agent")
    return builder.compile()


def test_inside_another_graph() -> None:
    """A guarded graph inside another is checked, and so is one that was tampered with."""
    good, bad = react(), react()
    tamper(bad, "act")
    check_compiled(parent_of(good))
    with pytest.raises(ValueError, match="agent: act leads into the tool node tool"):
        check_compiled(parent_of(bad))


def test_tool_node_of_a_parent() -> None:
    """A node of the parent that says it is a tool needs a guard of the parent too."""
    builder = StateGraph(MessagesState)
    builder.add_node("agent", react())
    builder.add_node("tool", lambda state: {}, metadata={"kind": "tool"})
    builder.add_edge(START, "agent")
    builder.add_edge("agent", "tool")
    with pytest.raises(ValueError, match="agent leads into the tool node tool"):
        check_compiled(builder.compile())
