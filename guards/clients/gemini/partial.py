"""A function call whose arguments come in pieces, put together again.

Where a request asks for it (`streamFunctionCallArguments`), a call comes as several parts: the
first has the name, each says by a JSON path where its value belongs, the last does not go on.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from .parts import camel

MAX_ITEMS = 10_000
"""A path that points further into a list than this is none that we follow."""

_STEP = re.compile(r"\.([^.\[\]'\"]+)|\[(\d{1,9})\]|\['([^']*)'\]|\[\"([^\"]*)\"\]")
_VALUES = ("stringValue", "numberValue", "boolValue")


class PartialCall:
    """A call that is still on its way."""

    def __init__(self) -> None:
        self.call: dict[str, Any] = {}
        """The call as far as it has come."""
        self.beside: dict[str, Any] = {}
        """What stands beside it in its parts: a signature."""
        self.unreadable = False
        """Whether a piece could not be put in its place."""

    def add(self, piece: Mapping[str, Any], beside: Mapping[str, Any]) -> bool:
        """Put a piece to the call; whether the call goes on."""
        self.beside.update(beside)
        arguments = self.call.setdefault("args", {})
        for key in ("id", "name"):
            if piece.get(key):
                self.call[key] = piece[key]
        if isinstance(piece.get("args"), Mapping):
            arguments.update(piece["args"])
        listed = piece.get("partialArgs")
        for given in listed if isinstance(listed, list) else ():
            self.unreadable = not _put(arguments, camel(given)) or self.unreadable
        return bool(piece.get("willContinue"))


def _put(arguments: dict[str, Any], given: dict[str, Any]) -> bool:
    """Put a value to where its path points; whether that could be done."""
    steps = _steps(given.get("jsonPath"))
    if not steps or not isinstance(steps[0], str):
        return False
    owner: Any = arguments
    for step, after in pairwise(steps):
        inner = _at(owner, step)
        if inner is None:
            inner = [] if isinstance(after, int) else {}
            if not _set(owner, step, inner):
                return False
        owner = inner
    value = next((given[name] for name in _VALUES if given.get(name) is not None), None)
    before = _at(owner, steps[-1])
    if isinstance(value, str) and isinstance(before, str):
        value = before + value
    return _set(owner, steps[-1], value)


def _at(owner: Any, step: str | int) -> Any:
    if isinstance(owner, dict) and isinstance(step, str):
        return owner.get(step)
    if isinstance(owner, list) and isinstance(step, int) and step < len(owner):
        return owner[step]
    return None


def _set(owner: Any, step: str | int, value: Any) -> bool:
    if isinstance(owner, dict) and isinstance(step, str):
        owner[step] = value
        return True
    if isinstance(owner, list) and isinstance(step, int) and step < MAX_ITEMS:
        owner.extend([None] * (step + 1 - len(owner)))
        owner[step] = value
        return True
    return False


def _steps(path: Any) -> list[str | int]:
    """The steps of a path like `$.to[0].name`; none where it cannot be read."""
    if not isinstance(path, str) or not path.startswith("$"):
        return []
    steps: list[str | int] = []
    at = 1
    while at < len(path):
        found = _STEP.match(path, at)
        if found is None:
            return []
        steps.append(int(found[2]) if found[2] is not None else found[1] or found[3] or found[4])
        at = found.end()
    return steps
