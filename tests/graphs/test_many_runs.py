"""Many runs at once on one graph object."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from langchain_core.messages import AIMessage, BaseMessage

from edgeward import ScriptedModel, build_graph


def repeat(word: str) -> str:
    """Say a word again."""
    return word


def _propose(messages: Sequence[BaseMessage]) -> AIMessage:
    word = str(messages[0].content)
    return AIMessage("", tool_calls=[{"name": "repeat", "args": {"word": word}, "id": "call"}])


def _answer(messages: Sequence[BaseMessage]) -> AIMessage:
    result = next(m for m in messages if m.type == "tool")
    return AIMessage(f"You said {str(result.content).splitlines()[1]}.")  # between its marks


@pytest.mark.slow
def test_a_thousand_runs_are_isolated() -> None:
    """Each of a thousand concurrent runs ends with its own word and nobody else's."""
    model = ScriptedModel(turns=[_propose, _answer])
    graph = build_graph(
        "react", policy="allow_all", model=model, tools=[repeat], checkpointer="memory"
    )

    async def one(number: int) -> str:
        config = {"configurable": {"thread_id": str(number)}}
        state = await graph.ainvoke({"messages": [("user", f"word{number}")]}, config)
        assert len(state["messages"]) == 4
        return str(state["messages"][-1].content)

    async def all_of_them() -> list[str]:
        return await asyncio.gather(*(one(number) for number in range(1_000)))

    assert asyncio.run(all_of_them()) == [f"You said word{number}." for number in range(1_000)]
