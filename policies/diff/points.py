"""Parts of a witness: what one aspect of a call has to be, put together to a call and its past."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...guards.caller import NOBODY, Caller
from ..cases import Ran, Said
from .witness import Event, Witness

Path = tuple[str, ...]
"""An argument path, step by step."""


@dataclass(frozen=True, slots=True)
class Point:
    """What one aspect of a call, or of its past, is; the rest is free."""

    arguments: tuple[tuple[Path, Any], ...] = ()
    said: tuple[str, ...] = ()
    """What the user wrote, in one message."""
    apart: tuple[str, ...] = ()
    """What the user wrote in messages of their own, before."""
    ran: tuple[Event, ...] = ()
    """What came first."""
    caller: Caller | None = None
    calls: int = 0
    """How often the tool ran already."""
    used: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    shut: frozenset[int] = frozenset()
    """Gates of the old policy of which one is shut."""
    what: str = ""
    """What it shows, in words."""


@dataclass(frozen=True, slots=True)
class Tried:
    """What a search for a point came to. `none`: there is none, for certain."""

    points: tuple[Point, ...] = ()
    none: bool = False
    what: str = ""
    """What the difference is, in words, for all points together."""


NONE = Tried(none=True)


def put_together(name: str, points: Sequence[Point]) -> tuple[Witness, frozenset[int]]:
    """A call of a tool, and its past but for the order of calls; the gates one of which is shut."""
    arguments: dict[str, Any] = {}
    for point in points:
        for path, value in point.arguments:
            _put(arguments, path, value)
    said = tuple(dict.fromkeys(text for point in points for text in point.said))
    before: list[Event] = [Said(user=text) for point in points for text in point.apart]
    before += [event for point in points for event in point.ran if isinstance(event, Said)]
    ran = [event for point in points for event in point.ran if isinstance(event, Ran)]
    if said:
        before.append(Said(user="\n".join(said)))
    before += ran
    before += [Ran(tool=name)] * max((point.calls for point in points), default=0)
    used: dict[str, dict[str, float]] = {}
    for point in points:
        for scope, amounts in point.used.items():
            used.setdefault(scope, {}).update(amounts)
    caller = next((p.caller for p in points if p.caller is not None), NOBODY)
    shut = frozenset[int]().union(*(point.shut for point in points))
    return Witness(name, arguments, tuple(before), caller, used), shut


def _put(arguments: dict[str, Any], path: Path, value: Any) -> None:
    below = arguments
    for step in path[:-1]:
        inner = below.setdefault(step, {})
        if not isinstance(inner, dict):
            return
        below = inner
    below[path[-1]] = value


def spoken(words: Iterable[str]) -> tuple[str, ...]:
    """Texts of the user's, without empty ones."""
    return tuple(word for word in words if word.strip())
