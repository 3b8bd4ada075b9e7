"""Model calls that break off count for their caller: as far as they were read and written."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGenerationChunk, ChatResult

from edgeward import FirewallMiddleware
from edgeward.graphs.build import build_graph
from edgeward.graphs.context import RunContext
from edgeward.guards.limits import Spending
from edgeward.profiles.scripted import ScriptedModel

from .limited import rules
from fakes import ask

ANN = RunContext(user="ann")
WORDS = 100
POLICY = rules(caller={"tokens": 10_000})


class Endless(BaseChatModel):
    """Streams so many words and then says nothing more, or fails."""

    words: int = WORDS
    fails: bool = False
    word: AIMessageChunk = AIMessageChunk("word ")

    @property
    def _llm_type(self) -> str:
        return "endless"

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        return self

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **_: Any
    ) -> ChatResult:
        raise NotImplementedError

    async def _astream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **_: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        for _word in range(self.words):
            yield ChatGenerationChunk(message=self.word)
        if self.fails:
            raise ConnectionError("it broke off")
        await asyncio.Event().wait()


def runner(door: str, model: BaseChatModel, spending: Spending) -> Any:
    """A graph, or an agent with the middleware, without tools."""
    if door == "graph":
        return build_graph("react", model=model, tools=[], policy=POLICY, spending=spending)
    if sys.version_info < (3, 11):
        pytest.skip("LangChain's agents stream no model's words in async runs on Python 3.10")
    middleware = FirewallMiddleware(POLICY, spending=spending)
    return create_agent(model, [], middleware=[middleware], context_schema=RunContext)


async def heard(runs: Any, characters: int) -> None:
    """Listen to a run until so much was said, and go away."""
    text = ""
    stream = runs.astream(ask("x" * 400), stream_mode="messages", context=ANN)
    async with aclosing(stream) as pieces:
        async for piece, _ in pieces:
            text += piece.text
            if len(text) >= characters:
                return


@pytest.mark.parametrize("door", ["graph", "middleware"])
async def test_who_goes_away_pays_for_what_was_said(door: str) -> None:
    """A caller who cancels each run before its end comes to the limit all the same."""
    spending = Spending()
    await heard(runner(door, Endless(), spending), WORDS * 4)
    used = spending.used["ann"]["tokens"]
    assert used >= 100 + WORDS  # what was read and what was written
    assert spending.of("ann")["tokens"] == used  # nothing stays set aside


@pytest.mark.parametrize("door", ["graph", "middleware"])
async def test_a_task_that_is_cancelled_while_nothing_was_said(door: str) -> None:
    """Of a call that is cancelled before its first word, what it read counts."""
    spending = Spending()
    runs = runner(door, Endless(words=0), spending)
    task = asyncio.create_task(heard(runs, 1))
    while "tokens" not in spending.of("ann"):
        await asyncio.sleep(0.001)
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert 100 <= spending.used["ann"]["tokens"] < 400


@pytest.mark.parametrize("door", ["graph", "middleware"])
@pytest.mark.parametrize(("words", "least"), [(0, 0), (WORDS, WORDS)])
async def test_a_provider_that_fails(door: str, words: int, least: int) -> None:
    """A call that fails at once costs nothing; one that breaks off, what came before."""
    spending = Spending()
    runs = runner(door, Endless(words=words, fails=True), spending)
    with pytest.raises(ConnectionError):
        await heard(runs, WORDS * 100)
    used = spending.used.get("ann", {}).get("tokens", 0)
    assert used == 0 if not words else used >= least


@pytest.mark.parametrize("door", ["graph", "middleware"])
@pytest.mark.parametrize(
    "word",
    [
        AIMessageChunk("", tool_call_chunks=[tool_call_chunk(args="word ", index=0)]),
        AIMessageChunk([{"type": "thinking", "thinking": "word ", "index": 0}]),
        AIMessageChunk("", additional_kwargs={"reasoning_content": "word "}),
    ],
    ids=["call", "thought", "thought beside"],
)
async def test_what_is_no_text_is_written_too(door: str, word: AIMessageChunk) -> None:
    """Of a reply that breaks off, the calls and the thoughts in it count like its words."""
    spending = Spending()
    runs = runner(door, Endless(word=word, fails=True), spending)
    with pytest.raises(ConnectionError):
        await heard(runs, WORDS * 100)
    assert WORDS + 100 <= spending.used["ann"]["tokens"] < WORDS + 200


async def test_a_model_of_a_tool_that_is_cancelled() -> None:
    """What a tool's own model was given to read counts when the run is cancelled meanwhile."""
    spending, begun = Spending(), asyncio.Event()

    async def look(what: str = "") -> str:
        """Asks a model."""
        begun.set()
        return "".join([piece.text async for piece in Endless(words=0).astream("y" * 4_000)])

    call = {"name": "look", "args": {}, "id": "c"}
    usage = {"input_tokens": 80, "output_tokens": 20, "total_tokens": 100}
    said = AIMessageChunk("", usage_metadata=usage).model_copy(update={"tool_calls": [call]})  # type: ignore[arg-type]
    model = ScriptedModel(turns=[said], order="call")
    graph = build_graph("react", model=model, tools=[look], policy=POLICY, spending=spending)
    task = asyncio.create_task(graph.ainvoke(ask(), context=ANN))
    await begun.wait()
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert spending.used["ann"]["tokens"] >= 1_000
