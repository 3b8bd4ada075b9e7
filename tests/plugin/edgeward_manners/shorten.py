"""shorten: cuts the last answer to a length.

Reads: messages. Writes: messages. Outcomes: `done`.

    nodes: {short: {kind: shorten, max_chars: 280}}
    edges: {act.answer: short, short.done: end}
"""

from __future__ import annotations

from typing import Literal

from langchain_core.messages import AIMessage
from pydantic import Field

from edgeward.nodes._base import Here, NodeSpec, Result, State, Step


class Spec(NodeSpec):
    reads = frozenset({"messages"})
    writes = frozenset({"messages"})

    kind: Literal["shorten"]
    max_chars: int = Field(default=280, ge=1)

    def outcomes(self) -> tuple[str, ...]:
        return ("done",)


def step(spec: Spec, state: State, here: Here) -> Step:
    last = state["messages"][-1]
    if not isinstance(last, AIMessage) or len(last.text) <= spec.max_chars:
        return Result("done")
    cut = f"{last.text[: spec.max_chars - 1]}…"
    return Result("done", {"messages": [AIMessage(cut, id=last.id)]})
    yield  # it asks for nothing, and is a generator like every step
