"""What happens in a run, one event at a time: read off the graph's own stream of updates.

The command line prints events as they come; an agent folds them into its result.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from langchain_core.messages import AIMessage, ToolMessage

from ..guards.audit import Record
from ..guards.verdict import ToolCall
from ..nodes._messages import new_in

EventKind = Literal["plan", "calls", "verdict", "result", "answer", "waiting"]


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened. Which fields are filled depends on `kind`:

    `plan`: `plan` (steps, results). `calls`: `text`, `calls`, `usage`. `verdict`: `record`.
    `result`: `message`. `answer`: `text`, `usage`. `waiting`: `questions`, the calls that wait for
    a person, each with its id, tool, arguments, reason and rules.
    """

    kind: EventKind
    node: str = ""
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    record: Record = field(default_factory=dict)
    message: ToolMessage | None = None
    plan: Mapping[str, Any] = field(default_factory=dict)
    questions: tuple[Mapping[str, Any], ...] = ()
    usage: Mapping[str, Any] | None = None


def events(update: Mapping[str, Any]) -> Iterator[Event]:
    """The events in one item of a graph's stream (`stream_mode="updates"`)."""
    for node, written in update.items():
        if node == "__interrupt__":
            yield from _waiting(written)
        elif isinstance(written, Mapping):
            yield from _of_node(node, written)


def _of_node(node: str, written: Mapping[str, Any]) -> Iterator[Event]:
    if written.get("plan"):
        yield Event("plan", node, plan=written["plan"])
    for record in written.get("verdicts") or ():
        yield Event("verdict", node, record=record)
    for message in new_in(written.get("messages") or ()):
        if isinstance(message, ToolMessage):
            yield Event("result", node, text=message.text, message=message)
        elif isinstance(message, AIMessage) and message.name is None:
            yield _said(node, message)


def _said(node: str, message: AIMessage) -> Event:
    calls = [ToolCall(c["name"], c["args"], id=c["id"] or "") for c in message.tool_calls]
    calls += [
        ToolCall(c["name"] or "", id=c["id"] or "", raw=c["args"], fault="not readable")
        for c in message.invalid_tool_calls
    ]
    kind: EventKind = "calls" if calls else "answer"
    usage: Any = message.usage_metadata
    return Event(kind, node, text=message.text, calls=tuple(calls), usage=usage)


def _waiting(interrupts: Sequence[Any]) -> Iterator[Event]:
    for interrupt in interrupts:
        value = interrupt.value
        asked = value.get("calls", ()) if isinstance(value, Mapping) else ()
        yield Event("waiting", questions=tuple(asked), text="" if asked else str(value))
