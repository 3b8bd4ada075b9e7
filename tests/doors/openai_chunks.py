"""Chunks as OpenAI streams them, and a request for a stream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import openai

from . import openai_ways as ways
from .openai_ways import ASKED, Joined

STREAM: dict[str, Any] = {**ASKED, "stream": True}


def chunk(finish: str | None = None, index: int = 0, **delta: Any) -> dict[str, Any]:
    """A chunk with one choice."""
    choice = {"index": index, "delta": delta, "finish_reason": finish}
    return {"id": "x", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}


def called(index: int | None, name: str = "", arguments: str = "", **more: Any) -> dict[str, Any]:
    """A chunk with a piece of a call."""
    function = {k: v for k, v in (("name", name), ("arguments", arguments)) if v}
    place = {} if index is None else {"index": index}
    return chunk(tool_calls=[{**place, **more, "function": function}])


def joined(chunks: Sequence[dict[str, Any]]) -> ways.Got:
    """What a program makes of chunks."""
    made = Joined()
    for data in chunks:
        made.add(openai.types.chat.ChatCompletionChunk.model_validate({"created": 1, **data}))
    made.got.firewall = None
    return made.end(made.got)
