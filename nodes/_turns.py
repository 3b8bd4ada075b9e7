"""Turns that a provider takes: each call is followed by its result, and no result lacks its call.

A conversation that a program hands over may be otherwise: it was cut somewhere else, its process
was killed, or somebody wrote before the results were there. Providers refuse it, and so every later
request of its thread.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

ABANDONED = "Not run: the user went on without it."


def call_ids(message: BaseMessage) -> set[str]:
    """The ids of the calls that a message proposes, readable or not."""
    return {str(call["id"]) for call in _calls(message)}


def whole_turns(messages: Sequence[BaseMessage], start: int = 0) -> Sequence[BaseMessage]:
    """The messages, with a result right behind each call from `start` on: the one that stands
    further behind, or a note that it was not run. Results without a call are left out.

    The same sequence where there is nothing to do.
    """
    rest = messages[start:]
    results: defaultdict[str, deque[ToolMessage]] = defaultdict(deque)
    for message in rest:
        if isinstance(message, ToolMessage):
            results[message.tool_call_id].append(message)
    whole: list[BaseMessage] = []
    for position, message in enumerate(rest):
        if not isinstance(message, ToolMessage):
            whole.append(message)
            whole += _answers(_calls(message), _behind(rest, position), results)
    same = len(whole) == len(rest) and all(a is b for a, b in zip(whole, rest, strict=True))
    return messages if same else [*messages[:start], *whole]


def _answers(
    calls: Sequence[Any], behind: Iterable[ToolMessage], results: dict[str, deque[ToolMessage]]
) -> list[ToolMessage]:
    """One result a call: those right behind it in their order, then the others."""
    if not calls:
        return []
    waiting = {str(call["id"]): call for call in calls}
    answers: list[ToolMessage] = []
    for result in behind:
        if waiting.pop(result.tool_call_id, None) is not None:
            answers.append(results[result.tool_call_id].popleft())
    for call_id, call in waiting.items():
        found = results.get(call_id)
        answers.append(found.popleft() if found else _abandoned(call_id, call))
    return answers


def _abandoned(call_id: str, call: Any) -> ToolMessage:
    name = call["name"] or "unknown"
    return ToolMessage(ABANDONED, tool_call_id=call_id, name=name, status="error")


def _behind(messages: Sequence[BaseMessage], position: int) -> Iterator[ToolMessage]:
    """The results right behind a message."""
    for place in range(position + 1, len(messages)):
        message = messages[place]
        if not isinstance(message, ToolMessage):
            return
        yield message


def _calls(message: BaseMessage) -> list[Any]:
    if not isinstance(message, AIMessage):
        return []
    return [*message.tool_calls, *message.invalid_tool_calls]
