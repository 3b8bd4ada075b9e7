"""The aspects of a call, and who looks for a point of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from . import amounts, arguments, callers, order, texts, wishes
from .boxes import Aspect, Demand
from .points import NONE, Tried
from .scene import Scene


def search(
    scene: Scene, aspect: Aspect, inside: Sequence[Demand], outside_: Sequence[Demand]
) -> Tried:
    """A point of one aspect, by what the aspect is about."""
    match aspect[0]:
        case "argument":
            return arguments.search(scene, aspect, inside, outside_)
        case "rest":
            found = arguments.search(scene, ("rest", scene.free), inside, outside_)
            return replace(found, what=found.what.replace(scene.free, "any other text", 1))
        case "caller":
            return callers.search(scene, aspect, inside, outside_)
        case "used":
            return amounts.search_used(scene, aspect, inside, outside_)
        case "calls":
            return amounts.search_calls(scene, aspect, inside, outside_)
        case "wish":
            return wishes.search_wish(scene, aspect, inside, outside_)
        case "together":
            return wishes.search_together(scene, aspect, inside, outside_)
        case "at_most":
            return wishes.search_at_most(scene, aspect, inside, outside_)
        case "host":
            return texts.search_hosts(scene, aspect, inside, outside_)
        case "pattern":
            return texts.search_pattern(scene, aspect, inside, outside_)
        case "secret":
            return texts.search_secret(scene, aspect, inside, outside_)
        case "private":
            return texts.search_private(scene, aspect, inside, outside_)
        case "order":
            return order.search(scene, aspect, inside, outside_)
    same = any(i.key == o.key for i in inside for o in outside_)
    return NONE if same else Tried(what=f"{aspect[-1]} says something else")
