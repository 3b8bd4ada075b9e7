"""A `compress` node in front of one node runs in the same graph step as that node.

Nearly always it has nothing to do, and a graph step of its own would cost more than the look. In
the strategy, in its checks and in its picture it is a node as any other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..nodes._base import Here, NodeKind, Result, State, Step
from .schema import END, Node, Strategy
from .state import after, together

COMPRESS = "compress"
_GIVEN_ONCE = frozenset({"overhead", "readable"})
"""What a node is given when the graph is built, whoever else is in it."""


def in_front(strategy: Strategy) -> Mapping[str, str]:
    """By the name of a node, the compress node that runs in its step: the one that every way to it
    leads through."""
    found: dict[str, str] = {}
    for name, node in strategy.nodes.items():
        ways = {source for (source, _), target in strategy.edges.items() if target == name}
        ways |= {""} if strategy.start == name else set()
        first = strategy.nodes.get(next(iter(ways))) if len(ways) == 1 else None
        if first is not None and _fits(first, node):
            found[name] = first.name
    return found


def join(first: Node, then: Node) -> Node:
    """Both nodes as one, under the name of the second."""

    def step(spec: Any, state: State, here: Here) -> Step:
        before = yield from first.kind.step(first.spec, state, here)
        if not before.update:
            return (yield from then.kind.step(spec, state, here))
        left = yield from then.kind.step(spec, after(state, before.update), here)
        return Result(left.outcome, together(before.update, left.update))

    kind = NodeKind(then.kind.name, then.kind.spec, step, then.kind.origin)
    return replace(then, kind=kind)


def target_of(strategy: Strategy, joined: Mapping[str, str], name: str) -> str:
    """The graph's node to which a way to `name` leads."""
    if name == END or name not in joined.values():
        return name
    return strategy.edges[name, "done"]


def _fits(first: Node, then: Node) -> bool:
    needs = first.spec.needs - _GIVEN_ONCE
    return (
        first.kind.name == COMPRESS
        and first.name != then.name
        and needs <= then.spec.needs
        and first.spec.writes <= then.spec.writes
    )
