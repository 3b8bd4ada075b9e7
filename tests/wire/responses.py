"""What OpenAI's Responses API answers: a body, or the events of a stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

PIECES = 5


def body(reply: Any) -> dict[str, Any]:
    """A reply as a response that is complete."""
    output = [_done(item) for item in items(reply)]
    return {**_frame("completed"), "output": output, "usage": _usage(reply)}


def events(reply: Any) -> Iterator[dict[str, Any]]:
    """The same as events, its texts and arguments in pieces."""
    for number, event in enumerate(_events(reply)):
        yield {**event, "sequence_number": number}


def items(reply: Any) -> list[dict[str, Any]]:
    """The items of a reply: its text, and its calls. A call's `extra` makes it another kind."""
    found = []
    if reply.text:
        part = {"type": "output_text", "text": reply.text, "annotations": [], "logprobs": []}
        found.append({"type": "message", "id": "msg_1", "role": "assistant", "content": [part]})
    for number, call in enumerate(reply.calls):
        item = {"id": f"fc_{number}", "call_id": call.id, "name": call.name}
        given = {"type": "function_call", "arguments": call.arguments, **call.extra}
        found.append({**item, **given})
    return found


def _done(item: dict[str, Any]) -> dict[str, Any]:
    return {**item, "status": "completed"}


def _frame(status: str) -> dict[str, Any]:
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "fake-1",
        "status": status,
        "output": [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "error": None,
        "instructions": None,
        "metadata": {},
    }


def _usage(reply: Any) -> dict[str, Any] | None:
    if not reply.usage:
        return None
    read, written = reply.usage
    return {"input_tokens": read, "output_tokens": written, "total_tokens": read + written}


def _events(reply: Any) -> Iterator[dict[str, Any]]:
    yield {"type": "response.created", "response": _frame("in_progress")}
    yield {"type": "response.in_progress", "response": _frame("in_progress")}
    for number, item in enumerate(items(reply)):
        place = {"output_index": number}
        inner = {**place, "item_id": item["id"]}
        if item["type"] == "message":
            yield from _message_events(item, place, inner)
        else:
            yield from _call_events(item, place, inner)
    if not reply.ends_early:
        yield {"type": "response.completed", "response": body(reply)}


def _message_events(
    item: dict[str, Any], place: dict[str, Any], inner: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    (part,) = item["content"]
    begun = {**item, "status": "in_progress", "content": []}
    yield {"type": "response.output_item.added", **place, "item": begun}
    at = {**inner, "content_index": 0}
    yield {"type": "response.content_part.added", **at, "part": {**part, "text": ""}}
    for piece in _pieces(part["text"]):
        delta = {"delta": piece, "logprobs": [], "obfuscation": "xyz"}
        yield {"type": "response.output_text.delta", **at, **delta}
    yield {"type": "response.output_text.done", **at, "text": part["text"], "logprobs": []}
    yield {"type": "response.content_part.done", **at, "part": part}
    yield {"type": "response.output_item.done", **place, "item": _done(item)}


_SPELLED = {
    "function_call": ("arguments", "response.function_call_arguments"),
    "mcp_call": ("arguments", "response.mcp_call_arguments"),
    "custom_tool_call": ("input", "response.custom_tool_call_input"),
    "code_interpreter_call": ("code", "response.code_interpreter_call_code"),
}


def _call_events(
    item: dict[str, Any], place: dict[str, Any], inner: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    name, kind = _SPELLED.get(item["type"], ("", ""))
    begun = {**item, "status": "in_progress", **({name: ""} if name else {})}
    yield {"type": "response.output_item.added", **place, "item": begun}
    if name:
        for piece in _pieces(item[name]):
            yield {"type": f"{kind}.delta", **inner, "delta": piece}
        yield {"type": f"{kind}.done", **inner, name: item[name]}
    yield {"type": "response.output_item.done", **place, "item": _done(item)}


def _pieces(text: str) -> list[str]:
    size = max(1, -(-len(text) // PIECES))
    return [text[at : at + size] for at in range(0, len(text), size)]
