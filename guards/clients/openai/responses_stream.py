"""A response of the Responses API that comes as events: text flows on, a call's events wait.

The events of an item that is a call are kept until the item is done, judged, and then sent on with
the judged arguments, or not at all. Items that come meanwhile wait behind it, so that the order
stays; they are numbered anew. The closing event holds exactly the items that went out.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from math import inf
from typing import Any

from .._alike import Word
from .._cut_off import CUT_OFF, estimated_tokens
from .._exchange import Exchange
from .._reply import StreamedReply
from . import items
from .chat import spelled, usage_of
from .response_events import Event, Text, begun_call, place_of, told, unlogged
from .responses import CONTENT, ResponseItems, ResponseReply, tokens_of

_LOG = logging.getLogger("edgeward.guards")

_OPENING = ("response.created", "response.in_progress", "response.queued")
_CLOSING = ("response.completed", "response.incomplete", "response.failed")
_DELTAS = {
    "response.output_text.delta": "text",
    "response.refusal.delta": "refusal",
    "response.audio.transcript.delta": "transcript",
}
_DONES = {
    "response.output_text.done": "text",
    "response.refusal.done": "refusal",
    "response.audio.transcript.done": "transcript",
}
_WRITTEN = ("arguments", "input", "code")
"""The fields in which a call's events spell out what it is called with."""
_PLAIN = (
    "response.audio.delta",
    "response.audio.done",
    "response.reasoning",
    "response.mcp_list_tools",
    "response.compaction",
    "keepalive",
    "error",
)
"""Events without the model's words, by how their type begins. Reasoning stays as it is."""
_STEPS = tuple(
    f"response.{kind}."
    for kind in """mcp_call code_interpreter_call web_search_call file_search_call
    image_generation_call""".split()  # noqa: SIM905 - reads better
)
"""Events that tell how far a call of the provider's own has come."""


