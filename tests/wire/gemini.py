"""What Gemini's API answers: a body, or the events of a stream."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

PIECES = 5
_STATUS = {400: "INVALID_ARGUMENT", 403: "PERMISSION_DENIED", 429: "RESOURCE_EXHAUSTED"}


def is_ours(path: str) -> bool:
    """Whether a request is one of Gemini's."""
    return "enerateContent" in path


def is_stream(path: str) -> bool:
    """Whether a request asks for a stream."""
    return ":streamGenerateContent" in path


def body(reply: Any) -> dict[str, Any]:
    """A reply as one whole response."""
    return {**answer(parts(reply), finish=reply.finish or "STOP"), **_usage(reply)}


def events(reply: Any) -> Iterator[dict[str, Any]]:
    """The same in pieces: text is cut, calls come whole, usage stands in every piece."""
    for part in parts(reply):
        for piece in _pieces(part):
            yield {**answer([piece], finish=""), **_usage(reply)}
    if not reply.ends_early:
        yield {**answer([{"text": ""}], finish=reply.finish or "STOP"), **_usage(reply)}


def parts(reply: Any) -> list[dict[str, Any]]:
    """The parts of a reply; a call's `extra` stands beside it."""
    found: list[dict[str, Any]] = []
    if reply.reasoning:
        found.append({"text": reply.reasoning, "thought": True})
    if reply.text:
        found.append({"text": reply.text})
    for call in reply.calls:
        given = {"name": call.name, "args": json.loads(call.arguments)}
        own = {} if call.id == "call_1" else {"id": call.id}
        found.append({"functionCall": {**own, **given}, **call.extra})
    return found


def answer(
    content: Sequence[dict[str, Any]], *, finish: str = "STOP", index: int = 0
) -> dict[str, Any]:
    """A response, or a piece of one, with one candidate."""
    return {
        "candidates": [candidate(content, finish=finish, index=index)],
        "modelVersion": "fake-1",
        "responseId": "r1",
    }


def candidate(
    content: Sequence[dict[str, Any]], *, finish: str = "STOP", index: int = 0
) -> dict[str, Any]:
    """One candidate with these parts."""
    made = {"content": {"role": "model", "parts": list(content)}, "index": index}
    return {**made, "finishReason": finish} if finish else made


def error(status: int, message: str) -> dict[str, Any]:
    """An error as Google words it."""
    inner = {"code": status, "message": message, "status": _STATUS.get(status, "UNAVAILABLE")}
    return {"error": inner}


def _usage(reply: Any) -> dict[str, Any]:
    if not reply.usage:
        return {}
    read, written = reply.usage
    counts = {"promptTokenCount": read, "candidatesTokenCount": written}
    return {"usageMetadata": {**counts, "totalTokenCount": read + written}}


def _pieces(part: dict[str, Any]) -> list[dict[str, Any]]:
    text = part.get("text")
    if not text:
        return [part]
    size = max(1, -(-len(text) // PIECES))
    return [{**part, "text": text[at : at + size]} for at in range(0, len(text), size)]
