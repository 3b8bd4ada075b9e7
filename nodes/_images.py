"""Images of a task, which a model is shown once: later calls of the run get words instead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from ._messages import MessageLog

ONCE = "images_shown"
"""In a message's `additional_kwargs`: its images are to be shown once."""

SEEN = "[image {number}: shown before]"

_IMAGES = frozenset({"image", "image_url"})


def without_seen(
    shown: list[BaseMessage], thread: Sequence[BaseMessage], plan: Mapping[str, Any] | None
) -> list[BaseMessage]:
    """`shown`, what a model is to read of `thread`, without the images that it was shown before.

    The task's images are shown with the first call of a run, and with the first of each step of a
    plan; not with the answer that sums a plan up.
    """
    if isinstance(thread, MessageLog) and not thread.sum_of(_is_once, name=ONCE):
        return shown
    marked = [n for n, message in enumerate(thread) if _is_once(message)]
    if not marked:
        return shown
    task = max(n for n, message in enumerate(thread) if isinstance(message, HumanMessage))
    fresh = not _answered_since(thread, task, plan)
    out = list(shown)
    for n in marked:
        if n != task or not fresh:
            out[n] = _in_words(shown[n])
    return out


def _is_once(message: BaseMessage) -> bool:
    return ONCE in message.additional_kwargs


def _answered_since(
    messages: Sequence[BaseMessage], task: int, plan: Mapping[str, Any] | None
) -> bool:
    """Whether the model has spoken since the run, or the plan's step, began."""
    start = task
    if plan and plan.get("steps"):
        if len(plan.get("results") or ()) >= len(plan["steps"]):
            return True
        after = plan.get("after")
        start = max(start, next((n for n, m in enumerate(messages) if m.id == after), start))
    return any(isinstance(m, AIMessage) for m in messages[start + 1 :])


def _in_words(message: BaseMessage) -> BaseMessage:
    if not isinstance(message.content, list):
        return message
    content: list[Any] = []
    number = 0
    for block in message.content:
        if isinstance(block, dict) and block.get("type") in _IMAGES:
            number += 1
            block = {"type": "text", "text": SEEN.format(number=number)}
        content.append(block)
    return message.model_copy(update={"content": content})
