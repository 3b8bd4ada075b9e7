"""A strategy as what is drawn of it: boxes with their kind and bounds, arrows with their outcomes.

Everything is read off the checked strategy; no model, no tool and no network is needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...graphs.schema import END, Node, Strategy
from ..printable import one_line

START = "start"
"""No node can be called this, nor `end`: the schema of strategies sees to it."""
MAX_CHARS = 32
"""A longer name is cut in pictures; JSON has it whole."""


@dataclass(frozen=True, slots=True)
class Box:
    """One node, or the start or end of a run (their kind is their name)."""

    name: str
    kind: str
    bounds: Mapping[str, float | None]
    """What bounds the node, by field; None: the run's `max_steps` does."""

    @property
    def lines(self) -> tuple[str, ...]:
        """What stands in it: its name, its kind where that is another word, its bounds."""
        bounds = [
            "max_steps of the run" if value is None else f"{name} {value:g}"
            for name, value in self.bounds.items()
        ]
        kind = [self.kind] if self.kind != self.name else []
        return tuple(map(cut, [self.name, *kind, *bounds]))


@dataclass(frozen=True, slots=True)
class Arrow:
    """All outcomes that lead from one box to another, in the order in which the kind has them."""

    source: str
    target: str
    outcomes: tuple[str, ...]

    @property
    def label(self) -> str:
        """The outcomes in words; empty for the start's."""
        return cut(", ".join(self.outcomes))


@dataclass(frozen=True, slots=True)
class Drawing:
    """A strategy's boxes from start to end, in the order of their way, and its arrows."""

    title: str
    description: str
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]


def cut(text: str) -> str:
    """A text of the strategy's author as one line, and its beginning where it is too long."""
    text = one_line(text)
    return text if len(text) <= MAX_CHARS else f"{text[: MAX_CHARS - 3]}..."


def drawing(strategy: Strategy) -> Drawing:
    """What is drawn of a strategy."""
    arrows: dict[tuple[str, str], list[str]] = {(START, strategy.start): []}
    for name in (order := _order(strategy)):
        for outcome, target in _exits(strategy, name):
            arrows.setdefault((name, target), []).append(outcome)
    return Drawing(
        title=one_line(strategy.name),
        description=one_line(strategy.description),
        boxes=(
            Box(START, START, {}),
            *(Box(name, node.kind.name, bounds(node)) for name, node in order.items()),
            Box(END, END, {}),
        ),
        arrows=tuple(Arrow(*ends, tuple(outcomes)) for ends, outcomes in arrows.items()),
    )


def bounds(node: Node) -> dict[str, float | None]:
    """The fields of a node that bound it: rounds of a loop that it is in, seconds of a call."""
    fields = node.spec.model_dump()
    loops = not node.spec.counted.isdisjoint(node.spec.outcomes())
    return {
        name: value
        for name, value in fields.items()
        if name == "timeout_s" or (loops and name.startswith("max_"))
    }


def as_data(strategy: Strategy) -> dict[str, Any]:
    """The strategy as JSON data: nodes with kind, fields and bounds, edges with their outcome.

    `counted`: the outcome can be taken a bounded number of times in a run.
    """
    return {
        "strategy": strategy.name,
        "description": strategy.description,
        "digest": strategy.digest,
        "start": strategy.start,
        "nodes": [
            {
                "name": name,
                "kind": node.kind.name,
                "fields": node.spec.model_dump(mode="json", exclude={"kind"}),
                "bounds": bounds(node),
            }
            for name, node in strategy.nodes.items()
        ],
        "edges": [
            {
                "from": name,
                "outcome": outcome,
                "to": target,
                "counted": outcome in strategy.nodes[name].spec.counted,
            }
            for (name, outcome), target in strategy.edges.items()
        ],
    }


def _exits(strategy: Strategy, name: str) -> list[tuple[str, str]]:
    outcomes = strategy.nodes[name].spec.outcomes()
    return [(outcome, strategy.edges[name, outcome]) for outcome in outcomes]


def _order(strategy: Strategy) -> dict[str, Node]:
    """The nodes so that arrows lead downwards, but for those that close a loop.

    What a first outcome leads to stands next, as far as that goes: reverse postorder, the last
    outcome walked first.
    """
    left: list[str] = []
    seen = {strategy.start}
    walked = [(strategy.start, iter(_exits(strategy, strategy.start)[::-1]))]
    while walked:
        name, exits = walked[-1]
        for _, target in exits:
            if target != END and target not in seen:
                seen.add(target)
                walked.append((target, iter(_exits(strategy, target)[::-1])))
                break
        else:
            left.append(name)
            walked.pop()
    return {name: strategy.nodes[name] for name in reversed(left)}
