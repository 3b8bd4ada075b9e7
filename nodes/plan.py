"""plan: splits the task into steps, then walks through them.

Reads: messages, run, ledger, plan. Writes: messages, run, ledger, plan.
Outcomes: `step` (one is due: do it), `done` (all are done: sum up).

    nodes: {plan: {kind: plan, max_steps: 5}}
    edges: {plan.step: act, plan.done: answer}

The first visit of a run asks the model for a plan; each later visit takes the last answer as the
result of the step that was due, and is done where a limit ended the run. A text in which no step is
found is a plan of one step: the task.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from pydantic import Field

from ..guards.limits import ENDS
from ._base import Here, LimitReached, NodeSpec, Result, State, Step, add_usage, ask_model, open_run
from ._fit import trimmed
from ._marks import what_marks_mean, with_marks

ASK = (
    "Break the user's task into at most {n} short steps, each of which can be done on its own with "
    "the tools at hand. Answer with the steps only, as a numbered list."
)
RESULT_CHARS = 2_000
INCOMPLETE = "(not finished within its limit)"

_ITEM = re.compile(r"^\s*(?:(?:step\s+)?\d{1,3}\s*[.):]|[-*•])\s+(\S.*)$", re.IGNORECASE)


class Spec(NodeSpec):
    reads: ClassVar = frozenset({"messages", "run", "ledger", "plan"})
    writes: ClassVar = frozenset({"messages", "run", "ledger", "plan"})
    needs: ClassVar = frozenset({"prompt", "boundary"})
    counted: ClassVar = frozenset({"step"})

    kind: Literal["plan"]
    max_steps: int | None = Field(default=None, ge=1)
    """Steps a plan may have; without it, the run's `max_steps` holds."""

    def outcomes(self) -> tuple[str, ...]:
        return ("step", "done")


def step(spec: Spec, state: State, here: Here) -> Step:
    run, update, state = open_run(state)
    plan: dict[str, Any] = state.get("plan") or {}
    messages: Sequence[BaseMessage] = state.get("messages") or []
    if not plan or plan["run"] != run.get("id"):
        limit = spec.max_steps or here.max_steps
        parts = (here.prompt, what_marks_mean(messages, here.boundary), ASK.format(n=limit))
        system = SystemMessage("\n\n".join(part for part in parts if part))
        asked = [system, *with_marks(trimmed(messages, run), here.boundary)]
        try:
            reply = yield from ask_model(asked, here, tools=False)
        except LimitReached as reached:
            return Result("done", {**update, "run": {**run, "stopped": reached.reason}})
        run = add_usage(run, reply)
        text = here.policy.redactor.secrets(reply.text)[0]
        steps = steps_in(text)[:limit] or [_task(messages)]
        plan = {"run": run.get("id"), "steps": steps, "results": []}
    elif len(plan["results"]) < len(plan["steps"]):
        plan = {**plan, "results": [*plan["results"], _result(messages, plan.get("after"))]}
    due = len(plan["results"]) < len(plan["steps"]) and run.get("stopped") not in ENDS
    if due:  # each step has its own tool rounds; a plan that is done gives none
        run = {**run, "steps": 0}
        plan["after"] = messages[-1].id if messages else None
    update |= {"run": run, "plan": plan}
    return Result("step" if due else "done", update)


def steps_in(text: str) -> list[str]:
    """The steps a model wrote down: as JSON, fenced or not, or as a numbered or bulleted list."""
    for candidate in (_fenced(text), text, _bracketed(text)):
        steps = _from_json(candidate)
        if steps:
            return steps
    matches = (_ITEM.match(line) for line in text.splitlines())
    return [match.group(1).strip().strip("*").strip() for match in matches if match]


def _fenced(text: str) -> str:
    _, fence, rest = text.partition("```")
    if not fence:
        return ""
    body = rest.partition("```")[0]
    return body.removeprefix("json").removeprefix("JSON")


def _bracketed(text: str) -> str:
    starts = [i for i in (text.find("{"), text.find("[")) if i >= 0]
    end = max(text.rfind("}"), text.rfind("]"))
    return text[min(starts) : end + 1] if starts and end > 0 else ""


def _from_json(text: str) -> list[str]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return []
    if isinstance(data, dict):
        lists = [v for k, v in data.items() if k in ("steps", "plan") and isinstance(v, list)]
        data = lists[0] if lists else None
    if not isinstance(data, list):
        return []
    return [text for item in data if (text := _step_text(item))]


def _step_text(item: object) -> str:
    if isinstance(item, str):
        return item.strip()
    if isinstance(item, dict):
        for key in ("step", "description", "task", "title", "action"):
            if isinstance(item.get(key), str):
                return str(item[key]).strip()
    return ""


def _task(messages: Sequence[BaseMessage]) -> str:
    asked = [m.text for m in messages if isinstance(m, HumanMessage)]
    return asked[-1] if asked else "Do what the user asked."


def _result(messages: Sequence[BaseMessage], after: str | None) -> str:
    """What came of the step that was due: the last answer, if it came `after` the step began."""
    last = messages[-1] if messages else None
    if last is None or last.id == after:
        return "(nothing)"  # the reply was empty, and was not kept
    if not isinstance(last, AIMessage) or last.tool_calls:
        return INCOMPLETE
    return last.text.strip()[:RESULT_CHARS] or "(nothing)"
