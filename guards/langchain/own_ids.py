"""Ids of a model's reply that nothing else in its thread has: of its message, and of each call.

Whoever controls a model chooses them, and some servers give every reply the same. A message with
the id of an older one would take its place in the thread, and with it what was called there; of two
calls with one id nobody could tell which was refused, which ran, and what one approval is for.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from .reply import CALLS, WITHHELD, withheld_in

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

Renames = Iterable[tuple[str | None, str]]
"""The old id and the new one of each call of a reply, in their order."""


def unique_ids(
    calls: Sequence[Any], *, is_taken: Callable[[str], bool], number: int
) -> list[dict[str, Any]]:
    """The calls, each with an id that no other call of their thread has.

    `number`: how long the thread is; it names a call that came without an id.
    """
    taken: set[str] = set()
    tried: dict[str, int] = {}
    out = []
    for position, call in enumerate(calls):
        base = call.get("id") or f"call_{number}_{position}"
        if _looks_like_an_interrupt(base):
            base = f"call_{base}"
        unique, suffix = base, tried.get(base, 1)
        while unique in taken or is_taken(unique):
            suffix += 1
            unique = f"{base}_{suffix}"
        taken.add(unique)
        tried[base] = suffix
        out.append({**call, "id": unique})
    return out


def _looks_like_an_interrupt(call_id: str) -> bool:
    """LangGraph takes answers under 32 hexadecimal digits for its own; a call would get none."""
    return len(call_id) == 32 and not call_id.strip("0123456789abcdef")


class NewIds:
    """The new ids of a reply's calls, for what repeats the calls in its content."""

    def __init__(self, renames: Renames) -> None:
        self._new: defaultdict[Any, deque[str]] = defaultdict(deque)
        for old, new in renames:
            self._new[old].append(new)

    def of(self, block: Any) -> dict[str, str] | None:
        """The field of a block that holds its call's id, with the new one; None where the block
        repeats none of the calls."""
        field = "call_id" if "call_id" in block else "id"
        waiting = self._new[block.get(field)]
        return {field: waiting.popleft()} if waiting else None


def with_own_ids(
    said: Sequence[BaseMessage], thread: Sequence[BaseMessage]
) -> Sequence[BaseMessage]:
    """What one model call gave, by ids of its own; the same messages where they have such ids.

    Answers to its calls that came with it (of a tool for structured output) follow them.
    """
    messages, calls = _ids_in(thread)
    made: list[BaseMessage] = []
    renamed: defaultdict[str, deque[str]] = defaultdict(deque)
    for message in said:
        changes: dict[str, Any] = {}
        if message.id in messages:
            changes["id"] = None
        if message.type == "tool" and renamed[message.tool_call_id]:  # type: ignore[attr-defined]
            changes["tool_call_id"] = renamed[message.tool_call_id].popleft()  # type: ignore[attr-defined]
        if message.type == "ai":
            renames, changed = _own_calls(message, calls, len(thread))
            changes |= changed
            for old, new in renames:
                renamed[old or ""].append(new)
            calls |= {new for _, new in renames}
        messages.add(message.id)
        made.append(message.model_copy(update=changes) if changes else message)
    return made


def _ids_in(thread: Sequence[Any]) -> tuple[set[Any], set[str]]:
    """The ids of the messages of a thread, and those of the calls in it, answered or not."""
    calls: set[str] = set()
    for message in thread:
        if message.type == "tool":
            calls.add(message.tool_call_id)
        elif message.type == "ai":
            calls.update(call["id"] or "" for call in _calls_of(message))
    return {m.id for m in thread if m.id is not None}, calls


def _calls_of(message: Any) -> list[Any]:
    return [*message.tool_calls, *message.invalid_tool_calls]


def _own_calls(
    message: Any, taken: set[str], number: int
) -> tuple[list[tuple[str | None, str]], dict[str, Any]]:
    """The old and the new ids of a message's calls, and what is to change in it."""
    old = _calls_of(message)
    new = unique_ids(old, is_taken=taken.__contains__, number=number)
    renames = [(was["id"], now["id"]) for was, now in zip(old, new, strict=True)]
    if all(was == now for was, now in renames):
        return renames, {}
    whole = len(message.tool_calls)
    changes: dict[str, Any] = {"tool_calls": new[:whole], "invalid_tool_calls": new[whole:]}
    if isinstance(message.content, list):
        ids = NewIds(renames)
        changes["content"] = [_renamed(block, ids) for block in message.content]
    if noted := withheld_in(message):
        # Of two calls that had one id nobody knows which one it was noted of.
        told = {now: noted[was or ""] for was, now in renames if (was or "") in noted}
        changes["additional_kwargs"] = {**message.additional_kwargs, WITHHELD: told}
    return renames, changes


def _renamed(block: Any, ids: NewIds) -> Any:
    if isinstance(block, str) or block.get("type") not in CALLS:
        return block
    return {**block, **(ids.of(block) or {})}
