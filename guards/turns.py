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
        told = [_told(part) for part in _parts(turn)]
        start = hashlib.blake2b(b"".join([start, *told])).digest()
        found.append(start)
    return found


def text_digest(text: str) -> bytes:
    """The digest of a text: a program sends the same ones again with every turn."""
    return _known_digest(text) if len(text) <= _MOST_CHARS else _digest(text)


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=32).digest()


_known_digest = lru_cache(maxsize=512)(_digest)


def _told(part: str) -> bytes:
    """A part, of which its first byte says how long it is, and whether it is a digest."""
    if len(part) >= DIGESTED_FROM:
        return b"#" + text_digest(part)
    return f"{len(part)}:{part}".encode("utf-8", "surrogatepass")


def _parts(turn: Turn) -> Iterable[str]:
    if isinstance(turn, UserText):
        return ("user", turn.text)
    if isinstance(turn, ToolResult):
        return ("result", turn.call_id, turn.text, f"{turn.failed}")
    return ("model", *(part for call in turn.calls for part in _call_parts(call)))


def _call_parts(call: Proposed) -> Iterable[str]:
    if isinstance(call.arguments, str):
        return (call.name, call.id, "text", call.arguments)
    try:
        return (call.name, call.id, "json", canonical_json(call.arguments))
    except (TypeError, ValueError, RecursionError):
        return (call.name, call.id, "none", repr(type(call.arguments)))
