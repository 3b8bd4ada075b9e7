"""What a run leaves behind: its outcome or failure, and its messages, each with its origin.

The origin is read off the thread, not off the texts: once any tool has answered in a thread, what
the model writes there may be that tool's words.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from .block import MemoryBlock
from .records import Note, Trust

GOOD_ENDS = ("", "answered", "max_revisions")
ROLES = {"human": "user", "ai": "assistant", "tool": "tool", "system": "system"}
MAX_ARGUMENT_CHARS = 300
MAX_FAILURE_CHARS = 500
USER = "user"
_TOOL = "tool "


@dataclass(frozen=True, slots=True)
class Leaving:
    """How a run is kept. `clean` is the policy's masking."""

    block: MemoryBlock
    clean: Callable[[str], str]
    outcome: bool = True
    trajectory: bool = True

    def notes(
        self, values: Mapping[str, Any], *, thread: str = "", begun: str = "", failure: str = ""
    ) -> tuple[list[Note], str]:
        """What to keep of a thread's last run, or of the one that message `begun` began; its task.

        `values` is the thread's state; `failure` what the run broke off with.
        """
        messages: Sequence[BaseMessage] = values.get("messages") or []
        start, end = _run(messages, begun)
        task = messages[start].text if start < end else ""
        sources = sources_of(values, messages[:end])
        trust: Trust = "untrusted" if sources else "model"
        said = [m for m in messages[start:end] if isinstance(m, AIMessage)]
        last = next((m for m in reversed(said) if m.text.strip() and not m.tool_calls), None)
        found: list[Note] = []

        def keep(text: str, kind: Any, **more: Any) -> None:
            note = {"role": "assistant", "trust": trust, "sources": sources, **more}
            if text.strip():
                found.append(Note(self.clean(text), kind, thread=thread, **note))

        if self.trajectory:
            for message in messages[start:end]:
                if message is last and self.outcome:
                    continue  # it is the outcome
                role = ROLES.get(message.type, message.type)
                mine: dict[str, Any] = {"role": role}
                if role == USER and message.name is None:
                    mine |= {"trust": "user", "sources": ()}
                elif isinstance(message, ToolMessage):
                    mine |= {"trust": "untrusted", "sources": (f"{_TOOL}{message.name}",)}
                keep(self._said(message, role), "trajectory", **mine)
        if self.outcome:
            stopped = str((values.get("run") or {}).get("stopped") or "")
            if failure:
                # Cleaned before it is cut: half a secret is none that a pattern knows.
                why = self.clean(failure)[:MAX_FAILURE_CHARS]
                keep(f"Task: {task}\nFailed: {why}", "failure")
            elif stopped not in GOOD_ENDS:
                end_text = f"\nSaid last: {last.text}" if last else ""
                keep(f"Task: {task}\nStopped: {stopped}{end_text}", "failure")
            elif last is not None:
                keep(f"Task: {task}\nAnswer: {last.text}", "outcome")
        return found, task

    def _said(self, message: BaseMessage, role: str) -> str:
        """A message as it is kept: without the roles and fields that the profile leaves out."""
        if role in {name.casefold() for name in self.block.ignore_roles}:
            return ""
        left_out = set(self.block.ignore_fields)
        parts = [] if "content" in left_out else [str(message.text)]
        if isinstance(message, AIMessage):
            if "tool_calls" not in left_out:
                parts += [self._called(call["name"], call["args"]) for call in message.tool_calls]
            if "reasoning_content" not in left_out:
                parts.append(str(message.additional_kwargs.get("reasoning_content") or ""))
        return "\n".join(part for part in parts if part.strip())

    def _called(self, name: str, arguments: Any) -> str:
        text = json.dumps(arguments, ensure_ascii=False, default=str, sort_keys=True)
        return f"called {name}({self.clean(text)[:MAX_ARGUMENT_CHARS]})"


def sources_of(values: Mapping[str, Any], messages: Iterable[BaseMessage]) -> tuple[str, ...]:
    """The tools whose outputs the thread has seen, also where a summary replaced them."""
    found: dict[str, None] = {}
    for entry in values.get("ledger") or ():
        if str(entry.get("source", USER)) != USER:
            found.setdefault(str(entry["source"]))
    for record in values.get("verdicts") or ():
        if record.get("word") != "block":
            found.setdefault(f"{_TOOL}{record.get('tool')}")
    for message in messages:
        if isinstance(message, ToolMessage):
            found.setdefault(f"{_TOOL}{message.name or 'unknown'}")
        elif isinstance(message, HumanMessage) and message.name is not None:
            found.setdefault(message.name)  # a summary of what others wrote, say
    return tuple(found)


def _run(messages: Sequence[BaseMessage], begun: str) -> tuple[int, int]:
    """From where to where a run's messages stand."""
    starts = [n for n, m in enumerate(messages) if isinstance(m, HumanMessage) and m.name is None]
    if not starts:
        return len(messages), len(messages)
    start = next((n for n in starts if begun and messages[n].id == begun), starts[-1])
    return start, next((n for n in starts if n > start), len(messages))