class ResponseStream(StreamedReply):
    """A response in flight, streamed."""

    unstreamed = ResponseReply

    def __init__(self, body: Mapping[str, Any], exchange: Exchange) -> None:
        super().__init__(body, exchange)
        self._items = ResponseItems(body, exchange)
        self._texts: dict[tuple[Any, Any, str], Text] = {}
        self._numbers: dict[Any, int] = {}
        """Which position an item has that the provider gave another."""
        self._final: dict[Any, dict[str, Any] | None] = {}
        """The items as they went out, by the provider's position; None: not at all."""
        self._held: list[Event] = []
        self._waiting: list[Event] = []
        self._withheld = False

    def event(self, data: Event) -> list[Event] | None:
        """The events that go out in place of one; None: it goes out as it came."""
        out = list(self._event(data))
        return None if len(out) == 1 and out[0] is data else out

    def word(self, data: Event) -> Word | None:
        """Whether an event was a piece of a text and nothing else."""
        kind, given = data.get("type"), data.get("output_index")
        if kind not in _DELTAS or self._held or data.get("logprobs"):
            return None
        if not isinstance(data.get("delta"), str) or self._numbers.get(given) != given:
            return None
        more: Callable[[str], str | None] = partial(self._more, self._text(data, _DELTAS[kind]))
        return Word(("delta",), more)

    def _more(self, text: Text, piece: str) -> str | None:
        if self._held or text.closed:
            return None
        self._chars += len(piece)
        return text.feed(piece)

    def end(self, *, finished: bool) -> list[Event]:
        """What is not whole by now goes nowhere."""
        if not self._seen:
            self._cut_off()
            self._count({})
        self._seen = True
        return []

    def _count(self, response: Mapping[str, Any]) -> None:
        """Count what the response used, once."""
        if self.tokens is not None:
            return
        self.tokens = tokens_of(response)
        if self.tokens is None:
            self.estimated = True
            self.tokens = estimated_tokens(self._chars, [self.body.get(k) for k in CONTENT])
        self.exchange.add_tokens(self.tokens, usage=usage_of(response))

    def _event(self, data: Event) -> Iterator[Event]:
        kind = data.get("type")
        if kind in _CLOSING:
            self._cut_off()
            yield from self._later()
            yield from self._closing(data)
        elif self._held and not self._of_held(data):
            self._waiting.append(data)
        elif self._held:
            self._held.append(data)
            if kind == "response.output_item.done":
                yield from self._judged(data)
                yield from self._later()
        else:
            yield from self._open(data, kind)

    def _of_held(self, data: Event) -> bool:
        return bool(data.get("output_index") == self._held[0].get("output_index"))

    def _later(self) -> Iterator[Event]:
        """The events that waited behind a call."""
        waiting, self._waiting = self._waiting, []
        for data in waiting:
            yield from self._event(data)

    def _cut_off(self) -> None:
        """Calls that never became whole are refused; what waited behind the first is looked at."""
        if not self._held:
            return
        first, self._held = self._held[0], []
        item = first.get("item")
        given = item if isinstance(item, dict) else {}
        self.exchange.refuse([items.proposed(given)], CUT_OFF)
        self._items.refused = True
        self._final[first.get("output_index")] = None

    def _open(self, data: Event, kind: Any) -> Iterator[Event]:
        item = data.get("item")
        if kind == "response.output_item.added":
            if not isinstance(item, dict) or items.is_call(item):
                self._held = [data]  # what is no object is a call without a name
                return
            begun = self._items.masked(item)
            yield self._numbered(data) if begun == item else self._numbered(data, item=begun)
        elif kind == "response.output_item.done":
            if data.get("output_index") not in self._numbers and items.is_call(item or {}):
                yield from self._judged(data)  # it was never announced
            else:
                yield from self._item_done(data)
        elif kind in _OPENING:
            yield _without_output(data)
        elif kind in _DELTAS and isinstance(data.get("delta"), str):
            yield from self._delta(data, _DELTAS[kind])
        elif kind in _DONES:
            yield from self._text_done(data, _DONES[kind])
        elif isinstance(kind, str) and kind.startswith(_PLAIN):
            yield self._numbered(data)
        elif isinstance(data.get("delta"), str):
            self._withhold()
        elif not _of_a_call(data):  # which was judged already, or was never announced
            yield self._numbered(self._masked(data))

    def _withhold(self) -> None:
        """Pieces of a text of a kind that is not known go nowhere; the whole does, masked."""
        if not self._withheld:
            _LOG.warning("pieces of a text of a kind that is not known were withheld")
        self._withheld = True

    def _numbered(self, data: Event, **changes: Any) -> Event:
        """The event with the position that its item has now."""
        given = data.get("output_index")
        if given is not None:
            number = self._numbers.setdefault(given, len(self._numbers))
            if number != given:
                changes["output_index"] = number
        return {**data, **changes} if changes else data

    def _masked(self, data: Event) -> Event:
        """An event of which no more is known than that its texts may be the model's."""
        part = data.get("part")
        if isinstance(part, dict):
            new = self._items.part(part)
            return data if new == part else {**data, "part": new}
        masked: Event = self.exchange.masked_data(data)
        return masked

    def _delta(self, data: Event, name: str) -> Iterator[Event]:
        self._chars += len(data["delta"])
        text = self._text(data, name)
        passed = text.feed(data["delta"])
        if passed == data["delta"]:
            logged = data.get("logprobs")
            other = unlogged(data) if logged and spelled(logged) != passed else {}
            yield self._numbered(data, **other)
        elif passed:
            yield self._numbered(data, delta=passed, **unlogged(data))

    def _text(self, data: Event, name: str) -> Text:
        key = (data.get("output_index"), data.get("content_index"), name)
        text = self._texts.get(key)
        if text is None:
            text = self._texts[key] = Text(self.exchange.holdback())
        return text

    def _text_done(self, data: Event, name: str) -> Iterator[Event]:
        """The end of a text: what was held back, then the whole of what went out."""
        text = self._text(data, name)
        begun = bool(text.pieces)
        if tail := text.close():
            kind = str(data["type"]).replace(".done", ".delta")
            place = place_of(self._numbered(data))
            yield {**place, "type": kind, "delta": tail, **unlogged(data)}
        whole = text.whole if begun else self.exchange.masked(str(data.get(name) or ""))
        if name not in data or whole == data[name]:
            yield self._numbered(data)
        else:
            yield self._numbered(data, **{name: whole}, **unlogged(data))

    def _item_done(self, data: Event) -> Iterator[Event]:
        new = self._items.passed(data.get("item"))
        self._final[data.get("output_index")] = new
        yield self._numbered(data) if new == data.get("item") else self._numbered(data, item=new)

    def _judged(self, done: Event) -> Iterator[Event]:
        """The events of a call that is whole: with what was judged, or none."""
        events, self._held = self._held or [done], []
        item = done.get("item")
        new = self._items.passed(item)
        self._final[done.get("output_index")] = new
        if new is None:
            return
        spelled = next((name for name in _WRITTEN if isinstance(new.get(name), str)), "")
        told = False
        for data in events:
            kind = str(data.get("type"))
            if kind == "response.output_item.added":
                yield self._numbered(data, item=begun_call(new, spelled))
            elif kind == "response.output_item.done":
                yield self._numbered(data, item=new)
            elif kind.endswith(".delta"):
                if spelled and not told and isinstance(data.get("delta"), str):
                    told = True
                    yield self._numbered(data, delta=new[spelled])
            elif spelled in data:
                yield self._numbered(data, **{spelled: new[spelled]})
            elif kind.startswith(_STEPS):
                yield self._numbered(data)

    def _in_order(self) -> None:
        """The items as they are numbered: some may have ended before others that began earlier."""
        places = {id(item): self._numbers.get(given, inf) for given, item in self._final.items()}
        self._items.out.sort(key=lambda item: places.get(id(item), inf))

    def _closing(self, data: Event) -> Iterator[Event]:
        given = data.get("response")
        response = dict(given) if isinstance(given, dict) else {}
        output = response.get("output")
        listed = enumerate(output if isinstance(output, list) else ())
        unheard = [item for number, item in listed if number not in self._final]
        self._in_order()
        self._items.passed_together(unheard)  # no event spoke of them
        message = self._items.block_message
        if message is not None:
            yield from told(message, data, len(self._numbers))
            self._items.out.append(message)
        response["output"] = self._items.out
        self._count(response)
        self._items.close(response)
        self.end(finished=True)
        response["firewall"] = self.firewall
        yield {**data, "response": response}


def _without_output(data: Event) -> Event:
    """What opens a response holds none of it."""
    response = data.get("response")
    if not isinstance(response, dict) or not response.get("output"):
        return data
    return {**data, "response": {**response, "output": []}}


def _of_a_call(data: Event) -> bool:
    """Whether an event tells of a call, by its type or by what it holds."""
    held = (data.get("item"), data.get("part"))
    calls = (isinstance(one, dict) and str(one.get("type")).endswith("_call") for one in held)
    return "_call" in str(data.get("type")) or any(calls)
