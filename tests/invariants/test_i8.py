"""I8: What streams is masked first: a call waits until it is whole, text while it could be a
secret."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph

from edgeward.graphs.build import build_graph
from edgeward.graphs.locked import LockedGraph
from tests.fakes import Recorder, agent_graph, ask, on, policy, turn

KEY = "sk-proj-TESTTESTTESTTESTTEST"
MASK = "[REDACTED:openai_key]"
SAID = f"The key is {KEY}, keep it."


class Everything(BaseCallbackHandler):
    """A handler that keeps all that it is told, as a tracer would."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("on_"):
            return lambda *args, **kwargs: self.told.append(f"{name} {args} {kwargs}")
        return super().__getattribute__(name)


def graph(word: str = "redact", said: str = SAID) -> LockedGraph:
    """A graph whose model puts a key into a call and into its answer."""
    # Functions: LangChain tells listeners of a model's settings, and so of a script.
    turns = [lambda _: turn(("pay", {"what": KEY}, "c1")), lambda _: said]
    tools = [Recorder().tool("pay")]
    return agent_graph(turns, tools=tools, words={"pay": word}, checkpointer=InMemorySaver())


@pytest.mark.parametrize("word", ["allow", "redact", "block"])
async def test_what_a_graph_lets_be_heard(word: str) -> None:
    """Token streams, events and callbacks of a graph hold no secret of the model's, ever."""
    heard: list[Any] = []
    for mode in ("messages", "updates", "values", "debug", "tasks"):
        heard += graph(word).stream(ask(), on("a"), stream_mode=mode)  # type: ignore[arg-type]
        made = graph(word).astream(ask(), on("b"), stream_mode=mode)  # type: ignore[arg-type]
        heard += [chunk async for chunk in made]
    heard += [e async for e in graph(word).astream_events(ask(), on("c"), version="v2")]
    tracer = Everything()
    graph(word).invoke(ask(), {**on("d"), "callbacks": [tracer]})
    await graph(word).ainvoke(ask(), {**on("e"), "callbacks": [tracer]})
    assert any(told.startswith("on_llm_end") for told in tracer.told)
    assert "TESTTEST" not in str(heard) + str(tracer.told)
    assert MASK in str(heard)
    assert MASK in str(tracer.told)


async def test_a_graph_within_a_graph_or_a_chain() -> None:
    """The same holds for whoever listens from outside: a parent graph, a sequence."""
    builder = StateGraph(MessagesState)
    builder.add_node("agent", graph())
    builder.add_edge(START, "agent")
    parent = builder.compile()
    chain = RunnableLambda(ask) | graph()
    heard = [*parent.stream(ask(), on(), stream_mode="messages", subgraphs=True)]
    heard += [e async for e in parent.astream_events(ask(), on(), version="v2")]
    heard += [e async for e in chain.astream_events("go", on(), version="v2")]
    assert "TESTTEST" not in str(heard)
    assert MASK in str(heard)


def test_text_flows() -> None:
    """What can be no part of a secret does not wait for the end."""
    pieces = [
        piece.text
        for piece, _ in graph(said="one two three four").stream(ask(), on(), stream_mode="messages")
        if isinstance(piece, AIMessage) and piece.text
    ]
    assert len(pieces) > 2
    assert "".join(pieces) == "one two three four"


class InPieces(BaseChatModel):
    """A model that streams just these pieces."""

    pieces: list[AIMessageChunk]

    @property
    def _llm_type(self) -> str:
        return "pieces"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **kwargs: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=AIMessage("done"))])

    def _stream(
        self, messages: list[BaseMessage], *_: Any, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        if messages[-1].type == "tool":
            yield ChatGenerationChunk(message=AIMessageChunk("done"))
            return
        for piece in self.pieces:
            yield ChatGenerationChunk(message=piece.model_copy(deep=True))


def cut(text: str, places: list[int]) -> list[str]:
    """The text in pieces."""
    at = [0, *sorted({place % (len(text) + 1) for place in places}), len(text)]
    return [text[a:b] for a, b in itertools.pairwise(at)]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 200), max_size=8), st.lists(st.integers(0, 200), max_size=4))
def test_however_it_is_cut(words: list[int], arguments: list[int]) -> None:
    """Text and arguments in any pieces: what is heard is together what the thread keeps."""
    pieces = [AIMessageChunk(text) for text in cut(SAID, words)]
    for number, part in enumerate(cut(f'{{"what": "{KEY}"}}', arguments)):
        named = {"name": "pay", "id": "c1"} if number == 0 else {"name": None, "id": None}
        call = tool_call_chunk(args=part, index=0, **named)
        pieces.append(AIMessageChunk("", tool_call_chunks=[call]))
    recorder = Recorder()
    made = build_graph(
        "react",
        policy=policy({"pay": "redact"}),
        model=InPieces(pieces=pieces),
        tools=[recorder.tool("pay")],
    )
    heard, state = [], {}
    for mode, item in made.stream(ask(), stream_mode=["messages", "values"]):
        if mode == "messages":
            heard.append(item[0])
        else:
            state = item
    assert "TESTTEST" not in str(heard)
    said = state["messages"][1]
    together = "".join(m.text for m in heard if m.id == said.id)
    assert together == said.text == SAID.replace(KEY, MASK)
    (call_heard,) = [c for m in heard if isinstance(m, AIMessageChunk) for c in m.tool_call_chunks]
    assert call_heard["args"] == f'{{"what": "{MASK}"}}'
    assert [args["what"] for _, args in recorder.runs] == [MASK]


async def test_what_a_tool_gives_back_is_heard_masked() -> None:
    """`on_tool_end` hears what the tool says without its secrets."""

    def leak() -> str:
        """Leaks."""
        return f"it is {KEY}"

    made = agent_graph([turn(("leak", {}, "c1")), "done"], tools=[leak])
    events = [e async for e in made.astream_events(ask(), version="v2")]
    assert not [e for e in events if KEY in str(e)]
    (ended,) = [e for e in events if e["event"] == "on_tool_end"]
    assert MASK in str(ended)
