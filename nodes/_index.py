"""Where a model sees its tools as a list: looking one up, and which ones a thread has asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from langchain_core.messages import AIMessage, ToolMessage

FIND_TOOLS = "find_tools"
"""What the model calls to be shown tools. It is no tool: nothing runs, and the list is its own."""

SHOWN = "shown"
"""Of a thread's counters: the tools that it asked for, in the order in which they are shown."""

IN_A_ROW = "looked_up"
"""How many look-ups a step has done; between its parts only, no graph's state has it."""

MOST_IN_A_ROW = 8
"""Look-ups in one graph step; more of them go through the graph, which bounds every loop."""


LISTING: Mapping[str, Any] = {"edgeward": {"listing": True}}
"""The artifact of an answer to a look-up: such a text is the makers', as schemas are."""


class Index(Protocol):
    """The tools as a list."""

    @property
    def text(self) -> str:
        """The list, for the system prompt."""
        ...

    def __contains__(self, name: object) -> bool: ...

    def find(self, query: str) -> list[str]:
        """The tools that are meant, the best first."""
        ...

    def told(self, found: Sequence[str]) -> str:
        """What the model is told of them."""
        ...

    def kept(self, shown: Sequence[str], found: Sequence[str]) -> list[str]:
        """The tools that are shown from now on."""
        ...


def looked_up(
    message: AIMessage, run: Mapping[str, Any], index: Index
) -> tuple[dict[str, Any], list[ToolMessage]]:
    """The run's counters with the tools that the message asks for, and the answers to look-ups.

    A tool that is called without having been looked up is shown from then on, too.
    """
    shown: list[str] = list(run.get(SHOWN) or ())
    answers: list[ToolMessage] = []
    for call in message.tool_calls:
        name = call["name"]
        found = [name] if name in index else []
        if name == FIND_TOOLS:
            found = index.find(_query(call["args"]))
            text = index.told(found)
            answer = {"tool_call_id": call["id"] or "", "artifact": dict(LISTING)}
            answers.append(ToolMessage(text, name=name, **answer))
        shown = index.kept(shown, found)
    return {**run, SHOWN: shown} if shown else dict(run), answers


def _query(arguments: Mapping[str, Any]) -> str:
    """What is asked for, however it was put."""
    values = [item for v in arguments.values() for item in (v if isinstance(v, list) else [v])]
    return " ".join(str(value) for value in values)
