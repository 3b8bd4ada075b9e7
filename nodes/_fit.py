"""What of a conversation goes and what stays, so that it fits: whole turns, the newest first.

A turn is a call with all its results, or one message. System messages and the user's task stay
wherever they stand. What is protected and does not fit is shortened where it is a tool's result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage, ToolMessage

from ._shorten import SMALLEST, shortened
from ._sizes import level, tokens
from ._turns import call_ids

FIT = "fit"
"""Of a run's counters: numbers by which what the model reads is trimmed while the thread stays as
it is, because no summary could be had."""

Turn = list[BaseMessage]


@dataclass(frozen=True, slots=True)
class Fit:
    """Tokens: all messages together may take `room`, and `most` where it cannot be helped; of the
    newest `floor` stay as they are; `spare` is what a summary may take."""

    room: int
    floor: int
    spare: int = 0
    most: int = 0

    def noted(self) -> dict[str, int]:
        """As plain data, for the run's counters."""
        return {"room": self.room, "floor": self.floor}


@dataclass(slots=True)
class Parted:
    """The two parts of a conversation."""

    goes: list[BaseMessage]
    stays: list[BaseMessage]
    """System messages and the task, where they are among what is old."""
    new: list[BaseMessage]
    changed: bool = False
    """Whether a result among the new messages was shortened."""


def parted(messages: Sequence[BaseMessage], fit: Fit, *, readable: bool) -> Parted:
    """Old and new of a conversation that does not fit."""
    turns = turns_of(messages)
    task = next((m for m in reversed(messages) if isinstance(m, HumanMessage)), None)
    outside = sum(tokens(t[0]) for t in turns if _stays(t[0], task))  # what is not among the new
    budget = fit.room - fit.spare
    floor = fit.floor
    if floor + outside > budget:  # it cannot be kept: half of what there is, or no step is free
        floor = max(budget - outside, 0) // 2
    new: list[Turn] = []
    size, changed = 0, False
    for turn in reversed(turns):
        if new and size >= floor:
            break
        cost = sum(map(tokens, turn))
        inside = cost if _stays(turn[0], task) else 0
        room = budget - (outside - inside) - size
        if cost > room:
            smaller = _smaller(turn, max(floor - size, room // 2), readable=readable)
            less = sum(map(tokens, smaller))
            if new and less > room:
                break
            changed = changed or less < cost
            turn, cost = smaller, less
        new.append(turn)
        size, outside = size + cost, outside - inside
    old = [m for turn in turns[: len(turns) - len(new)] for m in turn]
    return Parted(
        goes=[m for m in old if not _stays(m, task)],
        stays=[m for m in old if _stays(m, task)],
        new=[m for turn in reversed(new) for m in turn],
        changed=changed,
    )


def trimmed(messages: Sequence[BaseMessage], run: Mapping[str, Any]) -> Sequence[BaseMessage]:
    """What the model reads of a thread that could not be summed up; the thread keeps it all."""
    numbers = run.get(FIT)
    if not numbers:
        return messages
    parts = parted(messages, Fit(numbers["room"], numbers["floor"]), readable=False)
    return [*parts.stays, *parts.new]


def turns_of(messages: Sequence[BaseMessage]) -> list[Turn]:
    """The messages in pieces that belong together: a call with all its results.

    A result whose call is gone is left out: no provider takes it.
    """
    turns: list[Turn] = []
    waiting: set[str] = set()
    for message in messages:
        if isinstance(message, ToolMessage):
            if message.tool_call_id in waiting:
                waiting.discard(message.tool_call_id)
                turns[-1].append(message)
            continue
        waiting = call_ids(message)
        turns.append([message])
    return turns


def _stays(message: BaseMessage, task: BaseMessage | None) -> bool:
    return message is task or isinstance(message, SystemMessage)


def _smaller(turn: Turn, most: int, *, readable: bool) -> Turn:
    """The turn with its results shortened, the longest first, so that it takes about `most`."""
    results = [m for m in turn if isinstance(m, ToolMessage)]
    if not results:
        return turn
    left = most - sum(tokens(m) for m in turn if not isinstance(m, ToolMessage))
    each = max(level([tokens(m) for m in results], left), SMALLEST)
    return [
        shortened(m, each, readable=readable) if isinstance(m, ToolMessage) else m for m in turn
    ]
