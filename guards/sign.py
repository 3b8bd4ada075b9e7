"""Whether a text holds something, told by the faster of two engines; or which of many things."""

from __future__ import annotations

import re
from collections.abc import Collection

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


class SignSet:
    """Patterns that are looked for in one pass of RE2. Its automaton is built when first asked."""

    __slots__ = ("_every", "_patterns", "_set")

    def __init__(self, *patterns: str) -> None:
        self._patterns = patterns
        self._every = range(len(patterns) + 1)
        self._set: re2.Set | None = None

    def found(self, text: str) -> Collection[int]:
        """The numbers (from 1) of those that stand in a text, behind a 0; of all if RE2 gave up."""
        made = self._set or self._made()
        return made.Match(text.encode("utf-8", "replace")) or self._every

    def _made(self) -> re2.Set:
        chosen = re2.Options()
        chosen.log_errors = False
        made = re2.Set.SearchSet(chosen)
        for pattern in ("", *self._patterns):  # "" is always found: without it, RE2 gave up
            made.Add(pattern)
        made.Compile()
        self._set = made
        return made
