"""Server-sent events, cut out of bytes as they come and put together again.

Only framing: what an event means is for whoever knows the vendor. Each byte is looked at once,
however small the pieces are in which a stream arrives.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

_END = re.compile(rb"\r\n\r\n|\n\n|\r\r")
DONE = b"[DONE]"
_SAYS_NOTHING = (b":", b"event:", b"id:", b"retry:")
_ENCODED = json.JSONEncoder(separators=(",", ":")).encode

Rewrite = Callable[[dict[str, Any]], "list[dict[str, Any]] | None"]
"""An event's data -> the data of those that go out in its place; None: it goes out as it came."""


class EventReader:
    """Bytes in, the events among them out, as raw as they came."""

    __slots__ = ("_from", "_held")

    def __init__(self) -> None:
        self._held = bytearray()
        self._from = 0

    @property
    def between(self) -> bool:
        """Whether nothing has come of the next event yet."""
        return not self._held

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The events that are whole now."""
        self._held += data
        done = 0
        while found := _END.search(self._held, self._from):
            raw = bytes(self._held[done : found.end()])
            self._from = done = found.end()
            yield raw
        if done:
            del self._held[:done]
        self._from = max(len(self._held) - 3, 0)

    def rest(self) -> bytes:
        """What is left at the end: clients take it for an event, too."""
        raw = bytes(self._held)
        self._held.clear()
        self._from = 0
        return raw


def data_of(raw: bytes) -> bytes | None:
    """The lines of data of an event, joined; None for what has none (comments)."""
    if raw.startswith(b"data: ") and raw.find(b"\n") == len(raw) - 2 and 0x0D not in raw:
        return raw[6:-2]  # one line, as nearly all are
    if raw.startswith(b"event: ") and raw.count(b"\n") == 3 and 0x0D not in raw:
        at = raw.find(b"\n") + 1
        if raw.startswith(b"data: ", at):
            return raw[at + 6 : -2]  # one line behind its event's name
    lines = [line[5:].removeprefix(b" ") for line in raw.splitlines() if line.startswith(b"data:")]
    return b"\n".join(lines) if lines else None


def is_silent(raw: bytes) -> bool:
    """Whether what has no data says nothing: comments, names, and no body that is no stream."""
    return all(line.strip() == b"" or line.startswith(_SAYS_NOTHING) for line in raw.splitlines())


def framed(data: Mapping[str, Any], *, named: bool) -> bytes:
    """An event with this data; `named`: with its type as the event's name, too."""
    text = _ENCODED(data).encode()
    name = str(data.get("type", "")).encode() if named else b""
    head = b"event: " + name + b"\n" if name and not set(name) & set(b"\r\n") else b""
    return head + b"data: " + text + b"\n\n"
