"""Tool calls as a provider sends them, whole or in pieces, made into calls that can be judged.

A call counts only if its arguments are one strict JSON object. LangChain mends what is broken (a
cut-off object is closed, text after it dropped, a repeated key taken once); what would run would
then not be what the model wrote. Such a call becomes an invalid one, with its text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessageChunk, InvalidToolCall, ToolCall
from langchain_core.messages.tool import invalid_tool_call, tool_call, tool_call_chunk

from ..guards.normalise import parse_arguments

BROKEN = "not one JSON object: "
"""Put before the text of broken arguments in a stream, lest LangChain mend them."""


@dataclass(slots=True)
class RawCall:
    """One call as text. `extra` are fields that only the provider understands."""

    name: str = ""
    id: str | None = None
    arguments: str = ""
    extra: dict[str, Any] = field(default_factory=dict)


def judged(calls: Sequence[RawCall]) -> tuple[list[ToolCall], list[InvalidToolCall]]:
    """The calls whose arguments are in order, and the others with what is wrong with them."""
    good: list[ToolCall] = []
    bad: list[InvalidToolCall] = []
    for call in calls:
        arguments, fault = parse_arguments(call.arguments)
        if arguments is None or not call.name:
            why = fault or "the call has no name"
            bad.append(
                invalid_tool_call(name=call.name, args=call.arguments, id=call.id, error=why)
            )
        else:
            good.append(tool_call(name=call.name, args=arguments, id=call.id))
    return good, bad


def arguments_text(sent: object) -> str:
    """Arguments as the text that they should have been sent as: some servers send the object."""
    if sent is None or isinstance(sent, str):
        return sent or ""
    return json.dumps(sent)


@dataclass(slots=True)
class CallPieces:
    """The calls of one streamed answer, collected until they are whole."""

    calls: dict[object, RawCall] = field(default_factory=dict)

    def add(self, piece: Mapping[str, Any]) -> None:
        """Take a piece of a call: `index`, `id`, `name`, `arguments`, `extra`, each if present.

        Some servers send no index, or the same one for every call; a new id then starts a call.
        """
        key: object = piece.get("index")
        call_id = piece.get("id") or None
        known = self.calls.get(key) if key is not None else self._last()
        if known is None or (call_id and known.id and call_id != known.id):
            key = (key, call_id, len(self.calls)) if known else (key if key is not None else 0)
            known = RawCall()
            self._start(key, known, piece.get("index"))
        known.id = known.id or call_id
        name = piece.get("name") or ""
        # Some servers repeat the whole name with every piece.
        known.name = known.name if name == known.name else known.name + name
        known.arguments += piece.get("arguments") or ""
        known.extra.update(piece.get("extra") or {})

    def _start(self, key: object, call: RawCall, index: object) -> None:
        if index is not None and index in self.calls:
            self.calls[(index, "earlier", len(self.calls))] = self.calls.pop(index)
            key = index  # what follows under this index belongs to the new call
        self.calls[key] = call

    def _last(self) -> RawCall | None:
        return next(reversed(self.calls.values()), None)

    def whole(self) -> list[RawCall]:
        """The calls, in the order in which they began."""
        return list(self.calls.values())


def whole_chunk(calls: Sequence[RawCall]) -> AIMessageChunk:
    """All of an answer's calls as one chunk. Broken ones cannot be taken for good ones."""
    chunks = []
    for index, call in enumerate(calls):
        arguments, _ = parse_arguments(call.arguments)
        text = BROKEN + call.arguments if arguments is None else json.dumps(arguments)
        chunks.append(tool_call_chunk(name=call.name, args=text, id=call.id, index=index))
    return AIMessageChunk(content="", tool_call_chunks=chunks)


def sendable(arguments: object) -> str:
    """Arguments as they go back to a provider: servers that parse them fail on broken ones."""
    text = arguments if isinstance(arguments, str) else ""
    parsed, _ = parse_arguments(text)
    return "{}" if parsed is None or not text.strip() else text
