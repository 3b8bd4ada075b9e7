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
from typing import Any, Literal

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from pydantic import Field

from ..guards.limits import LOOP
from ._base import (
    CUT,
    CallModel,
    Here,
    LimitReached,
    NodeSpec,
    Result,
    State,
    Step,
    Update,
    add_usage,
    ask_model,
    open_calls,
    open_run,
)
from ._fit import trimmed
from ._images import without_seen
from ._index import IN_A_ROW, MOST_IN_A_ROW, SHOWN, looked_up
from ._loop import Circle, looked_at
from ._marks import known_of, what_marks_mean, with_marks
from ._messages import MessageLog
from ._proposed import proposed
from ._reply import EMPTY, FILTERED, POOR_ENDS, broken_off, sealed
from ._shorten import READ_REST
from ._sizes import tokens
from .plan import FAILED, as_text


class Spec(NodeSpec):
    reads = frozenset({"messages", "run", "ledger", "plan", "critique"})
    writes = frozenset({"messages", "run", "ledger", "withheld"})
    needs = frozenset({"prompt", "boundary", "index"})
    counted = frozenset({"call"})

    kind: Literal["act"]
    tools: Literal["all", "none"] = "all"
    instructions: str = ""
    max_substeps: int | None = Field(default=None, ge=1)
    """Tool rounds for one step of a plan; without it, the run's `max_steps` holds."""

    def outcomes(self) -> tuple[str, ...]:
        return ("call", "answer", "limit") if self.tools == "all" else ("answer",)


def step(spec: Spec, state: State, here: Here) -> Step:
    run, update, state = open_run(state, here.policy)
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
        asked = _request(spec, state, here, run, line)
        reply = yield from ask_model(asked, here)
    except LimitReached as reached:
        stopped = {**update, "run": {**run, "stopped": reached.reason}}
        return Result("limit" if with_tools else "answer", stopped)
    ended = broken_off(reply)
    # What the provider broke off is no whole turn: none of its calls is run.
    keep_calls = with_tools and ended != FILTERED
    message, withheld = sealed(reply, here.policy, state, keep_calls=keep_calls)
    run = add_usage(run, reply)
    calling = bool(message and (message.tool_calls or message.invalid_tool_calls))
    if not calling:
        ended = ended or ("" if message else EMPTY)
        if ended or run.get("stopped") in POOR_ENDS:
            run["stopped"] = ended
    run["steps"] = run.get("steps", 0) + calling
    if message is not None and calling:
        run |= proposed(message, here)
    said: list[BaseMessage] = [message] if message else []
    if here.index is not None and message is not None and calling:
        run, answers = looked_up(message, run, here.index)
        said += answers
    update |= {"run": run, "withheld": withheld}
    if said:
        update["messages"] = [*update.get("messages", ()), *said]
    if len(said) > 1 and not open_calls(said)[1]:
        return (yield from _asked_again(spec, state, here, update, said))
    return Result("call" if calling else "answer", update)


def _more(run: Mapping[str, Any], here: Here, with_tools: bool) -> tuple[str, ...]:
    """The tools that the model is shown besides those that it is always shown."""
    if not with_tools:
        return ()
    rest = (READ_REST,) if run.get(CUT) else ()
    return rest if here.index is None else (*rest, *run.get(SHOWN, ()))


def _asked_again(
    spec: Spec, state: State, here: Here, update: Update, said: Sequence[BaseMessage]
) -> Step:
    """The step once more, after a reply that did nothing but look tools up."""
    times = state.get(IN_A_ROW, 0) + 1
    if times >= MOST_IN_A_ROW:
        return Result("call", update)
    thread = state.get("messages") or []
    log = thread if isinstance(thread, MessageLog) else MessageLog(thread)
    again = {**state, "run": update["run"], "messages": log.merged(said), IN_A_ROW: times}
    result = yield from step(spec, again, here)
    messages = [*update["messages"], *result.update.get("messages", ())]
    return Result(result.outcome, {**update, **result.update, "messages": messages})


def _request(spec: Spec, state: State, here: Here, run: Mapping[str, Any], line: str) -> CallModel:
    """What the model reads: one system message (all that providers agree on), then the thread."""
    thread: Sequence[BaseMessage] = trimmed(state.get("messages") or [], run)
    parts = [
        here.prompt,
        here.index.text if here.index is not None and spec.tools == "all" else "",
        spec.instructions,
        what_marks_mean(thread, here.boundary),
        focus(state.get("plan")),
        state.get("critique") or "",
        line,
    ]
    system = "\n\n".join(part for part in parts if part)
    whole = with_marks(thread, here.boundary)
    shown = without_seen(whole, thread, state.get("plan"))
    size, texts = known_of(thread, here.boundary, whole) if shown is whole else (None, False)
    if shown and isinstance(shown[-1], AIMessage) and (wish := _wish(state)):
        shown.append(HumanMessage(wish))
        size = None if size is None else size + tokens(shown[-1])
    if system:
        shown = [SystemMessage(system), *shown]
        size = None if size is None else size + tokens(shown[0])
    with_tools = spec.tools == "all"
    more = _more(run, here, with_tools)
    return CallModel(shown, tools=with_tools, more=more, size=size, texts=texts)


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
