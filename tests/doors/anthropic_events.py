"""Events as Anthropic streams them, and a request for a stream."""

from __future__ import annotations

from typing import Any

from tests.wire.messages import block_events, events
from tests.wire.server import Say

from .anthropic_ways import ASKED
from .test_anthropic import KEY

STREAM: dict[str, Any] = {**ASKED, "stream": True}
TEXT = f"key {KEY} done"
Event = dict[str, Any]


def framed(*blocks: tuple[dict[str, Any], list[Any]], stop: str = "tool_use") -> list[Event]:
    """The events of a message with these blocks, each with its deltas."""
    (start, _, delta, end) = events(Say("", finish=stop))
    inner = [e for n, (begun, deltas) in enumerate(blocks) for e in block_events(n, begun, deltas)]
    return [start, *inner, delta, end]


def said(*pieces: str) -> tuple[dict[str, Any], list[Any]]:
    """A text's block in pieces."""
    return {"type": "text", "text": ""}, [{"type": "text_delta", "text": p} for p in pieces]
