"""The invariants once more, on the compiled graph itself, subgraphs included.

The checks on the strategy say what was meant; these say what LangGraph made of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from langgraph.pregel._read import PregelNode
from langgraph.pregel._write import ChannelWrite, ChannelWriteEntry

from .check import GUARD, TOOL
from .drive import BRANCH_CHANNEL


def check_compiled(graph: Any) -> None:
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
    kinds = {name: (node.metadata or {}).get("kind") for name, node in graph.nodes.items()}
    return [
        f"{source} leads into the tool node {target} without a guard's allow"
        for source, node in graph.nodes.items()
        for target, outcome in _leads(node)
        if kinds.get(target) == TOOL and not (kinds[source] == GUARD and outcome == "allow")
    ]


def _leads(node: PregelNode) -> Iterator[tuple[str, str | None]]:
    """Where a node can lead, with the outcome's name: what it does itself and what LangGraph does
    behind it. Not a drawing, in which one edge may hide another."""
    for outcome, target in getattr(node.bound, "exits", {}).items():
        yield target, outcome
    for writer in node.writers:
        for entry in getattr(writer, "writes", ()):
            if isinstance(entry, ChannelWriteEntry):
                yield entry.channel.removeprefix(BRANCH_CHANNEL), None
        for channel, _, _ in ChannelWrite.get_static_writes(writer) or ():
            yield channel.removeprefix(BRANCH_CHANNEL), None
