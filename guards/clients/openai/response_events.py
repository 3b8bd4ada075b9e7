"""Events of the Responses API that the guard makes, and the texts that it passes on in pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

Event = dict[str, Any]


class Text:
    """A text that goes out piece by piece."""

    def __init__(self, holdback: Any) -> None:
        self._feed: Callable[[str], str] = holdback.feed
        self._close: Callable[[], str] = holdback.close
        self.pieces: list[str] = []
        self.closed = False

    def feed(self, text: str) -> str:
        """What may go out now."""
        passed = self._feed(text)
        self.pieces.append(passed)
        return passed

    def close(self) -> str:
        """What was still held back."""
        tail = self._close()
        self.closed = True
        self.pieces.append(tail)
        return tail

    @property
    def whole(self) -> str:
        """All that went out."""
        return "".join(self.pieces)


def begun_call(item: Event, spelled: str) -> Event:
    """A call as it is announced: what its events spell out is still to come."""
    begun = {**item, "status": "in_progress"} if "status" in item else dict(item)
    return {**begun, spelled: ""} if spelled else begun


def place_of(data: Event) -> Event:
    """Where an event belongs, for another beside it."""
    names = ("item_id", "output_index", "content_index", "sequence_number")
    return {name: data[name] for name in names if name in data}


def unlogged(data: Event) -> Event:
    """The log of tokens spells out a text that does not go out as it came."""
    return {"logprobs": []} if "logprobs" in data else {}


def told(message: Event, beside: Event, number: int) -> Iterator[Event]:
    """The events of a message with one part, at a position, beside another event."""
    place = {**place_of(beside), "item_id": message["id"], "output_index": number}
    (part,) = message["content"]
    name = "refusal" if part["type"] == "refusal" else "text"
    kind = "response.refusal" if name == "refusal" else "response.output_text"
    logs: Event = {} if name == "refusal" else {"logprobs": []}
    at = {**place, "content_index": 0}
    begun = {**message, "status": "in_progress", "content": []}
    yield {**place, "type": "response.output_item.added", "item": begun}
    yield {**at, "type": "response.content_part.added", "part": {**part, name: ""}}
    yield {**at, "type": f"{kind}.delta", "delta": part[name], **logs}
    yield {**at, "type": f"{kind}.done", name: part[name], **logs}
    yield {**at, "type": "response.content_part.done", "part": part}
    yield {**place, "type": "response.output_item.done", "item": message}
