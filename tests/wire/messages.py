"""What Anthropic's messages API answers: a body, or the events of a stream."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

SIGNATURE = "EqQBCkYIBBgCIkD+/sig=="

Event = dict[str, Any]


def body(reply: Any) -> dict[str, Any]:
    """A reply as a message. Arguments of calls have to be JSON."""
    return {**_frame(reply), "content": blocks(reply), "stop_reason": _stop(reply)}


def blocks(reply: Any) -> list[dict[str, Any]]:
    """The blocks of a reply. A call's `extra` makes it another kind."""
    found: list[dict[str, Any]] = []
    if reply.reasoning:
        thought = {"thinking": reply.reasoning, "signature": SIGNATURE}
        found.append({"type": "thinking", **thought})
    if reply.text:
        found.append({"type": "text", "text": reply.text})
    return found + [
        {**_call(call), "input": json.loads(call.arguments or "{}")} for call in reply.calls
    ]


def _call(call: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": {}, **call.extra}


def _frame(reply: Any) -> dict[str, Any]:
    read, written = reply.usage or (0, 0)
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "fake-1",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": read, "output_tokens": written},
    }


def _stop(reply: Any) -> str:
    return reply.finish or ("tool_use" if reply.calls else "end_turn")


def events(reply: Any) -> Iterator[Event]:
    """The same as events, its texts and arguments in pieces; a ping among them, as the API has."""
    yield {"type": "message_start", "message": _frame(reply)}
    yield {"type": "ping"}
    index = 0
    if reply.reasoning:
        thinking = [{"type": "thinking_delta", "thinking": p} for p in pieces(reply.reasoning)]
        begun = {"type": "thinking", "thinking": "", "signature": ""}
        signature = {"type": "signature_delta", "signature": SIGNATURE}
        yield from block_events(index, begun, [*thinking, signature])
        index += 1
    if reply.text:
        said = [{"type": "text_delta", "text": piece} for piece in pieces(reply.text, 5)]
        yield from block_events(index, {"type": "text", "text": ""}, said)
        index += 1
    for number, call in enumerate(reply.calls, start=index):
        yield from block_events(number, _call(call), spelled(call.arguments))
    if reply.ends_early:
        return
    read, written = reply.usage or (0, 0)
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": _stop(reply), "stop_sequence": None},
        "usage": {"input_tokens": read, "output_tokens": written},
    }
    yield {"type": "message_stop"}


def spelled(arguments: str) -> list[dict[str, Any]]:
    """The deltas that spell arguments out."""
    found = ["", *pieces(arguments)]
    return [{"type": "input_json_delta", "partial_json": piece} for piece in found]


def block_events(index: int, begun: dict[str, Any], deltas: list[Any]) -> Iterator[Event]:
    """The events of one block."""
    yield {"type": "content_block_start", "index": index, "content_block": begun}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def pieces(text: str, parts: int = 3) -> list[str]:
    """A text in pieces."""
    size = max(1, -(-len(text) // parts))
    return [text[at : at + size] for at in range(0, len(text), size)]
