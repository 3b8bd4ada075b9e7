"""One run of an agent: its thread, its input, and what its trace has so far."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Any

from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig

from ..arguments import require
from .admitted import LockViolation
from .context import RunContext
from .result import Trace
from .straight import STRAIGHT_KEY, Straight


class Run:
    """What belongs to one run of an agent."""

    def __init__(
        self,
        task: str,
        thread: str | None,
        max_steps: int | None,
        context: RunContext | None,
        message: HumanMessage | None = None,
    ) -> None:
        require("task", task, str, "a text")
        require("context", context, RunContext | None, "a RunContext or None")
        require("max_steps", max_steps, int | None, "a whole number or None")
        if max_steps is not None and max_steps < 1:
            raise ValueError(f"max_steps is {max_steps}; it must be 1 or more")
        self.forgets = thread is None
        self.thread = thread or uuid.uuid4().hex
        self.trace = Trace(task, self.thread)
        self.begun = uuid.uuid4().hex
        asked = message or HumanMessage(task)
        self.input = {"messages": [asked.model_copy(update={"id": self.begun})]}
        self.config: RunnableConfig = {"configurable": {"thread_id": self.thread}}
        facts = context or RunContext()
        if max_steps is not None:
            facts = replace(facts, max_steps=max_steps)
        self.facts = facts
        self.options: dict[str, Any] = {"stream_mode": "updates", "context": facts}

    def go_straight(self, *, rarely_kept: bool) -> None:
        """Let nodes hand on to one another: nobody looks at the run before it is over.

        `rarely_kept`: it is written down once, as it ends or waits.
        """
        self.config["configurable"][STRAIGHT_KEY] = Straight(self.thread)
        if rarely_kept:
            self.options["durability"] = "exit"

    def left(self, error: Exception | None = None) -> dict[str, Any]:
        """What the memory is told of the run."""
        failure = "" if error is None else f"{type(error).__name__}: {error}"
        return {"context": self.facts, "begun": self.begun, "failure": failure}

    def failed_with(self, error: Exception, given: Any) -> bool:
        """Whether a run failed, and not the attempt to begin or to go on with one."""
        return given is self.input and not isinstance(error, LockViolation)
