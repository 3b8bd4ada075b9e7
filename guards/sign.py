"""Whether a text holds something, told by the faster of two engines."""

from __future__ import annotations

import re

import re2

_LONG = 100
"""Characters from which RE2's automaton is faster than `re`, whatever it costs to begin."""


class Sign:
    """A pattern that both engines read alike, and the characters of its shortest match."""

    __slots__ = ("_long", "_short", "_shortest")

    def __init__(self, pattern: str, shortest: int) -> None:
        self._short, self._long, self._shortest = (
            re.compile(pattern),
            re2.compile(pattern),
            shortest,
        )

    def found(self, text: str) -> bool:
        """Whether it stands somewhere in the text."""
        if len(text) < _LONG:
            return len(text) >= self._shortest and self._short.search(text) is not None
        return self._long.search(text.encode("utf-8", "surrogatepass")) is not None
