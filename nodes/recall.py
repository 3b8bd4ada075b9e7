"""recall: looks into the memory before the model is asked, once a run.

Reads: messages, run, ledger. Writes: messages, run, ledger, withheld.
Outcomes: `call` (it proposes a call of `memory_recall`), `skip` (there is no such tool, or nothing
to look for).

    nodes: {recall: {kind: recall, top_k: 3}}
    edges: {recall.call: guard, recall.skip: act}

What a model that looks for itself would propose, this node proposes, with the user's words as the
query: the guard decides on the call, and what it brings back is a tool's output, untrusted. With
`memory: {recall: always}` in a profile, agents and graphs have such a node in front of their
strategy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from pydantic import Field

from ._base import Here, NodeSpec, Result, State, Step, open_run
from ._proposed import proposed
from ._reply import sealed

RECALL = "memory_recall"
DONE = "recalled"
"""In a run's counters: the memory was looked into."""
QUERY_CHARS = 1_000


class Spec(NodeSpec):
    reads = frozenset({"messages", "run", "ledger"})
    writes = frozenset({"messages", "run", "ledger", "withheld"})
    needs = frozenset({"catalog"})

    kind: Literal["recall"]
    top_k: int = Field(default=5, ge=1, le=20)
    """Records that come back at most."""

    def outcomes(self) -> tuple[str, ...]:
        return ("call", "skip")


def step(spec: Spec, state: State, here: Here) -> Step:
    run, update, state = open_run(state, here.policy)
    query = _asked(state.get("messages") or [])[:QUERY_CHARS].strip()
    there = here.catalog is not None and RECALL in here.catalog.names
    if not there or not query or run.get(DONE):
        return Result("skip", {**update, "run": run})
    call = {"name": RECALL, "args": {"query": query, "top_k": spec.top_k}, "id": RECALL}
    call_for_it = AIMessage("", tool_calls=[call])
    message, withheld = sealed(call_for_it, here.policy, state, keep_calls=True)
    assert message is not None  # it proposes a call
    run = {**run, **proposed(message, here), DONE: True}
    messages = [*update.get("messages", ()), message]
    return Result("call", {**update, "run": run, "withheld": withheld, "messages": messages})
    yield  # a step is a generator; this one asks for nothing


def _asked(messages: Sequence[BaseMessage]) -> str:
    last = messages[-1] if messages else None
    return last.text if isinstance(last, HumanMessage) else ""
