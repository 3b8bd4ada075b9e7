"""Agents with `FirewallMiddleware`, as its tests build and run them."""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field

from edgeward import FirewallMiddleware, ScriptedModel

from .spies import Spy

KEY = "sk-" + "a1" * 12


MASK = "[REDACTED:openai_key]"


PAY = {
    "version": 2,
    "default": "allow",
    "tools": {"pay": {"args": {"amount": {"max": 10}}, "otherwise": "ask"}, "never": "block"},
}


THREAD: Any = {"configurable": {"thread_id": "t"}}


ASKED: Any = {"messages": [("user", "Go on.")]}


class Raw(BaseChatModel):
    """A model whose replies keep the ids that they came with."""

    turns: list[AIMessage]
    asked: list[int] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "raw"

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        return self

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **_: Any
    ) -> ChatResult:
        self.asked.append(1)
        said = self.turns[len(self.asked) - 1].model_copy(deep=True)
        return ChatResult(generations=[ChatGeneration(message=said)])


def agent(
    policy: Any, spies: list[Spy], *replies: Any, before: Any = (), after: Any = (), **more: Any
) -> Any:
    """An agent that plays these replies under a policy."""
    return create_agent(
        ScriptedModel(turns=list(replies)),
        [spy.async_tool() for spy in spies],
        middleware=[*before, FirewallMiddleware(policy), *after],
        **more,
    )


def answers(state: Any) -> list[ToolMessage]:
    """The tool messages of a state."""
    return [m for m in state["messages"] if isinstance(m, ToolMessage)]


async def run(runner: Any, way: str, given: Any, config: Any = None) -> Any:
    """The final state of a run, by one of the ways to run it."""
    if way == "invoke":
        return runner.invoke(given, config)
    if way == "ainvoke":
        return await runner.ainvoke(given, config)
    if way == "stream":
        return list(runner.stream(given, config, stream_mode="values"))[-1]
    if way == "astream":
        return [s async for s in runner.astream(given, config, stream_mode="values")][-1]
    return (runner.batch if way == "batch" else None)([given], config)[0]


ways = pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream", "batch"])
