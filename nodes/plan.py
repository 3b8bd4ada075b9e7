"""plan: splits the task into steps, walks through them, and plans anew where one fails.

Reads: messages, run, ledger, plan. Writes: messages, run, ledger, plan.
Outcomes: `step` (one is due: do it), `done` (nothing more is to be done: sum up).

    nodes: {plan: {kind: plan, max_steps: 5, max_replans: 2}}
    edges: {plan.step: act, plan.done: answer}

The first visit of a run asks the model for a plan; each later visit takes the last answer as the
result of the step that was due, and is done where a limit ended the run. A text in which no step is
found is a plan of one step: the task. A step that was not finished, whose answer was cut off, or
begins with FAILED, has what is left planned anew, at most `max_replans` times in a run; a run in
which such a step stays is not reported as answered.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any, Literal

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from pydantic import Field

from ..guards.limits import ENDS
from ._base import (
    CallModel,
    Catalog,
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
from ._marks import what_marks_mean, with_marks
from ._reply import CUT_OFF, FILTERED, POOR_ENDS
from ._steps import steps_in

ASK = (
    "Break the user's task into at most {n} short steps, each of which can be done on its own with "
    "the tools at hand. Answer with the steps only, as a numbered list."
)
ASK_AGAIN = (
    "{plan}\n\nStep {failed} could not be done. Write down the steps that are left to do for the "
    "user's task, another way round what failed, at most {n}, as a numbered list and nothing else. "
    "Answer DONE if nothing is left that can be done."
)
PLAN_NOW = "Plan now what is left to do."
RESULT_CHARS = 2_000
INCOMPLETE = "(not finished within its limit)"
NOTHING = "(nothing)"
ENDLESS = "[cut off here: the model's bound on an answer was reached]"
WITHHELD = "[cut off here: the provider withheld the rest]"
FAILED = "FAILED"
"""How the answer to a step begins that could not be done."""
UNFINISHED = "incomplete"
"""Why a run stopped in which a step of the plan was not done."""

Plan = dict[str, Any]


class Spec(NodeSpec):
    reads = frozenset({"messages", "run", "ledger", "plan"})
    writes = frozenset({"messages", "run", "ledger", "plan"})
    needs = frozenset({"prompt", "boundary", "catalog"})
    counted = frozenset({"step"})

    kind: Literal["plan"]
    max_steps: int | None = Field(default=None, ge=1)
    """Steps a plan may have; without it, the run's `max_steps` holds."""
    max_replans: int = Field(default=0, ge=0)
    """How often in a run what is left is planned anew because a step failed."""

    def outcomes(self) -> tuple[str, ...]:
        return ("step", "done")


def step(spec: Spec, state: State, here: Here) -> Step:
    run, update, state = open_run(state, here.policy)
    plan: Plan = dict(state.get("plan") or {})
    messages: Sequence[BaseMessage] = state.get("messages") or []
    limit = spec.max_steps or here.max_steps
    try:
        if not plan or plan["run"] != run.get("id"):
            run, text = yield from _asked(ASK.format(n=limit), messages, run, here)
            steps = steps_in(text)[:limit] or [_task(messages)]
            plan = {"run": run.get("id"), "steps": steps, "results": []}
        elif len(plan["results"]) < len(plan["steps"]):
            cut = {CUT_OFF: ENDLESS, FILTERED: WITHHELD}.get(run.get("stopped", ""), "")
            plan = _with_result(plan, _result(messages, plan.get("after")), cut=cut)
            if run.get("stopped") in POOR_ENDS:  # it is told by the plan from now on
                run = {**run, "stopped": ""}
            if _may_replan(spec, plan, run):
                run, plan = yield from _replanned(plan, limit, messages, run, here)
    except LimitReached as reached:
        run = {**run, "stopped": reached.reason}
    left = bool(plan) and len(plan["results"]) < len(plan["steps"])
    due = left and run.get("stopped") not in ENDS
    if due:  # each step has its own tool rounds; a plan that is done gives none
        run = {**run, "steps": 0}
        plan["after"] = messages[-1].id if messages else None
    elif plan and plan.get("failed") and not run.get("stopped"):
        run = {**run, "stopped": UNFINISHED}
    update |= {"run": run} | ({"plan": plan} if plan else {})
    return Result("step" if due else "done", update)


