"""Messages as every provider takes them: one system message, in front; no empty text; images; the
first word and the last not the model's.

Anthropic takes no second system message, and the templates of self-hosted models take none behind
the first place. A blank text is refused by many, and would make every later request fail.
What an image is says its content: a JPEG that is called a PNG is refused by some. What moves or
sounds is refused here, before any request.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from .images import ImageRefused, checked_data_url

EMPTY = "(empty)"
"""Stands for a text of the user, or a tool's result, in which there is nothing."""

GO_ON = "Go on."
"""What the user says where a conversation ends with the model's own words."""

_MOVING = frozenset({"audio", "input_audio", "audio_url", "video", "input_video", "video_url"})
_THOUGHTS = frozenset({"thinking", "redacted_thinking", "reasoning"})


def sendable_messages(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """The messages as they are sent; those that are in order are the same objects.

    Raises:
        ImageRefused: a message of the user holds an image that is none, a sound or a video.
    """
    systems = [m for m in messages if isinstance(m, SystemMessage) and not _is_blank(m.content)]
    rest = [m for m in messages if not isinstance(m, SystemMessage)]
    filled = (_filled(message) for message in rest)
    front: list[BaseMessage] = [_one(systems)] if systems else []
    return [*front, *_by_turns([message for message in filled if message is not None])]


def _by_turns(messages: list[BaseMessage]) -> list[BaseMessage]:
    """The messages, begun and ended by somebody else than the model: many take no others."""
    if messages and isinstance(messages[0], AIMessage):
        messages = [HumanMessage(EMPTY), *messages]
    if messages and isinstance(messages[-1], AIMessage):
        messages = [*messages, HumanMessage(GO_ON)]
    return messages


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
        if isinstance(message, HumanMessage):
            kept = [_seen(block) for block in kept]
        content = content if kept == content else kept
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


def _seen(block: Any) -> Any:
    """The block, an image's type put right."""
    kind = block.get("type") if isinstance(block, dict) else None
    if kind in _MOVING:
        raise ImageRefused(
            f"a message holds a block of type {kind}: text and still images are sent"
        )
    if kind != "image_url":
        return block
    held = block.get("image_url")
    url = held.get("url") if isinstance(held, dict) else held
    if not isinstance(url, str):
        raise ImageRefused("a block of type image_url holds no url")
    if url[:5].lower() != "data:":
        if url[:8].lower().startswith(("http://", "https://")):
            return block
        raise ImageRefused("an image in a message is neither an http(s) address nor a data: URL")
    checked = checked_data_url(url)
    if checked is url:
        return block
    return {**block, "image_url": {**(held if isinstance(held, dict) else {}), "url": checked}}


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
