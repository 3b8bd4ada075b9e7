"""Tool calls of a chat completion that come in pieces, put together again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_GROWING = ("name", "arguments", "input")


class Pieces:
    """The pieces of a choice's calls, in the order of their positions.

    Some servers leave positions out (then the order is that in which the calls began), and some
    give all calls the same one: then a new id, or a new name, begins a new call.
    """

    def __init__(self) -> None:
        self._calls: list[list[Any]] = []
        self._ids: list[Any] = []
        self._places: dict[int, int] = {}
        self._last: int | None = None

    def __bool__(self) -> bool:
        return bool(self._calls)

    def add(self, piece: Any) -> None:
        """Put a piece to its call."""
        given = piece if isinstance(piece, Mapping) else {}
        place, call_id = given.get("index"), given.get("id")
        at = self._places.get(place) if isinstance(place, int) else self._last
        if at is None or self._begins(given, at, placed=isinstance(place, int)):
            self._calls.append([])
            self._ids.append(None)
            at = len(self._calls) - 1
            if isinstance(place, int):
                self._places[place] = at
        self._last = at
        self._ids[at] = call_id or self._ids[at]
        self._calls[at].append(given)

    def _begins(self, piece: Mapping[str, Any], at: int, *, placed: bool) -> bool:
        """Whether a piece is the first of another call than the one it seems to belong to."""
        if piece.get("id") and self._ids[at]:
            return bool(piece["id"] != self._ids[at])
        function = piece.get("function")
        return not placed and isinstance(function, Mapping) and bool(function.get("name"))

    @property
    def whole(self) -> list[dict[str, Any]]:
        """The calls, each of all its pieces."""
        begun = [assembled(pieces) for pieces in self._calls]
        placed = all(isinstance(call.get("index"), int) for call in begun)
        return sorted(begun, key=lambda call: int(call["index"])) if placed else begun


def assembled(pieces: Sequence[Any]) -> dict[str, Any]:
    """A call of its pieces: texts are joined, of everything else the last word counts."""
    made: dict[str, Any] = {}
    texts: dict[str, list[str]] = {}
    inner: dict[str, list[Any]] = {}
    for piece in pieces:
        for key, value in piece.items() if isinstance(piece, Mapping) else ():
            if isinstance(value, Mapping):
                inner.setdefault(key, []).append(value)
            elif key in _GROWING and isinstance(value, str):
                texts.setdefault(key, []).append(value)
            elif value is not None and (value != "" or key not in made):
                made[key] = value
    joined = {key: "".join(parts) for key, parts in texts.items()}
    return {**made, **joined, **{key: assembled(parts) for key, parts in inner.items()}}
