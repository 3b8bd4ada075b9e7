"""The invariants once more, on the compiled graph itself, subgraphs included.

The checks on the strategy say what was meant; these say what LangGraph made of it.
"""

from __future__ import annotations

from typing import Any

from langgraph.pregel import Pregel

from .check import GUARD, TOOL


def check_compiled(graph: Pregel[Any, Any, Any, Any]) -> None:
    """I1 on a compiled graph: only `<guard>.allow` leads into a tool node, at any depth.

    Raises:
        ValueError: with every edge that breaks it.
    """
    problems = broken_edges(graph)
    for name, inner in graph.get_subgraphs(recurse=True):
        problems += [f"{name}: {problem}" for problem in broken_edges(inner)]
    if problems:
        raise ValueError("\n".join(problems))


def broken_edges(graph: Any) -> list[str]:
    """Edges of one compiled graph that lead into a tool node without a guard's `allow`."""
    drawn = graph.get_graph()
    kinds = {name: (node.metadata or {}).get("kind") for name, node in drawn.nodes.items()}
    return [
        f"{edge.source} leads into the tool node {edge.target} without a guard's allow"
        for edge in drawn.edges
        if kinds.get(edge.target) == TOOL
        and not (kinds.get(edge.source) == GUARD and edge.conditional and edge.data == "allow")
    ]
