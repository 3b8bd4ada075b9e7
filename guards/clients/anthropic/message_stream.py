"""A message that comes as events: text flows on, a call waits until it is whole.

Events in, events out. What belongs to a call is kept until its block ends, judged, and then sent on
with the judged arguments in one piece, or not at all. What comes meanwhile waits behind it, so that
the order stays; blocks are numbered anew. Text goes through a holdback, which keeps back what could
still become part of a secret. The event that says why the message ends is put right.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ...streamed import Streamed
from .._alike import Word
from .._cut_off import CUT_OFF, estimated_tokens
from .._exchange import Exchange
from .._reply import StreamedReply
from .blocks import USED, Blocks, tokens_of, usage_of
from .message import MessageReply
from .turns import CONTENT, is_call, is_named_call, proposed

Event = dict[str, Any]

_LOG = logging.getLogger("edgeward.guards")

_PASSED = ("ping", "error")
_SIGNED = ("thinking_delta", "signature_delta", "compaction_delta")
"""What has to be sent back as it came."""


@dataclass
class _Call:
    """The events of a call's block so far."""

    start: Event
    pieces: list[str] = field(default_factory=list)
    whole: bool = False

    @property
    def judgeable(self) -> tuple[Any, str]:
        """The block, and the text of its arguments."""
        return self.start.get("content_block"), "".join(self.pieces)


