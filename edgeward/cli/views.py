"""What a run looks like from outside: the protocol of the two views, and the JSON one."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from ..graphs.events import Event
    from ..graphs.result import AgentResult
    from ..guards.verdict import ToolCall


class View(Protocol):
    """Shows the events of a run as they happen, and what it came to."""

    def busy(self) -> Any:
        """A context in which the run is waited for."""
        ...

    def event(self, event: Event) -> None: ...

    def answered(self, answers: Mapping[str, Mapping[str, Any]]) -> None:
        """Waiting calls were answered; the run goes on."""
        ...

    def end(self, result: AgentResult) -> None: ...


class JsonLines:
    """One JSON object a line on standard output: `{"event": …}` each, the result last."""

    @contextmanager
    def busy(self) -> Iterator[None]:
        yield

    def event(self, event: Event) -> None:
        _write(event_data(event))

    def answered(self, answers: Mapping[str, Mapping[str, Any]]) -> None:
        _write({"event": "answers", "answers": answers})

    def end(self, result: AgentResult) -> None:
        _write({"event": "end", "result": result_data(result)})


def event_data(event: Event) -> dict[str, Any]:
    """One event as JSON data; see `Event` for what each kind holds."""
    data: dict[str, Any] = {"event": event.kind, "node": event.node}
    match event.kind:
        case "plan":
            data |= dict(event.plan)
        case "calls":
            data |= {"text": event.text, "calls": [_call(c) for c in event.calls]}
        case "verdict":
            data |= event.record
        case "result":
            data |= _message(event.message)
        case "answer":
            data["text"] = event.text
        case "waiting":
            data["calls"] = [dict(question) for question in event.questions]
    if event.usage:
        data["usage"] = dict(event.usage)
    return {name: value for name, value in data.items() if value != "" or name == "text"}


def result_data(result: AgentResult) -> dict[str, Any]:
    """A result as JSON data."""
    return {
        "task": result.task,
        "thread": result.thread,
        "stopped_reason": result.stopped_reason,
        "final_answer": result.final_answer,
        "usage": _usage(result.usage),
        "waiting": [dict(question) for question in result.waiting],
        "verdicts": result.verdicts,
        "steps": [
            {
                "index": step.index,
                "kind": step.kind,
                "content": step.content,
                "tool_calls": [_call(c) for c in step.tool_calls],
                "tool_results": [_message(m) for m in step.tool_results],
                "usage": _usage(step.usage),
            }
            for step in result.steps
        ],
    }


def _call(call: ToolCall) -> dict[str, Any]:
    data: dict[str, Any] = {"id": call.id, "tool": call.name, "args": call.arguments}
    return data if call.fault is None else data | {"raw": call.raw, "fault": call.fault}


def _message(message: Any) -> dict[str, Any]:
    return {
        "id": message.tool_call_id,
        "tool": message.name or "",
        "status": message.status,
        "text": message.text,
    }


def _usage(usage: Any) -> dict[str, int] | None:
    if usage is None:
        return None
    return {name: getattr(usage, name) for name in _COUNTS}


_COUNTS = ("input_tokens", "output_tokens", "total_tokens", "cached_tokens")


def _write(data: Mapping[str, Any]) -> None:
    # Plain ASCII: no terminal, pipe or locale can spoil it, and no lone surrogate can stop it.
    sys.stdout.write(json.dumps(data, default=str) + "\n")
    sys.stdout.flush()
