"""What model calls have used, as a door is told of it, kept by the place in a conversation."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .limits import SCOPES, Amounts, Limits, added
from .turns import Turn, UserText

CHARS_PER_TOKEN = 4
"""For an estimate where a provider says nothing."""

MAX_PLACES = 65_536
"""Places of conversations whose amounts are kept; a few numbers each."""

UNCOUNTED = float("inf")
"""Stands for an amount that cannot be counted: a limit on it blocks."""

UNKNOWN: Amounts = dict.fromkeys(("tokens", "cost_usd", "calls", "seconds"), UNCOUNTED)

TOOLS = "tools"
"""The part of what a place has used that its tools took."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What one model call used. `cached` tokens are among those `read`; `model`: its name.

    A `total` that is not parted counts at the dearer of the two prices, and so does what it has
    beyond `read` and `written`; a model without a price costs what the dearest does.
    """

    read: int = 0
    written: int = 0
    cached: int = 0
    model: str = ""
    total: int = 0

    def amounts(self, limits: Limits | None) -> dict[str, float]:
        """Tokens, and what they cost."""
        read, written, total = max(self.read, 0), max(self.written, 0), max(self.total, 0)
        rest = max(total - read - written, 0)
        tokens = read + written + rest
        if limits is None or not limits.prices:
            return {"tokens": tokens}
        price = limits.price(self.model) or limits.dearest
        cost = price.of(read, written, min(max(self.cached, 0), read))
        return {"tokens": tokens, "cost_usd": cost + max(price.of(rest, 0), price.of(0, rest))}


@dataclass(slots=True)
class _Place:
    parts: dict[str, Amounts] = field(default_factory=dict)
    ended: float | None = None

    def amounts(self) -> Amounts:
        total: Amounts = {}
        for amounts in self.parts.values():
            total = added(total, amounts)
        return total


@dataclass(frozen=True, slots=True)
class Spent:
    """What a run and its thread had used where a conversation stands; calls are not among it."""

    run: Amounts = field(default_factory=dict)
    thread: Amounts = field(default_factory=dict)
    ended: float | None = None
    """When the last model call of this run ended, by the door's clock."""

    def plus(self, amounts: Amounts, ended: float | None = None) -> Spent:
        """With more."""
        run, thread = added(self.run, amounts), added(self.thread, amounts)
        return Spent(run, thread, self.ended if ended is None else ended)

    def used(self, *, run: int, thread: float) -> dict[str, dict[str, float]]:
        """For `History.used`, with the calls of run and thread. What its caller has used has to be
        put in by who counts that; as it is here, it blocks."""
        return {
            "run": {**self.run, "calls": added(self.run, {"calls": run})["calls"]},
            "thread": {**self.thread, "calls": added(self.thread, {"calls": thread})["calls"]},
            "caller": dict(UNKNOWN),
        }


UNSEEN = Spent(UNKNOWN, UNKNOWN)
"""What came before was not seen here."""


class Accounts:
    """Amounts by place. Many conversations begin alike: what each of them used must not add up,
    so of each part of a place the most that was told counts."""

    def __init__(self) -> None:
        self._places: OrderedDict[bytes, _Place] = OrderedDict()

    def note(
        self, place: bytes, amounts: Amounts, *, part: str = "", ended: float | None = None
    ) -> None:
        """Keep what a place has used."""
        found = self._places.get(place)
        if found is None:
            found = self._places[place] = _Place()
        known = found.parts.get(part, {})
        found.parts[part] = {
            name: max(known.get(name, 0), amounts.get(name, 0)) for name in {**known, **amounts}
        }
        if ended is not None:
            found.ended = ended
        self._places.move_to_end(place)
        while len(self._places) > MAX_PLACES:
            self._places.popitem(last=False)

    def at(self, place: bytes) -> tuple[Amounts, float | None]:
        """What a place has used, and when its model call ended."""
        found = self._places.get(place)
        return ({}, None) if found is None else (found.amounts(), found.ended)

    def before(self, start: Spent, turns: Sequence[Turn], places: Sequence[bytes]) -> Spent:
        """What was used up to the last place, which is not counted itself."""
        spent = start
        for turn, place in zip(turns, (b"", *places), strict=False):
            if place and (found := self._places.get(place)) is not None:
                spent = spent.plus(found.amounts(), found.ended)
            if isinstance(turn, UserText) and (spent.run or spent.ended is not None):
                spent = Spent({}, spent.thread, None)
        return spent

    def waited(self, spent: Spent, place: bytes, now: float) -> None:
        """Count the time since the run's last model call ended as that of its tools."""
        if spent.ended is not None:
            self.note(place, {"seconds": max(now - spent.ended, 0.0)}, part=TOOLS)


def caller_named(used: Mapping[str, Amounts], amounts: Amounts) -> dict[str, dict[str, float]]:
    """What was used, with what the caller has."""
    return {scope: dict(amounts if scope == "caller" else used.get(scope, {})) for scope in SCOPES}
