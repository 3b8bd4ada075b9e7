"""The aspects of a call, and who looks for a point of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from . import amounts, arguments, callers, order, texts, wishes
from .boxes import Aspect, Demand
from .points import NONE, Tried
from .scene import Scene


def search(
    scene: Scene, aspect: Aspect, inside: Sequence[Demand], outside_: Sequence[Demand]
) -> Tried:
    """A point of one aspect, by what the aspect is about."""
    find = _SEARCHES.get(aspect[0])
    if find is not None:
        return find(scene, aspect, inside, outside_)
    same = any(i.key == o.key for i in inside for o in outside_)
    return NONE if same else Tried(what=f"{aspect[-1]} says something else")


def _rest(
    scene: Scene, aspect: Aspect, inside: Sequence[Demand], outside_: Sequence[Demand]
) -> Tried:
    found = arguments.search(scene, (aspect[0], scene.free), inside, outside_)
    return replace(found, what=found.what.replace(scene.free, "any other text", 1))


_SEARCHES: Mapping[str, Callable[[Scene, Aspect, Sequence[Demand], Sequence[Demand]], Tried]] = {
    "argument": arguments.search,
    "rest": _rest,
    "caller": callers.search,
    "used": amounts.search_used,
    "calls": amounts.search_calls,
    "wish": wishes.search_wish,
    "together": wishes.search_together,
    "at_most": wishes.search_at_most,
    "host": texts.search_hosts,
    "pattern": texts.search_pattern,
    "secret": texts.search_secret,
    "private": texts.search_private,
    "order": order.search,
}
