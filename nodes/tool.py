"""tool: runs one approved call. As many run side by side as the guard let through.

Reads: approved (the call and the ticket that the guard sent). Writes: messages, ledger, vault.
Outcomes: `done` (the call is answered: by the tool's result, or by what went wrong).

    nodes: {tool: {kind: tool, timeout_s: 30}}
    edges: {tool.done: act}

Each call is a task of its own: after a crash only those that had not finished run again, and in the
process in which they were begun not even those. Whatever a tool does (raise, hang, exit, return any
object) becomes exactly one tool message. A call that has its answer does not run again, however it
comes here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from langchain_core.messages import ToolMessage
from pydantic import Field

from ..guards.detectors import Opinion
from ..guards.results import for_detectors, screen
from ..guards.veil import HELD, SEALED
from ..guards.verdict import ToolCall
from ._base import (
    AskDetectors,
    Here,
    NodeFault,
    NodeSpec,
    Result,
    RunTool,
    State,
    Step,
    ToolOutcome,
)
from ._shorten import FOR, mark_of

DEFAULT_TIMEOUT_S = 60.0


class Spec(NodeSpec):
    reads = frozenset({"approved"})
    writes = frozenset({"messages", "ledger", "vault"})
    needs = frozenset({"answered", "veil"})

    kind: Literal["tool"]
    timeout_s: float = Field(default=DEFAULT_TIMEOUT_S, gt=0)
    """Seconds a call may take; a tool of the profile may have its own limit."""
    max_chars: int = Field(default=100_000, ge=1_000)
    """Characters of a result that the model gets to see."""

    def outcomes(self) -> tuple[str, ...]:
        return ("done",)


def step(spec: Spec, state: State, here: Here) -> Step:
    call = here.veil.unpacked(_received(state), state.get(SEALED))
    if here.answered is not None and here.answered(call.id):
        return Result("done")  # a ticket that was used: the call has run, and has its answer
    outcome: ToolOutcome = yield RunTool(call, state.get("ticket"), timeout_s=spec.timeout_s)
    said: tuple[Opinion, ...] = ()
    if here.policy.results.detectors:
        shown = for_detectors(here.policy, outcome.text, max_chars=spec.max_chars)
        said = yield AskDetectors(shown)
    result = screen(
        here.policy, outcome.text, said=said, max_chars=spec.max_chars, edge=here.veil.edge
    )
    safe, held = here.veil.admitted(result.text)
    message = ToolMessage(
        safe if safe.strip() else "(no output)",
        tool_call_id=call.id,
        name=call.name,
        status="error" if outcome.failed else "success",
        artifact=_beside(result.record, mark_of(here.caller)),
        additional_kwargs={HELD: held} if held else {},
    )
    update: dict[str, Any] = {"messages": [message]} | ({"vault": held} if held else {})
    source = f"tool {call.name}"
    seen = here.policy.observed(
        call,
        result.text if outcome.failed or result.withheld else result.whole,
        source=source,
        caller=here.caller,
        failed=outcome.failed,
        withheld=result.withheld,
    )
    if result.record:
        seen = {**(seen or {"source": source, "call": call.id, "values": []}), **result.noted}
    if seen:
        update["ledger"] = [here.veil.entry(seen, result.whole)]
    return Result("done", update)


def _beside(record: Mapping[str, Any] | None, caller: str) -> dict[str, Any] | None:
    """What is kept with a result and no model sees."""
    artifact = ({"edgeward": record} if record else {}) | ({FOR: caller} if caller else {})
    return artifact or None


def _received(state: State) -> ToolCall:
    """The call that was sent here. Anything else means that somebody jumped to this node."""
    sent = state.get("call")
    if not isinstance(sent, Mapping) or set(sent) != {"id", "name", "arguments"}:
        raise NodeFault("a tool node runs only what a guard sent to it; nothing was sent")
    return ToolCall(str(sent["name"]), sent["arguments"], id=str(sent["id"]))
