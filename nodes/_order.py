"""How the gates of `sequence` stand in a thread: read from the run's counters, kept there.

The states are a few bits that each turn of calls moves; no decision reads the thread again. Only a
thread that is older than the policy's `sequence` is read once, from its messages and verdicts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage, ToolMessage

from ..guards.automata import Automata, States
from ._base import State
from ._messages import MessageLog

ORDER = "order"
"""Where the run's counters keep it: `{"key", "run", "states", "turn"}`.

`turn` are the calls that were let through last, by id: what came of them is not known yet.
"""

Order = dict[str, Any]


def standing(automata: Automata, state: State) -> Order:
    """The gates as they stand for the calls that are proposed now."""
    run: Mapping[str, Any] = state.get("run") or {}
    kept: Order | None = run.get(ORDER)
    if kept is None or kept["key"] != automata.key:
        states = _replayed(automata, state)
        return {"key": automata.key, "run": run.get("id"), "states": list(states), "turn": {}}
    kept = landed(automata, kept, state)
    if kept["run"] != run.get("id"):
        states = automata.spoke(tuple(kept["states"]))
        kept = {**kept, "run": run.get("id"), "states": list(states)}
    return kept


def landed(automata: Automata, order: Order, state: State) -> Order:
    """The order with what came of the last turn's calls, as far as the messages say."""
    turn: Mapping[str, str] = order["turn"]
    if not turn:
        return order
    messages = state.get("messages") or []
    log = messages if isinstance(messages, MessageLog) else MessageLog(messages)
    answers = {call_id: log.answer(call_id) for call_id in turn}
    ran = [c for c, found in answers.items() if found is not None and found.status == "success"]
    states = automata.advance(
        tuple(order["states"]), through=list(turn.values()), done=[turn[call_id] for call_id in ran]
    )
    return {**order, "states": list(states), "turn": {}}


def gone_on(automata: Automata, order: Order, through: Mapping[str, str]) -> Order:
    """The order once calls were let through: tool names by call id."""
    states = automata.advance(tuple(order["states"]), through=list(through.values()))
    return {**order, "states": list(states), "turn": dict(through)}


def _replayed(automata: Automata, state: State) -> States:
    """The states after all that this thread has seen, strictly: what was let through shuts, and
    what opens is not believed, except the user's own word."""
    messages: Sequence[BaseMessage] = state.get("messages") or []
    records: Iterable[Mapping[str, Any]] = state.get("verdicts") or []
    ran = {r["id"]: r["tool"] for r in records if _let_through(r)}
    refused = {r["id"] for r in records if r["id"] not in ran}
    shown = {m.tool_call_id for m in messages if isinstance(m, ToolMessage)}
    gone = [tool for call_id, tool in ran.items() if call_id not in shown]
    states = automata.advance(automata.start, through=gone)
    for message in messages:
        if isinstance(message, HumanMessage):
            states = automata.spoke(states)
        elif isinstance(message, ToolMessage) and message.tool_call_id not in refused:
            states = automata.advance(states, through=[message.name or ""])
    return states


def _let_through(record: Mapping[str, Any]) -> bool:
    approval = record.get("approval")
    if record["word"] == "ask":
        return approval is not None and approval["decision"] != "reject"
    return record["word"] in ("allow", "redact")
