"""What happens once in this process, however often LangGraph runs the task in which it does.

A task that broke off is run again when its thread goes on, and two runs that go on from one
checkpoint at once both run its tasks. So one answer of a person would let a call run twice, and a
call that somebody cancelled while its tool was at work would be carried out again.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from ..turns import known_by

MOST_KEPT = 4_096

_TASK, _PAD = "__pregel_task_id", "__pregel_scratchpad"


class Once:
    """Things that were done; the oldest are forgotten. May be shared by threads."""

    def __init__(self) -> None:
        self._done: OrderedDict[tuple[str, object], None] = OrderedDict()
        self._lock = threading.Lock()

    def is_first(self, task: str | None, what: object) -> bool:
        """Whether this is done in this task for the first time, and note it. Outside of any task
        everything is."""
        if task is None:
            return True
        with self._lock:
            if (task, what) in self._done:
                return False
            self._done[task, what] = None
            if len(self._done) > MOST_KEPT:
                self._done.popitem(last=False)
        return True

    def undo(self, task: str | None, what: object) -> None:
        """It was not done after all."""
        with self._lock:
            self._done.pop((task or "", what), None)


_answers, _calls = Once(), Once()


def task_of(config: Mapping[str, Any] | None) -> str | None:
    """What tells a task of LangGraph's from all others; the same when it runs again."""
    found = ((config or {}).get("configurable") or {}).get(_TASK)
    return None if found is None else str(found)


def is_first_use(config: Mapping[str, Any] | None) -> bool:
    """Whether nobody went on by this answer of a person before: of this task, so many answers."""
    pad = ((config or {}).get("configurable") or {}).get(_PAD)
    return pad is None or _answers.is_first(task_of(config), len(pad.resume))


def is_first_run(config: Mapping[str, Any] | None, call_id: str) -> bool:
    """Whether the call is run for the first time in this task. Models write long ids."""
    return _calls.is_first(task_of(config), known_by(call_id))


def may_run_again(config: Mapping[str, Any] | None, call_id: str) -> None:
    """The call came to an end that its task knows of, waits for a person, or was stopped by the one
    whose program it is: another run of it is no surprise."""
    _calls.undo(task_of(config), known_by(call_id))


BEGUN = (
    "Not run again: {name} was begun for this very call before, and what came of it is not known."
    " If it is still wanted, propose it again."
)
"""Said of a call in place of running it once more."""
