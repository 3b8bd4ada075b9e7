"""What was used up, and how often a tool ran: limits that the new policy sets higher, or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .boxes import Aspect, Demand
from .points import NONE, Point, Tried

if TYPE_CHECKING:
    from .scene import Scene

MOST_CALLS = 2_000
"""Calls that a witness has in its past at most."""


@dataclass(frozen=True, slots=True)
class Below:
    """Less of an amount was used in a scope. `plain`: by what a session's budget counts."""

    scope: str
    amount: str
    most: float
    plain: bool = False

    @property
    def key(self) -> object:
        """Its bound."""
        return (self.scope, self.amount, self.most, self.plain)


@dataclass(frozen=True, slots=True)
class Times:
    """The tool ran fewer times in this run."""

    most: int

    @property
    def key(self) -> object:
        """Its bound."""
        return self.most


def search_used(
    scene: Scene, aspect: Aspect, inside: Sequence[Demand], outside: Sequence[Demand]
) -> Tried:
    """What was used: as much as the old bound allows, and less than the new one."""
    within = [d for d in inside if isinstance(d, Below)]
    above = [d for d in outside if isinstance(d, Below)]
    if any(_covers(i, o) for o in above for i in within):
        return NONE
    most = max((o.most for o in above), default=0.0)
    scope, amount = above[0].scope, above[0].amount
    used = {scope: {amount: most}}
    if scope == "run":
        used["thread"] = {amount: most}
    what = f"{amount} of a {scope}: {most:g} \u2264 x"
    points = [Point(used=used)]
    if not above[0].plain:
        points.append(Point(used={scope: {amount: float("inf")}}))
    return Tried(tuple(points), what=what)


def _covers(new: Below, old: Below) -> bool:
    """Whether what is used up under the old bound is so under the new one. A run uses no more
    than its thread; what cannot be counted is used up under `limits`, and not for a budget."""
    if new.amount != old.amount:
        return False
    wider = new.scope == old.scope or (new.scope, old.scope) == ("thread", "run")
    return wider and new.most <= old.most and (not new.plain or old.plain)


def search_calls(
    scene: Scene, aspect: Aspect, inside: Sequence[Demand], outside: Sequence[Demand]
) -> Tried:
    """How often the tool ran."""
    bounds = [d.most for d in inside if isinstance(d, Times)]
    least = max((d.most for d in outside if isinstance(d, Times)), default=0)
    most = min(bounds, default=None)
    if most is not None and most <= least:
        return NONE
    what = f"call {least + 1}" + (
        f" to {most} of a run" if most is not None else " of a run and on"
    )
    return Tried((Point(calls=least),) if least <= MOST_CALLS else (), what=what)
