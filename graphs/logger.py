"""A log of what an agent's runs do: one JSON object a line, for people and programs.

It holds what the trace holds: what the model and the tools said, masked, and each verdict; no task,
and where a policy hides personal data, placeholders. A log never ends a run, nor makes one wait.
"""

from __future__ import annotations

import json
import logging
import threading
import weakref
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TextIO

from .events import Event

TEXT_CHARS = 2_000
"""Characters of a text that a line keeps."""

_LOG = logging.getLogger(__name__)
_CLOSE_S = 5.0


class AgentLogger:
    """Appends lines to a file. One may be shared by agents; `close` writes what is still waiting.

    A thread of its own does the writing, so that no event loop waits for a disk. Where the file
    cannot be written, that is said once (logging), and the lines are dropped.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._lines: SimpleQueue[str | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def write(self, kind: str, **fields: Any) -> None:
        """One line: the time, the kind, and the fields. Never raises."""
        now = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
        try:
            line = json.dumps({"time": now, "kind": kind, **fields}, default=str)
        except (TypeError, ValueError, RecursionError) as error:
            line = json.dumps({"time": now, "kind": kind, "fault": type(error).__name__})
        self._begin()
        self._lines.put(line)

    def event(self, agent: str, thread: str, event: Event) -> None:
        """One line for one event of a run."""
        self.write(event.kind, agent=agent, thread=thread, **_told(event))

    def close(self) -> None:
        """Write what is waiting and close the file. A line that comes later opens it again."""
        with self._lock:
            thread, self._thread = self._thread, None
        if thread is not None:
            _end(self._lines, thread)

    def _begin(self) -> None:
        with self._lock:
            if self._thread is not None and not self._thread.is_alive():  # in a forked process
                self._thread, self._lines = None, SimpleQueue()
            if self._thread is None:
                self._thread = threading.Thread(
                    target=_written, args=(self.path, self._lines), name="edgeward log", daemon=True
                )
                self._thread.start()
                # A program that never closes its agents has its last lines all the same.
                weakref.finalize(self, _end, self._lines, self._thread)


def _end(lines: SimpleQueue[str | None], thread: threading.Thread) -> None:
    if thread.is_alive():
        lines.put(None)
        thread.join(_CLOSE_S)


def _written(path: Path, lines: SimpleQueue[str | None]) -> None:
    file: TextIO | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a", encoding="utf-8")
    except OSError as error:
        _LOG.warning("edgeward: the log %s cannot be written: %s", path, error.strerror)
    while (line := lines.get()) is not None:
        if file is None:
            continue
        try:
            file.write(line + "\n")
            if lines.empty():
                file.flush()
        except OSError as error:
            _LOG.warning("edgeward: the log %s cannot be written: %s", path, error.strerror)
            file = None
    if file is not None:
        file.close()


def _told(event: Event) -> Mapping[str, Any]:
    """What a line says of an event."""
    match event.kind:
        case "plan":
            return {"steps": event.plan.get("steps"), "results": event.plan.get("results")}
        case "verdict":
            return {"record": event.record}
        case "waiting":
            return {"calls": [question.get("id") for question in event.questions]}
        case "result":
            assert event.message is not None
            tool, status = event.message.name, event.message.status
            call = event.message.tool_call_id
            return {"tool": tool, "call": call, "status": status, "text": event.text[:TEXT_CHARS]}
        case "calls" | "answer":
            calls = [{"id": c.id, "tool": c.name, "arguments": c.arguments} for c in event.calls]
            return {"text": event.text[:TEXT_CHARS], "calls": calls, "usage": event.usage}
    return {}