class MessageStream(StreamedReply):
    """A message in flight, streamed."""

    unstreamed = MessageReply

    def __init__(self, body: Mapping[str, Any], exchange: Exchange) -> None:
        super().__init__(body, exchange)
        self._blocks = Blocks(body, exchange)
        self._numbers: dict[Any, int] = {}
        """Which position a block has that the provider gave another, while it is open."""
        self._next = 0
        self._texts: dict[Any, Any] = {}
        """A holdback for each open text."""
        self._waiting: list[_Call | Event] = []
        self._open: dict[Any, _Call] = {}
        self._usage: dict[str, int] = {}
        self._id: Any = None
        self._withheld = False

    def event(self, data: Event) -> list[Event] | None:
        """The events that go out in place of one; None: it goes out as it came."""
        if not data or data.get("type") in _PASSED:
            return None
        out = self._word(data)
        if out is None:
            out = list(self._event(data))
        return None if len(out) == 1 and out[0] is data else out

    def end(self, *, finished: bool) -> list[Event]:
        """What is not whole by now goes nowhere; what is left of texts does."""
        if self._seen:
            return []
        out = [tail for index in list(self._texts) for tail in self._tail(index)]
        for call in self._waiting:
            if isinstance(call, _Call):
                self.exchange.refuse([proposed(*call.judgeable)], CUT_OFF)
        self._waiting, self._open = [], {}
        self._add_tokens()
        self._blocks.remember(self._id)
        self._seen = True
        return out

    def _event(self, data: Event) -> Iterator[Event]:
        kind, index = data.get("type"), _index(data)
        if kind == "content_block_start" and is_call(data.get("content_block")):
            self._open[index] = call = _Call(data)
            self._waiting.append(call)
        elif index is not None and index in self._open:
            self._collect(self._open[index], data, index)
        elif kind in ("message_delta", "message_stop"):
            yield from self._released()
            yield from self._closing(data)
        elif self._waiting:
            self._waiting.append(data)
        else:
            yield from self._plain(data)
        if self._waiting and not self._open and self.exchange.one_by_one:
            yield from self._released()

    def _word(self, data: Event) -> list[Event] | None:
        """The way of nearly all events, which are a word of an open text; None for all others."""
        index, delta = data.get("index"), data.get("delta")
        if self._waiting or type(index) is not int or type(delta) is not dict:
            return None
        text = delta.get("text")
        if index not in self._texts or delta.get("type") != "text_delta" or type(text) is not str:
            return None
        known = data.get("type") == "content_block_delta"
        return self._more(data, index, delta, text) if known else None

    def word(self, data: Event) -> Word | None:
        """Whether an event was a piece of a text and nothing else."""
        index, delta = data.get("index"), data.get("delta")
        if self._waiting or type(index) is not int or type(delta) is not dict:
            return None
        known = data.get("type") == "content_block_delta" and delta.get("type") == "text_delta"
        if index not in self._texts or not known or self._numbers.get(index) != index:
            return None
        more: Callable[[str], str | None] = partial(self._passed, index, self._texts[index])
        return Word(("delta", "text"), more)

    def _passed(self, index: int, held: Streamed, text: str) -> str | None:
        """What may go out of one more piece of a text that is open; None where it is not."""
        if self._waiting or self._texts.get(index) is not held:
            return None
        self._chars += len(text)
        passed: str = held.feed(text)
        if not self._blocks.said and passed:
            self._blocks.said = bool(passed.strip())
        return passed

    def _more(self, data: Event, index: Any, delta: Event, text: str) -> list[Event]:
        """A piece of a text: what may go out now."""
        self._chars += len(text)
        held = self._texts.get(index)
        if held is None:
            held = self._texts[index] = self.exchange.holdback()
        passed: str = held.feed(text)
        if not passed:
            return []
        self._blocks.said = self._blocks.said or bool(passed.strip())
        number = self._numbers[index]
        if passed == text and number == data.get("index") and len(data) + len(delta) == 5:
            return [data]
        piece = {"type": "text_delta", "text": passed}
        return [{"type": "content_block_delta", "index": number, "delta": piece}]

    def _collect(self, call: _Call, data: Event, index: int) -> None:
        given = data.get("delta")
        piece = given.get("partial_json") if isinstance(given, Mapping) else None
        if isinstance(piece, str):
            call.pieces.append(piece)
            self._chars += len(piece)
        if data.get("type") == "content_block_stop":
            call.whole = True
            del self._open[index]

    def _released(self) -> Iterator[Event]:
        """The calls that waited, judged, and what waited behind them."""
        waiting, self._waiting, self._open = self._waiting, [], {}
        calls = [one for one in waiting if isinstance(one, _Call)]
        for call in calls:
            if not call.whole:
                self._blocks.refused(call.start.get("content_block"))
                self.exchange.refuse([proposed(*call.judgeable)], CUT_OFF)
        self.exchange.estimate(self._chars)
        judged = iter(self._blocks.judged([call.judgeable for call in calls if call.whole]))
        for one in waiting:
            if not isinstance(one, _Call):
                yield from self._plain(one)
            elif one.whole:
                passed = next(judged)
                if passed is not None:
                    yield from self._call(one.start, *passed)

    def _call(self, start: Event, block: dict[str, Any], arguments: str) -> Iterator[Event]:
        """The events of a call that stays."""
        index = self._next
        self._next += 1
        spelled = arguments if is_named_call(block) else ""
        begun = {**block, "input": {}} if spelled else block
        yield {**start, "index": index, "content_block": begun}
        if spelled:
            delta = {"type": "input_json_delta", "partial_json": spelled}
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}

    def _plain(self, data: Event) -> Iterator[Event]:
        kind, index = data.get("type"), _index(data)
        if kind == "message_start":
            yield self._begun(data)
        elif kind == "content_block_start":
            yield from self._started(data, index)
        elif index not in self._numbers:
            if kind not in ("content_block_delta", "content_block_stop"):
                self._withhold()
        elif kind == "content_block_delta":
            yield from self._delta(data, index)
        elif kind == "content_block_stop":
            yield from self._tail(index)
            yield self._numbered(data, index)
            del self._numbers[index]

    def _begun(self, data: Event) -> Event:
        given = data.get("message")
        message = given if isinstance(given, dict) else {}
        self._id = message.get("id")
        self._count(message.get("usage"), first=True)
        if not message.get("content"):
            return data
        content = message["content"]
        kept = self._blocks.passed(content if isinstance(content, list) else [content])
        self._next = len(kept)
        return {**data, "message": {**message, "content": kept}}

    def _started(self, data: Event, index: Any) -> Iterator[Event]:
        given: dict[str, Any] = data["content_block"]
        self._texts.pop(index, None)
        self._numbers.pop(index, None)
        text = given.get("text") if given.get("type") == "text" else None
        new = self._blocks.plain({**given, "text": ""} if text else given)
        if new is None:
            return
        self._numbers[index] = self._next
        self._next += 1
        yield self._numbered(data, index, **({} if new is given else {"content_block": new}))
        if isinstance(text, str) and text:
            delta = {"type": "text_delta", "text": text}
            yield from self._delta({"type": "content_block_delta", "delta": delta}, index)

    def _delta(self, data: Event, index: Any) -> Iterator[Event]:
        given = data.get("delta")
        delta = given if isinstance(given, dict) else {}
        kind, text = delta.get("type"), delta.get("text")
        if kind in _SIGNED:
            self._chars += len(str(delta.get("thinking") or ""))
            yield self._numbered(data, index)
        elif kind == "text_delta" and isinstance(text, str):
            yield from self._more(data, index, delta, text)
        elif kind == "citations_delta":
            yield self._numbered(data, index, delta=self._blocks.inbound(delta))
        elif kind != "input_json_delta":  # that is a call's, and this block is none
            self._withhold()

    def _withhold(self) -> None:
        if not self._withheld:
            _LOG.warning("events of a kind that is not known were withheld")
        self._withheld = True

    def _tail(self, index: Any) -> Iterator[Event]:
        """What was held back of a text that ends."""
        held = self._texts.pop(index, None)
        tail = held.close() if held is not None else ""
        if tail:
            self._blocks.said = self._blocks.said or bool(tail.strip())
            delta = {"type": "text_delta", "text": tail}
            yield self._numbered({"type": "content_block_delta", "delta": delta}, index)

    def _numbered(self, data: Event, index: Any, **changes: Any) -> Event:
        """The event with the position that its block has now."""
        number = self._numbers[index]
        if number != data.get("index"):
            changes["index"] = number
        return {**data, **changes} if changes else data

    def _closing(self, data: Event) -> Iterator[Event]:
        if data.get("type") == "message_stop":
            yield from self.end(finished=True)
            yield {**data, "firewall": self.firewall}
            return
        self._count(data.get("usage"), first=False)
        message = self._blocks.block_message
        if message is not None:
            yield from self._told(message)
        delta = data.get("delta")
        given = delta.get("stop_reason") if isinstance(delta, dict) else None
        reason = self._blocks.stop_reason(given)
        same = reason == given or not isinstance(delta, dict)
        yield data if same else {**data, "delta": {**(delta or {}), "stop_reason": reason}}

    def _told(self, message: dict[str, Any]) -> Iterator[Event]:
        """The events of a text block that is put in."""
        index = self._next
        self._next += 1
        self._blocks.said = True
        begun = {**message, "text": ""}
        yield {"type": "content_block_start", "index": index, "content_block": begun}
        delta = {"type": "text_delta", "text": message["text"]}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}

    def _add_tokens(self) -> None:
        read = tokens_of(self._usage)
        if read and "output_tokens" in self._usage:
            self.tokens = read
        else:
            self.estimated = True
            asked = None if read else [self.body.get(name) for name in CONTENT]
            self.tokens = (read or 0) + estimated_tokens(self._chars, asked)
        usage = None if self.estimated else usage_of(self._usage, self.body.get("model"))
        self.exchange.add_tokens(self.tokens, usage=usage)

    def _count(self, usage: Any, *, first: bool) -> None:
        """Counts are totals: a later one takes the place of an earlier one."""
        for name in USED:
            count = usage.get(name) if isinstance(usage, Mapping) else None
            if isinstance(count, int) and not (first and name == "output_tokens"):
                self._usage[name] = count


def _index(data: Event) -> int | None:
    index = data.get("index")
    return index if isinstance(index, int) else None
