"""Tool outputs as a model reads them: between marks that say that they are data.

Put on when a model is asked, and nowhere else: the thread keeps the plain text, so that marks cost
nothing in a checkpoint, are the same for every message of a thread, and change no decision. What a
summary made of tool outputs is marked like them (I10).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import BaseMessage, ToolMessage

from ..guards.boundary import marked, meaning
from ._messages import MessageLog

SUMMARY_NAME = "summary"


def is_data(message: BaseMessage) -> bool:
    """Whether the message holds what others wrote: a tool's output, or a summary of such."""
    return isinstance(message, ToolMessage) or message.name == SUMMARY_NAME


def with_marks(messages: Sequence[BaseMessage], boundary: str) -> list[BaseMessage]:
    """The messages, those that are data between marks."""
    if not boundary:
        return list(messages)
    if not isinstance(messages, MessageLog):
        return [_shown(m, boundary) for m in messages]
    # Each model call reads the whole thread: what it was shown of a message before is kept.
    kept = messages.shown.setdefault(boundary, {})
    out = []
    for message in messages:
        pair = kept.get(id(message))
        if pair is None or pair[0] is not message:
            pair = kept[id(message)] = (message, _shown(message, boundary))
        out.append(pair[1])
    return out


def what_marks_mean(messages: Sequence[BaseMessage], boundary: str) -> str:
    """The sentence for the system prompt; empty where there is nothing marked."""
    return meaning(boundary) if boundary and any(map(is_data, messages)) else ""


def quoted(messages: Sequence[BaseMessage], boundary: str) -> str:
    """The messages as one text, for a model that is to sum them up or learn from them."""
    return "\n".join(f"{m.type}: {m.text}" for m in with_marks(messages, boundary))


def _shown(message: BaseMessage, boundary: str) -> BaseMessage:
    if not is_data(message):
        return message
    source = message.name or "unknown"
    if isinstance(message, ToolMessage):
        source = f"tool:{source}"
    content: Any = message.content
    if isinstance(content, str):
        content = marked(content, boundary, source=source)
    else:
        content = [_block(block, boundary, source) for block in content]
    return message.model_copy(update={"content": content})


def _block(block: Any, boundary: str, source: str) -> Any:
    if isinstance(block, str):
        return marked(block, boundary, source=source)
    if block.get("type") == "text" and isinstance(block.get("text"), str):
        return {**block, "text": marked(block["text"], boundary, source=source)}
    return block
