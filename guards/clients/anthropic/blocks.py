"""The content blocks of one reply: each is judged or masked once, and goes out or does not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...spent import Usage
from .._exchange import Exchange
from . import turns
from .turns import CALL, is_call, is_result, proposed, turns_of_reply, with_arguments

Block = dict[str, Any]

USED = (
    "input_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
    "output_tokens",
)
"""The counts in a reply's `usage`, none of which is part of another."""


_OF_A_TEXT = frozenset({"type", "text", "citations"})


class Blocks:
    """What becomes of the blocks of a reply, and what that makes of the reply."""

    def __init__(self, body: Mapping[str, Any], exchange: Exchange) -> None:
        self.exchange = exchange
        self.said = False
        """Whether there is text that a reader sees."""
        self._body = body
        self._refused: list[Any] = []
        self._refused_ids: set[str] = set()
        self._kept: list[Block] = []
        """Calls and results that stay."""

    def passed(self, content: Sequence[Any]) -> list[Block]:
        """The blocks of a whole reply as they go out."""
        calls = [block for block in content if is_call(block)]
        judged = iter(self.judged([(block, "") for block in calls]))
        out = []
        for given in content:
            if is_call(given):
                call = next(judged)
                block = None if call is None else call[0]
            else:
                block = self.plain(given)
            if block is not None:
                out.append(block)
        return out

    def judged(self, calls: Sequence[tuple[Any, str]]) -> list[tuple[Block, str] | None]:
        """Calls as they go out, each with the text of its arguments; None for those that do not.

        Each is a block and, from a stream, the text that spells out its arguments. Where there is
        no text, they are in the block.
        """
        verdicts = self.exchange.judge(proposed(block, text) for block, text in calls)
        made: list[tuple[Block, str] | None] = []
        for (block, text), verdict in zip(calls, verdicts, strict=True):
            if not verdict.keep:
                self.refused(block)
                made.append(None)
                continue
            arguments = text if verdict.arguments is None else verdict.arguments
            new = with_arguments(block, arguments) if arguments else block
            self._kept.append(new)
            made.append((new, arguments))
        return made

    def refused(self, block: Any) -> None:
        """Note a call that does not go out: what it gave back will not, either."""
        given = block if isinstance(block, Mapping) else {}
        self._refused.append(given)
        self._refused_ids.add(_id_of(given, "id"))

    def plain(self, block: Block) -> Block | None:
        """A block that is no call, masked; None for what a refused call gave back."""
        kind = block["type"]
        if kind in turns.SIGNED:
            return block
        if kind == "text":
            return self._text(block)
        if is_result(block):
            if _id_of(block, "tool_use_id") in self._refused_ids:
                return None
            block = self.inbound(block)
            self._kept.append(block)
        return block

    def _text(self, block: Block) -> Block:
        text = block.get("text")
        masked = self.exchange.masked(text) if isinstance(text, str) else text
        self.said = self.said or bool(isinstance(masked, str) and masked.strip())
        new = block if masked == text else {**block, "text": masked}
        if block.keys() - _OF_A_TEXT:
            new |= self.inbound({k: v for k, v in block.items() if k not in _OF_A_TEXT})
        return {**new, "citations": self.inbound(new["citations"])} if new.get("citations") else new

    def inbound(self, value: Any) -> Any:
        """Data that holds others' words (results, citations), masked as in a request."""
        return self.exchange.masked_data(value)

    @property
    def block_message(self) -> Block | None:
        """The block to put in where everything was refused and nothing was said."""
        if not self._emptied or self._wants_structure:
            return None
        return {"type": "text", "text": self.exchange.policy.block_message, "citations": None}

    @property
    def _emptied(self) -> bool:
        return bool(self._refused) and not self.said and not self._kept

    @property
    def _wants_structure(self) -> bool:
        """Whether a structured answer is asked for, which is no place for prose."""
        config = self._body.get("output_config")
        wanted = config.get("format") if isinstance(config, Mapping) else None
        return bool(wanted or self._body.get("output_format"))

    def stop_reason(self, given: Any) -> Any:
        """Why the reply ends, now that calls are gone: no call follows where none is left."""
        if not self._refused:
            return given
        if self._emptied and self._wants_structure:
            return "refusal"
        if given == "tool_use" and not any(block.get("type") == CALL for block in self._kept):
            return "end_turn"
        if given == "pause_turn" and any(call.get("type") != CALL for call in self._refused):
            return "end_turn"  # to go on would run the refused call again
        return given

    def remember(self, reply_id: Any) -> None:
        """Let a later request follow the reply where the provider keeps the conversation."""
        if self._body.get("thread") and isinstance(reply_id, str):
            self.exchange.remember(reply_id, turns_of_reply(self._kept))


def _id_of(block: Mapping[str, Any], name: str) -> str:
    found = block.get(name)
    return found if isinstance(found, str) else ""


def tokens_of(usage: Any) -> int | None:
    """The tokens that a reply says it used; None where it says none: no call is free."""
    if not isinstance(usage, Mapping):
        return None
    found = [usage.get(name) for name in USED]
    return sum(count for count in found if isinstance(count, int) and count > 0) or None


def usage_of(usage: Any, model: Any) -> Usage | None:
    """The same, by what was read and written: the provider's cache counts as read."""
    if tokens_of(usage) is None:
        return None
    fresh, made, cached, written = (
        max(count, 0) if isinstance(count := usage.get(name), int) else 0 for name in USED
    )
    named = model if isinstance(model, str) else ""
    return Usage(fresh + made + cached, written, cached, named)
