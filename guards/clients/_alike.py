"""Events of a stream that are like one before but for a piece of text: bytes in, bytes out.

Nearly every event of a stream is a few letters of the same text in the same frame. To parse each
as JSON and to write it anew costs several times what it takes to guard the letters. So a frame that
was parsed once is kept, with the place of its text; what stands in the same frame, byte for byte,
and holds nothing there but plain characters, says the same but for these.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from json.encoder import encode_basestring_ascii
from typing import Any

_TEXT, _SIGNS, _NUMBER = "text", "signs", "number"
"""What may stand in a gap: a piece of the text, letters and digits, a number."""

_FREE = {
    "obfuscation": _SIGNS,
    "p": _SIGNS,
    "sequence_number": _NUMBER,
    "created": _NUMBER,
}
"""Fields of an event that differ each time and that no guard reads."""

_DIGITS = re.compile(rb"0(?![0-9])|[1-9][0-9]{0,14}(?![0-9.eE])")
_VALUE = re.compile(rb'\s*:\s*"?')
_MOST_FRAMES = 4
_MOST_TRIES = 16
_LONGEST_FRAME = 4_000


@dataclass(frozen=True, slots=True)
class Word:
    """What an event was: a piece of a text, which others of its frame may continue.

    `path`: where in the event the text stands. `passed` gives what goes out in place of one more
    piece; None where the event has to be read whole, because things are no longer as they were.
    """

    path: tuple[str | int, ...]
    passed: Callable[[str], str | None]


@dataclass(slots=True, eq=False)
class _Frame:
    """Bytes that stay, each with what stands behind it; nothing behind the last."""

    parts: tuple[tuple[bytes, str], ...]
    passed: Callable[[str], str | None]
    _head: bytes = b""
    _tail: bytes = b""
    """What stood before and behind the text last: nearly always it does so again."""

    def text(self, raw: bytes) -> tuple[str, int, int] | None:
        """The text of an event of this frame, and where it stands; None for any other event.

        Raises:
            UnicodeDecodeError: it is no text.
        """
        start, end = len(self._head), len(raw) - len(self._tail)
        if not (0 < start <= end and raw.startswith(self._head) and raw.endswith(self._tail)):
            place = self._place(raw)
            if place is None:
                return None
            start, end = place
            self._head, self._tail = raw[:start], raw[end:]
        text = raw[start:end].decode()
        if '"' in text or "\\" in text or not text.isprintable():
            return None
        return text, start, end

    def _place(self, raw: bytes) -> tuple[int, int] | None:
        at, found = 0, None
        for stays, gap in self.parts:
            if not raw.startswith(stays, at):
                return None
            at += len(stays)
            if not gap:
                return found if at == len(raw) else None
            end = _end_of_digits(raw, at) if gap is _NUMBER else raw.find(b'"', at)
            if gap is _TEXT:
                found = at, end
            elif end < 0 or not raw[at:end].isalnum():
                return None
            at = end
        return None


def _end_of_digits(raw: bytes, at: int) -> int:
    match = _DIGITS.match(raw, at)
    return match.end() if match else -1


class Alike:
    """The frames of one stream."""

    __slots__ = ("_frames", "_tries")

    def __init__(self) -> None:
        self._frames: list[_Frame] = []
        self._tries = _MOST_TRIES

    def passed(self, raw: bytes) -> bytes | None:
        """What goes out in place of an event; None where it has to be read whole."""
        for frame in self._frames:
            try:
                found = frame.text(raw)
            except UnicodeDecodeError:
                return None
            if found is None:
                continue
            text, start, end = found
            out = frame.passed(text) if text else None
            if out is None or out == text:
                return None if out is None else raw
            return raw[:start] + _written(out) + raw[end:] if out else b""
        return None

    def learn(self, raw: bytes, text: bytes, word: Word) -> None:
        """Keep the frame of an event (`text` is its JSON), where it can be told for certain."""
        if self._tries <= 0 or len(raw) > _LONGEST_FRAME:
            return
        self._tries -= 1
        parts = _parts(raw, text, word.path)
        if parts is not None:
            self._frames = [_Frame(parts, word.passed), *self._frames[: _MOST_FRAMES - 1]]


def _written(text: str) -> bytes:
    return encode_basestring_ascii(text)[1:-1].encode()


_Parts = tuple[tuple[bytes, str], ...]
_Gap = tuple[int, int, str, tuple[str | int, ...]]
"""Start, end, what may stand there, and where that is in the event."""


def _parts(raw: bytes, text: bytes, path: tuple[str | int, ...]) -> _Parts | None:
    """The frame, cut at its gaps; None where it cannot be told where they are."""
    offset = raw.find(text)
    if offset < 0:
        return None
    free = [gap for name, kind in _FREE.items() for gap in _free(text, name, kind)]
    for words in _candidates(text, path):
        gaps = sorted([words, *free], key=lambda gap: gap[:2])
        if not _differ_there(text, gaps):
            continue
        parts: list[tuple[bytes, str]] = []
        done = 0
        for start, end, kind, _ in gaps:
            parts.append((raw[done : offset + start], kind))
            done = offset + end
        return (*parts, (raw[done:], ""))
    return None


def _free(text: bytes, name: str, kind: str) -> Iterator[_Gap]:
    """The place of a free field, where its name stands once in the text."""
    key = f'"{name}"'.encode()
    found = _VALUE.match(text, text.find(key) + len(key)) if text.count(key) == 1 else None
    if found is None or found[0].endswith(b'"') is not (kind is _SIGNS):
        return
    start = found.end()
    end = text.find(b'"', start) if kind is _SIGNS else _end_of_digits(text, start)
    if text[start : max(end, start)].isalnum():
        yield start, end, kind, (name,)


def _candidates(text: bytes, path: tuple[str | int, ...]) -> Iterator[_Gap]:
    """Where in the JSON text the value at `path` can stand, the last place first."""
    value = _at(json.loads(text), path)
    if not isinstance(value, str) or not value or not value.isprintable():
        return  # half a character is not printable either
    if "\\" in value or '"' in value:
        return
    written = value.encode()
    at = len(text)
    for _ in range(4):
        at = text.rfind(b'"' + written + b'"', 0, at)
        if at < 0:
            return
        yield at + 1, at + 1 + len(written), _TEXT, path


def _differ_there(text: bytes, gaps: list[_Gap]) -> bool:
    """Whether other values in the gaps make an event that differs there and nowhere else."""
    expected = json.loads(text)
    pieces: list[bytes] = []
    done = 0
    for start, end, _, path in gaps:
        value = _at(expected, path)
        other = 7355608 if isinstance(value, int) else "edgeward"
        if start < done or value is None:
            return False
        pieces += [text[done:start], str(other).encode()]
        done = end
        _at(expected, path[:-1])[path[-1]] = other
    try:
        return bool(json.loads(b"".join([*pieces, text[done:]])) == expected)
    except ValueError:
        return False


def _at(value: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        held = isinstance(value, dict) or (isinstance(value, list) and isinstance(step, int))
        value = value[step] if held else None
    return value
