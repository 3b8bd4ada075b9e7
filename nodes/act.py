"""act: one call of the chat model, which answers or proposes tool calls.

Reads: messages, run, ledger, plan, critique. Writes: messages, run, ledger, withheld.
Outcomes: `call` (it proposes calls), `answer` (it is done), `limit` (the step bound or a limit of
the policy is reached, or the run goes in circles).

    nodes:
      act: {kind: act}
      answer: {kind: act, tools: none, instructions: Sum up what was found.}

The node holds tool descriptions only. A secret in what the model writes is masked before it can
reach a checkpoint; where it stood in a call's arguments, that is noted for the guard.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from pydantic import Field

from ..guards.limits import LOOP
from ._base import (
    CUT,
    Here,
    LimitReached,
    NodeSpec,
    Result,
    State,
    Step,
    add_usage,
    ask_model,
    open_run,
)
from ._fit import trimmed
from ._images import without_seen
from ._loop import Circle, looked_at
from ._marks import what_marks_mean, with_marks
from ._reply import CUT_OFF, is_cut_off, sealed
from .plan import FAILED, as_text


class Spec(NodeSpec):
    reads: ClassVar = frozenset({"messages", "run", "ledger", "plan", "critique"})
    writes: ClassVar = frozenset({"messages", "run", "ledger", "withheld"})
    needs: ClassVar = frozenset({"prompt", "boundary"})
    counted: ClassVar = frozenset({"call"})

    kind: Literal["act"]
    tools: Literal["all", "none"] = "all"
    instructions: str = ""
    max_substeps: int | None = Field(default=None, ge=1)
    """Tool rounds for one step of a plan; without it, the run's `max_steps` holds."""

    def outcomes(self) -> tuple[str, ...]:
        return ("call", "answer", "limit") if self.tools == "all" else ("answer",)


def step(spec: Spec, state: State, here: Here) -> Step:
    run, update, state = open_run(state)
    with_tools = spec.tools == "all"
    circle: Circle | None = None
    if with_tools:
        run, circle = looked_at(run, state, here.policy)
        if circle is not None and circle.ends_the_run:
            run["over"] = LOOP
    if with_tools and run.get("over"):
        return Result("limit", {**update, "run": {**run, "stopped": run["over"]}})
    if with_tools and run.get("steps", 0) >= (spec.max_substeps or here.max_steps):
        return Result("limit", {**update, "run": {**run, "stopped": "max_steps"}})
    try:
        line = circle.line if circle is not None and circle.is_told else ""
        asked = _messages(spec, state, here, run, line)
        reply = yield from ask_model(asked, here, tools=with_tools, rest=bool(run.get(CUT)))
    except LimitReached as reached:
        stopped = {**update, "run": {**run, "stopped": reached.reason}}
        return Result("limit" if with_tools else "answer", stopped)
    message, withheld = sealed(reply, here.policy, state, keep_calls=with_tools)
    run = add_usage(run, reply)
    calling = bool(message and (message.tool_calls or message.invalid_tool_calls))
    if not calling and is_cut_off(reply):
        run["stopped"] = CUT_OFF
    run["steps"] = run.get("steps", 0) + calling
    update |= {"run": run, "withheld": withheld}
    if message:
        update["messages"] = [*update.get("messages", ()), message]
    return Result("call" if calling else "answer", update)


def _messages(
    spec: Spec, state: State, here: Here, run: Mapping[str, Any], line: str
) -> list[BaseMessage]:
    """What the model reads: one system message (all that providers agree on), then the thread."""
    thread: Sequence[BaseMessage] = trimmed(state.get("messages") or [], run)
    parts = [
        here.prompt,
        spec.instructions,
        what_marks_mean(thread, here.boundary),
        focus(state.get("plan")),
        state.get("critique") or "",
        line,
    ]
    system = "\n\n".join(part for part in parts if part)
    shown = without_seen(with_marks(thread, here.boundary), thread, state.get("plan"))
    if shown and isinstance(shown[-1], AIMessage) and (wish := _wish(state)):
        shown.append(HumanMessage(wish))
    return [SystemMessage(system), *shown] if system else shown


def focus(plan: Mapping[str, Any] | None) -> str:
    """What a plan asks of the model now: the steps, their results, the one that is due."""
    if not plan or not plan.get("steps"):
        return ""
    due = len(plan.get("results", [])) + 1
    text = as_text(plan)
    if due > len(plan["steps"]):
        return text
    return (
        f"{text}\nDo step {due} now, and only that; then say what came out. If it cannot be done,"
        f" answer {FAILED}: and why."
    )


def _wish(state: State) -> str:
    """What is asked of a model that spoke last: no provider lets it speak twice in a row."""
    if state.get("critique"):
        return "Answer again, with what the review of your last answer asks for."
    plan = state.get("plan") or {}
    due = len(plan.get("results") or ()) + 1
    if not plan.get("steps"):
        return ""
    return f"Do step {due} now." if due <= len(plan["steps"]) else "Answer the task now."
