"""Where masks go: hits that overlap become one, and JSON stays JSON."""

from __future__ import annotations

import json
import re
from bisect import bisect
from collections.abc import Callable, Iterable, Sequence

Span = tuple[int, int, str]
"""Start, end (exclusive) and label."""

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


def runs_of(spans: Iterable[Span]) -> list[Span]:
    """One run for hits that overlap, in order; the first found of the longest names it."""
    runs: list[Span] = []
    for start, end, label in sorted(spans, key=lambda s: (s[0], -s[1])):
        if runs and start < runs[-1][1]:
            first, stop, name = runs[-1]
            runs[-1] = (first, max(stop, end), name)
        else:
            runs.append((start, end, label))
    return runs


def replaced(text: str, runs: Sequence[Span], write: Callable[[str, str], str]) -> str:
    """The text with `write(value, label)` in place of each run.

    In a JSON text a bare number becomes a string, so that whoever reads it still can.
    """
    if not runs:
        return text
    written = [write(text[start:end], label) for start, end, label in runs]
    new = _joined(text, runs, written)
    if text.lstrip()[:1] in ("{", "[") and _is_json(text) and not _is_json(new):
        bare = _bare(text, runs)
        quoted = [f'"{m}"' if alone else m for m, alone in zip(written, bare, strict=True)]
        new = _joined(text, runs, quoted)
    return new


def _joined(text: str, runs: Sequence[Span], written: Sequence[str]) -> str:
    pieces, done = [], 0
    for (start, end, _), mask in zip(runs, written, strict=True):
        pieces += [text[done:start], mask]
        done = end
    return "".join([*pieces, text[done:]])


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _bare(text: str, runs: Sequence[Span]) -> list[bool]:
    """For each run whether it stands outside of the strings of a JSON text."""
    ends = [-1]
    starts = [-1]
    for match in _STRING.finditer(text):
        starts.append(match.start())
        ends.append(match.end())
    return [ends[bisect(starts, start) - 1] <= start for start, _, _ in runs]


class JsonInPieces:
    """A text that may be JSON, read as it comes: whether what comes next stands in a string of it.

    Only a text that begins like an object or a list is followed; its pieces are kept.
    """

    __slots__ = ("_begun", "_half", "_inside", "follows", "pieces")

    def __init__(self) -> None:
        self.follows = True
        """Whether the text can still be JSON: `read` is then to be told of all of it."""
        self._begun: bool | None = None
        self._inside = False
        self._half = ""  # a backslash whose other half has not come yet
        self.pieces: list[str] = []

    def read(self, piece: str) -> None:
        """The next piece of the text."""
        if self._begun is None and piece.strip():
            self._begun = piece.lstrip()[0] in "{["
            if not self._begun:
                self.pieces.clear()
                self.follows = False
        if not self.follows:
            return
        self.pieces.append(piece)
        for sign in _SIGN.finditer(self._half + piece):
            self._half = sign[0] if sign[0] == "\\" else ""
            self._inside ^= sign[0] == '"'

    def bare(self, value: str) -> bool:
        """Whether a value that comes next would stand outside of all strings."""
        begun = value.lstrip()[:1] in ("{", "[") if self._begun is None else self._begun
        return begun and not self._inside


_SIGN = re.compile(r'"|\\[\s\S]|\\\Z')
