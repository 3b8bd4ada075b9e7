"""How many tokens a message takes, by an estimate that needs no tokenizer and never fails.

Four characters of plain text are a token, as is each character of another script; an image or a
file is a flat sum, never its bytes written out as text.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage

from ..guards.langchain.reply import CALLS
from ._messages import MessageLog

TOKENS_A_MESSAGE = 3
TOKENS_A_CALL = 8
TOKENS_AN_IMAGE = 1_000
"""For each image, and for any other file that a message carries along."""

CARRIED = frozenset(
    {"image", "image_url", "input_image", "audio", "input_audio", "video", "file", "input_file"}
    | {"document", "media"}
)
"""Types of content blocks that are not text."""
_TEXTS = ("text", "thinking", "reasoning", "content", "refusal")
_UNWRITTEN = frozenset({"type", "id", "index", "signature", "data", "base64", "encrypted_content"})


def tokens_of(messages: Sequence[BaseMessage]) -> int:
    """What the messages take together. A thread's log counts each of its messages once."""
    if isinstance(messages, MessageLog):
        return messages.sum_of(tokens)
    return sum(map(tokens, messages))


def tokens(message: BaseMessage) -> int:
    """What one message takes, the calls that it proposes included."""
    total = TOKENS_A_MESSAGE
    content = message.content
    calls = isinstance(message, AIMessage) and bool(message.tool_calls)
    for block in content if isinstance(content, list) else [content]:
        total += _block_tokens(block, calls)
    if isinstance(message, AIMessage):
        for call in message.tool_calls:
            total += text_tokens(call["name"]) + text_tokens(str(call["args"])) + TOKENS_A_CALL
        for broken in message.invalid_tool_calls:
            total += text_tokens(str(broken.get("args") or "")) + TOKENS_A_CALL
    return total


def text_tokens(text: str) -> int:
    """The estimate for a plain text."""
    plain = len(text) if text.isascii() else len(text.encode("ascii", "ignore"))
    return (plain + 3) // 4 + (len(text) - plain)


def start_of(text: str, most: int) -> int:
    """How many of the first characters take at most `most` tokens."""
    if most <= 0:
        return 0
    if text.isascii():
        return min(len(text), most * 4)
    return bisect_right(range(len(text) + 1), most, key=lambda n: text_tokens(text[:n])) - 1


def level(sizes: Sequence[int], most: int) -> int:
    """The highest size to which each may be cut so that all together take at most `most`."""
    left = most
    for number, size in enumerate(sorted(sizes)):
        share = left // (len(sizes) - number)
        if size > share:
            return max(share, 0)
        left -= size
    return max(sizes, default=0)


def _block_tokens(block: Any, calls: bool) -> int:
    if isinstance(block, str):
        return text_tokens(block)
    if not isinstance(block, Mapping):
        return text_tokens(str(block))
    kind = block.get("type")
    if kind in CARRIED:
        return TOKENS_AN_IMAGE
    if calls and kind in CALLS:
        return 0  # they are counted as calls
    for name in _TEXTS:
        if isinstance(block.get(name), str):
            return text_tokens(block[name])
    return text_tokens(str({k: v for k, v in block.items() if k not in _UNWRITTEN}))