def _asked(
    ask: str, messages: Sequence[BaseMessage], run: dict[str, Any], here: Here
) -> Generator[Any, Any, tuple[dict[str, Any], str]]:
    """The run's counters, and what the model writes."""
    parts = (here.prompt, what_marks_mean(messages, here.boundary), tools_at_hand(here.catalog))
    system = SystemMessage("\n\n".join(part for part in (*parts, ask) if part))
    shown = with_marks(trimmed(messages, run), here.boundary)
    if shown and isinstance(shown[-1], AIMessage):
        shown.append(HumanMessage(PLAN_NOW))  # no provider lets a model speak twice in a row
    reply = yield from ask_model(CallModel([system, *shown], tools=False), here)
    return add_usage(run, reply), here.policy.redactor.secrets(reply.text)[0]


def _may_replan(spec: Spec, plan: Plan, run: Mapping[str, Any]) -> bool:
    """Whether the step that was done last failed, and the rest may be planned anew."""
    failed = plan.get("failed") or []
    return (
        bool(failed)
        and failed[-1] == len(plan["results"]) - 1
        and plan.get("replans", 0) < spec.max_replans
        and run.get("stopped") not in ENDS
    )


def _replanned(
    plan: Plan, limit: int, messages: Sequence[BaseMessage], run: dict[str, Any], here: Here
) -> Generator[Any, Any, tuple[dict[str, Any], Plan]]:
    """The plan with other steps in place of those that were left; as it was where there are none,
    or where the model failed: planning anew never ends a run."""
    plan = {**plan, "replans": plan.get("replans", 0) + 1}
    done: int = len(plan["results"])
    most = max(limit - (done - len(plan["failed"])), 1)  # what failed takes no place
    ask = ASK_AGAIN.format(plan=as_text(plan), failed=done, n=most)
    try:
        run, text = yield from _asked(ask, messages, run, here)
    except LimitReached:
        raise
    except Exception:  # noqa: BLE001 - see the docstring
        return run, plan
    if text.strip().strip("*.").upper() == "DONE":
        return run, {**plan, "steps": plan["steps"][:done]}
    steps = steps_in(text)[:most]
    if not steps:
        return run, plan
    if run.get("stopped") == "max_steps":  # of the step that others stand in for now
        run = {**run, "stopped": ""}
    failed = plan["failed"][:-1]
    return run, {**plan, "steps": [*plan["steps"][:done], *steps], "failed": failed}


def _with_result(plan: Plan, result: str, *, cut: str) -> Plan:
    """The plan with what came of the step that was due; `cut`: how its answer broke off."""
    number = len(plan["results"])
    told = f"{result} {cut}" if cut else result
    plan = {**plan, "results": [*plan["results"], told]}
    if cut or result in (INCOMPLETE, NOTHING) or result.lstrip("*# ").upper().startswith(FAILED):
        plan["failed"] = [*(plan.get("failed") or []), number]
    return plan


def as_text(plan: Mapping[str, Any]) -> str:
    """A plan and its results so far, for a model."""
    done: Sequence[str] = plan.get("results", [])
    lines = ["Plan:"]
    for number, text in enumerate(plan["steps"]):
        mark = f" -> {done[number]}" if number < len(done) else ""
        lines.append(f"{number + 1}. {text}{mark}")
    return "\n".join(lines)


def tools_at_hand(catalog: Catalog | None) -> str:
    """The tools' names, so that a plan asks for nothing that no tool can do."""
    names = catalog.names if catalog is not None else ()
    return f"Tools at hand: {', '.join(names[:TOOLS_NAMED])}." if names else ""


TOOLS_NAMED = 100
"""Tools that a planner is told of."""


def _task(messages: Sequence[BaseMessage]) -> str:
    asked = [m.text for m in messages if isinstance(m, HumanMessage)]
    return asked[-1] if asked else "Do what the user asked."


def _result(messages: Sequence[BaseMessage], after: str | None) -> str:
    """What came of the step that was due: the last answer, if it came `after` the step began."""
    last = messages[-1] if messages else None
    if last is None or last.id == after:
        return NOTHING  # the reply was empty, and was not kept
    if not isinstance(last, AIMessage) or last.tool_calls:
        return INCOMPLETE
    return last.text.strip()[:RESULT_CHARS] or NOTHING
