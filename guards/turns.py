"""A conversation as plain turns: what every vendor's messages are translated into."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from .caller import Caller
from .verdict import canonical_json


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
        start = hashlib.blake2b(start + _told(turn).encode("utf-8", "surrogatepass")).digest()
        found.append(start)
    return found


def _told(turn: Turn) -> str:
    """A turn as a text, each part with its length before it."""
    if isinstance(turn, UserText):
        return f"4:user{len(turn.text)}:{turn.text}"
    if isinstance(turn, ToolResult):
        parts: tuple[str, ...] = ("result", turn.call_id, turn.text, f"{turn.failed}")
    else:
        parts = ("model", *(part for call in turn.calls for part in _call_parts(call)))
    return "".join([f"{len(part)}:{part}" for part in parts])


def _call_parts(call: Proposed) -> Iterable[str]:
    if isinstance(call.arguments, str):
        return (call.name, call.id, "text", call.arguments)
    try:
        return (call.name, call.id, "json", canonical_json(call.arguments))
    except (TypeError, ValueError, RecursionError):
        return (call.name, call.id, "none", repr(type(call.arguments)))
