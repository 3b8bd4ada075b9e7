"""Turns that a provider takes: each call is followed by its result, and no result lacks its call.

A conversation that a program hands over may be otherwise: it was cut somewhere else, its process
was killed, or somebody wrote before the results were there. Providers refuse it, and so every later
request of its thread.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

ABANDONED = "Not run: the user went on without it."


def call_ids(message: BaseMessage) -> set[str]:
    """The ids of the calls that a message proposes, readable or not."""
    return {str(call["id"]) for call in _calls(message)}


def whole_turns(messages: Sequence[BaseMessage], start: int = 0) -> Sequence[BaseMessage]:
    """The messages, with a result right behind each call from `start` on: the next one that stands
    behind it, or a note that it was not run. Results without a call are left out.

    The same sequence where there is nothing to do.
    """
    later: defaultdict[str, list[int]] = defaultdict(list)
    turns: list[list[BaseMessage]] = []
    # From the end, so that what is found first is what stands next behind a call.
    for position in range(len(messages) - 1, start - 1, -1):
        message = messages[position]
        if isinstance(message, ToolMessage):
            later[message.tool_call_id].append(position)
            continue
        calls = {str(call["id"]): call for call in _calls(message)}
        found = {call_id: later[call_id].pop() for call_id in calls if later.get(call_id)}
        notes = [_abandoned(call_id, calls[call_id]) for call_id in calls if call_id not in found]
        turns.append([message, *(messages[at] for at in sorted(found.values())), *notes])
    whole = [message for turn in reversed(turns) for message in turn]
    rest = messages[start:]
    same = len(whole) == len(rest) and all(a is b for a, b in zip(whole, rest, strict=True))
    return messages if same else [*messages[:start], *whole]


def _abandoned(call_id: str, call: Any) -> ToolMessage:
    name = call["name"] or "unknown"
    return ToolMessage(ABANDONED, tool_call_id=call_id, name=name, status="error")


def _calls(message: BaseMessage) -> list[Any]:
    if not isinstance(message, AIMessage):
        return []
    return [*message.tool_calls, *message.invalid_tool_calls]
