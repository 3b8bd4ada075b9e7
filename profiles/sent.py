"""Messages as every provider takes them: one system message, in front; no empty text.

Anthropic takes no second system message, and the templates of self-hosted models take none behind
the first place. A blank text is refused by many, and would make every later request fail.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, SystemMessage

EMPTY = "(empty)"
"""Stands for a text of the user, or a tool's result, in which there is nothing."""

_THOUGHTS = frozenset({"thinking", "redacted_thinking", "reasoning"})


def sendable_messages(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """The messages as they are sent; those that are in order are the same objects."""
    systems = [m for m in messages if isinstance(m, SystemMessage) and not _is_blank(m.content)]
    rest = [m for m in messages if not isinstance(m, SystemMessage)]
    filled = (_filled(message) for message in rest)
    front: list[BaseMessage] = [_one(systems)] if systems else []
    return [*front, *(message for message in filled if message is not None)]


def _one(systems: Sequence[SystemMessage]) -> BaseMessage:
    if len(systems) == 1:
        return systems[0]
    if all(isinstance(m.content, str) for m in systems):
        return SystemMessage("\n\n".join(str(m.content) for m in systems))
    blocks: list[Any] = []
    for message in systems:
        text = [{"type": "text", "text": message.content}]
        blocks += text if isinstance(message.content, str) else message.content
    return SystemMessage([block for block in blocks if not _is_blank_block(block)])


def _filled(message: BaseMessage) -> BaseMessage | None:
    """The message without blank texts; None where the model said nothing at all."""
    content: Any = message.content
    if isinstance(content, list):
        kept = [block for block in content if not _is_blank_block(block)]
        content = content if len(kept) == len(content) else kept
    if isinstance(message, AIMessage):
        if message.tool_calls or message.invalid_tool_calls:
            content = "" if isinstance(content, str) and not content.strip() else content
        elif _is_blank(content):
            return None
    elif _is_blank(content):
        content = EMPTY
    return (
        message if content is message.content else message.model_copy(update={"content": content})
    )


def _is_blank(content: Any) -> bool:
    """Whether there is nothing to send in it: thoughts alone are no turn."""
    if isinstance(content, str):
        return not content.strip()
    return all(
        _is_blank_block(block) or (isinstance(block, dict) and block.get("type") in _THOUGHTS)
        for block in content
    )


def _is_blank_block(block: Any) -> bool:
    if isinstance(block, str):
        return not block.strip()
    return block.get("type") == "text" and not str(block.get("text") or "").strip()
