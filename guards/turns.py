"""A conversation as plain turns: what every vendor's messages are translated into."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from .caller import Caller
from .verdict import canonical_json

DIGESTED_FROM = 64
"""Characters of a text that is known by its digest."""

_MOST_CHARS = 8_192
"""Characters of a text whose digest is remembered for a while."""


@dataclass(frozen=True, slots=True)
class Proposed:
    """A call as it stands in a message; `arguments`: the text that a model wrote, or a mapping."""

    name: str
    arguments: str | Mapping[str, object] = ""
    id: str = ""


@dataclass(frozen=True, slots=True)
class UserText:
    """What the user wrote. A new one begins a new run: calls are counted from here."""

    text: str


@dataclass(frozen=True, slots=True)
class ModelTurn:
    """The calls that a reply of the model proposed, as far as they were let through."""

    calls: tuple[Proposed, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call gave back, as the model reads it.

    `failed`: the tool said that it went wrong; then nothing in it is believed.
    """

    call_id: str
    text: str
    failed: bool = False


Turn = UserText | ModelTurn | ToolResult


@lru_cache(maxsize=256)
def digest_of(caller: Caller, after: str = "") -> bytes:
    """Where the digests of a caller's conversations begin."""
    parts = ("after", after, caller.user, caller.tenant, *caller.roles)
    return digests(b"", [ModelTurn(tuple(Proposed(part) for part in parts))])[0]


def digests(start: bytes, turns: Sequence[Turn]) -> list[bytes]:
    """The digest of every prefix of the turns, each of which continues the one before."""
    found = []
    for turn in turns:
        start = hashlib.blake2b(start + _told(turn)).digest()
        found.append(start)
    return found


def text_digest(text: str) -> bytes:
    """The digest of a text: a program sends the same ones again with every turn."""
    return _known_digest(text) if len(text) <= _MOST_CHARS else _digest(text)


def known_by(text: str) -> str | bytes:
    """What stands for a text where it is to be known again: its digest, if it is long."""
    return text if len(text) < DIGESTED_FROM else text_digest(text)


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


_known_digest = lru_cache(maxsize=512)(_digest)


def _told(turn: Turn) -> bytes:
    if isinstance(turn, UserText):
        return b"user" + _part(turn.text)
    if isinstance(turn, ToolResult):
        failed = b"failed" if turn.failed else b"result"
        return failed + _part(turn.call_id) + _part(turn.text)
    parts = [_part(part) for call in turn.calls for part in _call_parts(call)]
    return b"".join([b"model", *parts])


def _part(text: str) -> bytes:
    """A text, of which the first byte says how long it is, or that it is a digest."""
    if len(text) >= DIGESTED_FROM:
        return b"#" + text_digest(text)
    return f"{len(text)}:{text}".encode("utf-8", "surrogatepass")


def _call_parts(call: Proposed) -> Iterable[str]:
    if isinstance(call.arguments, str):
        return (call.name, call.id, "text", call.arguments)
    try:
        return (call.name, call.id, "json", canonical_json(call.arguments))
    except (TypeError, ValueError, RecursionError):
        return (call.name, call.id, "none", repr(type(call.arguments)))
