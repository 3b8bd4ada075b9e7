"""Whether what one rule lets through is let through by another: sets of calls as boxes.

What a rule lets through is a union of boxes; a box demands something of some aspects of a call (an
argument, the caller, how often it ran) and nothing of the others. Aspects do not hang on each
other, so that a call that is in one box and in none of several others is found aspect by aspect: in
each of the others some aspect has to be what that box does not want.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Protocol

from .points import Point, Tried

Aspect = tuple[str, ...]
"""`("caller",)`, `("argument", "to")`: what a demand is about."""


class Demand(Protocol):
    """What has to hold of one aspect."""

    @property
    def key(self) -> object:
        """Equal for demands that mean the same in both policies."""


Box = Mapping[Aspect, Demand]
Term = Mapping[Aspect, tuple[Demand, ...]]
"""A box in which an aspect may have several demands, all of which hold."""

MOST_CHOICES = 2_000
MOST_POINTS = 400


class Search(Protocol):
    """Looks for a point of one aspect that is inside of some demands and outside of others."""

    def __call__(
        self, aspect: Aspect, inside: Sequence[Demand], outside: Sequence[Demand], /
    ) -> Tried: ...


@dataclass(frozen=True, slots=True)
class Attempts:
    """Points that may lie outside: what a term and some boxes differ in, and how."""

    taken: tuple[Aspect, ...]
    """The aspects in which they differ."""
    each: tuple[tuple[Point, ...], ...] = ()
    """Points of these aspects, that go together."""
    what: str = ""


def joined(boxes: Sequence[Box]) -> Term:
    """The calls that are in all of several boxes."""
    found: dict[Aspect, list[Demand]] = {}
    for box in boxes:
        for aspect, demand in box.items():
            found.setdefault(aspect, []).append(demand)
    return {aspect: tuple(demands) for aspect, demands in found.items()}


def outside(term: Term, boxes: Sequence[Box], search: Search) -> Iterator[Attempts]:
    """Points of the term that may be in none of the boxes, by what tells them from each; none
    where the boxes cover the term."""
    open_aspects = []
    for box in boxes:
        found = [a for a in box if not search(a, term.get(a, ()), (box[a],)).none]
        if not found:
            return
        open_aspects.append(found)
    choices = product(*open_aspects)
    for choice in islice(choices, MOST_CHOICES):
        by_aspect: dict[Aspect, list[Demand]] = {}
        for aspect, box in zip(choice, boxes, strict=True):
            by_aspect.setdefault(aspect, []).append(box[aspect])
        tried = [search(a, term.get(a, ()), demands) for a, demands in by_aspect.items()]
        if not any(one.none for one in tried):
            each = islice(product(*(one.points for one in tried)), MOST_POINTS)
            what = "; ".join(one.what for one in tried if one.what)
            yield Attempts(tuple(by_aspect), tuple(each), what)
    if next(choices, None) is not None:
        yield Attempts(tuple(a for aspects in open_aspects for a in aspects))
