"""One streamed reply of a chat model, piece by piece: what may be heard of it, and when (I8).

Text goes on as soon as it cannot become part of a secret any more. A proposed call, and whatever
else has to be whole before it can be looked at, comes with the last piece. LangChain adds up what
comes out to what `masked_reply` makes of the whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..holdback import Holdback
from ..redact import Redactor
from .reply import CALLS, WITHHELD, Withheld, masked_block, masked_fields, masked_json, note

if TYPE_CHECKING:
    from langchain_core.messages import AIMessageChunk
    from langchain_core.outputs import ChatGenerationChunk

_THOUGHTS = frozenset({"thinking", "redacted_thinking"})
"""Signed by their provider: they go on as they are, here as in the whole message."""

_NO_TEXT = object()


class HeldReply:
    """One reply on its way out."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._text: Holdback | None = None
        self._key: object = _NO_TEXT
        """Of which text that is: the index of its block; None for content that is one text."""
        self._fields: dict[str, Holdback] = {}
        self._later: list[AIMessageChunk] = []
        self._begun: set[object] = set()
        self._id: str | None = None
        self._blocks = False
        self._any = False

    def feed(self, chunk: ChatGenerationChunk) -> Iterator[ChatGenerationChunk]:
        """What may be heard once this piece has come."""
        message: Any = chunk.message
        self._any = True
        self._id = message.id or self._id
        self._hold(message)
        changes = {
            "content": self._content(message.content),
            "additional_kwargs": self._extra(message.additional_kwargs),
            "tool_call_chunks": [],
            "tool_calls": [],
            "invalid_tool_calls": [],
            "chunk_position": None,
        }
        piece = message.model_copy(update=changes)
        beside = (piece.additional_kwargs, piece.response_metadata, piece.usage_metadata)
        if piece.content or any(beside) or chunk.generation_info:
            yield self._chunk(piece, chunk.generation_info)

    def close(self) -> Iterator[ChatGenerationChunk]:
        """The rest: the reply has ended."""
        from langchain_core.messages import AIMessageChunk

        if not self._any:
            return
        rest = self._flushed()
        if rest and self._key is None and not self._blocks:
            yield self._chunk(AIMessageChunk(content=rest[0], id=self._id))
            rest = []
        extra = {name: tail for name, held in self._fields.items() if (tail := held.close())}
        last = self._whole_rest()
        content: Any = [*rest, *last.content] if self._blocks else ""
        fields = masked_fields(last.additional_kwargs, self._redactor)
        withheld: Withheld = {}
        calls = [self._call(call, withheld) for call in last.tool_call_chunks]
        if withheld:
            fields[WITHHELD] = withheld
        made = AIMessageChunk(
            content=content,
            additional_kwargs={**fields, **extra},
            tool_call_chunks=calls,
            id=self._id,
            chunk_position="last",
        )
        yield self._chunk(made)

    def _chunk(self, message: Any, info: dict[str, Any] | None = None) -> ChatGenerationChunk:
        from langchain_core.outputs import ChatGenerationChunk

        return ChatGenerationChunk(message=message, generation_info=info)

    def _hold(self, message: AIMessageChunk) -> None:
        """Keep of the message what has to be whole."""
        from langchain_core.messages import AIMessageChunk

        blocks = [block for block in _listed(message.content) if _waits(block)]
        extra = {k: v for k, v in message.additional_kwargs.items() if not isinstance(v, str)}
        if blocks or extra or message.tool_call_chunks:
            kept = AIMessageChunk(
                content=blocks, additional_kwargs=extra, tool_call_chunks=message.tool_call_chunks
            )
            self._later.append(kept)

    def _whole_rest(self) -> AIMessageChunk:
        from langchain_core.messages import AIMessageChunk
        from langchain_core.messages.ai import add_ai_message_chunks

        whole = add_ai_message_chunks(AIMessageChunk(content=[]), *self._later)
        content = [masked_block(block, self._redactor) for block in _listed(whole.content)]
        # What was told of a block when it began is not told twice.
        told = [
            {k: v for k, v in block.items() if k != "type"} if self._told(block) else block
            for block in content
        ]
        return whole.model_copy(update={"content": told})

    def _told(self, block: Any) -> bool:
        return ("block", block.get("index")) in self._begun

    def _content(self, content: Any) -> Any:
        if isinstance(content, str):
            return self._said(None, content) if content else ""
        self._blocks = True
        out: list[Any] = []
        for block in content:
            if isinstance(block, str):
                out += self._block(None, block, {})
            elif _is_text(block):
                out += self._block(block.get("index"), block["text"], block)
            else:
                out += self._flushed()
                out += [self._beginning(block)] if _waits(block) else [block]
        return [block for block in out if block is not None]

    def _block(self, key: object, text: str, block: dict[str, Any]) -> list[Any]:
        before = self._flushed() if self._key is not key and self._key != key else []
        shown = self._said(key, text)
        if not block:
            return [*before, shown] if shown else before
        beside = block.keys() - {"type", "text", "index"}
        return [*before, {**block, "text": shown}] if shown or beside else before

    def _said(self, key: object, text: str) -> str:
        if self._text is None:
            self._text, self._key = Holdback(self._redactor, kinds=("secrets",)), key
        return self._text.feed(text)

    def _flushed(self) -> list[Any]:
        """The end of the text that waits, as a list of what to show: it has ended here."""
        if self._text is None:
            return []
        rest, self._text = self._text.close(), None
        if not rest:
            return []
        if self._key is None:
            return [rest]
        return [{"type": "text", "text": rest, "index": self._key}]

    def _beginning(self, block: dict[str, Any]) -> dict[str, Any] | None:
        """What holds a block's place until it is whole. Calls come last anyway."""
        index = block.get("index")
        key = ("block", index)
        placed = isinstance(index, int) or (isinstance(index, str) and index.startswith("lc_"))
        if not placed or key in self._begun or block.get("type") in _CALL_PIECES:
            return None
        self._begun.add(key)
        return {"type": block.get("type"), "index": index}

    def _extra(self, fields: dict[str, Any]) -> dict[str, Any]:
        out = {}
        for name, value in fields.items():
            if isinstance(value, str):
                held = self._fields.get(name)
                if held is None:
                    held = self._fields[name] = Holdback(self._redactor, kinds=("secrets",))
                if shown := held.feed(value):
                    out[name] = shown
        return out

    def _call(self, call: Any, withheld: Withheld) -> Any:
        shown, labels = masked_json(call["args"] or "", self._redactor)
        if labels:
            note(withheld, call["id"], labels)
        return {**call, "args": shown, "name": self._redactor.secrets(call["name"] or "")[0]}


_CALL_PIECES = CALLS | {"input_json_delta", "tool_call_chunk"}


def _listed(content: Any) -> list[Any]:
    return [] if isinstance(content, str) else [b for b in content if isinstance(b, dict)]


def _is_text(block: Any) -> bool:
    return block.get("type") == "text" and isinstance(block.get("text"), str)


def _waits(block: dict[str, Any]) -> bool:
    return not _is_text(block) and block.get("type") not in _THOUGHTS
