"""`held`: a chat model whose words are masked before any listener gets them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from langchain_core.caches import InMemoryCache
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.tool import invalid_tool_call, tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from pydantic import BaseModel, Field

from edgeward import ScriptedModel, load_policy
from edgeward.guards.langchain.model import held
from edgeward.guards.langchain.reply import WITHHELD, masked_reply, withheld_in

KEY = "sk-" + "a1" * 12
MASK = "[REDACTED:openai_key]"
REDACTOR = load_policy("allow_all").redactor


class Whole(BaseChatModel):
    """A model that answers with one message, and streams it in these pieces."""

    reply: AIMessage = AIMessage("")
    pieces: list[AIMessageChunk] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "whole"

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self.reply)])

    def _stream(
        self, messages: list[BaseMessage], *args: Any, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        for piece in self.pieces:
            yield ChatGenerationChunk(message=piece.model_copy(deep=True))


class Async(Whole):
    """The same, with an async side of its own."""

    async def _agenerate(
        self, messages: list[BaseMessage], *args: Any, **kwargs: Any
    ) -> ChatResult:
        return self._generate(messages)

    async def _astream(
        self, messages: list[BaseMessage], *args: Any, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        for piece in self.pieces:
            yield ChatGenerationChunk(message=piece.model_copy(deep=True))


class Parsed(BaseModel):
    """What a client made of an answer."""

    key: str


def test_a_whole_reply() -> None:
    """Text, calls, broken calls, blocks that repeat them, what stands beside: all of it."""
    reply = AIMessage(
        [
            f"a {KEY}",
            {"type": "text", "text": KEY},
            {"type": "tool_use", "id": "c1", "name": "use", "input": {"k": KEY}},
            {
                "type": "function_call",
                "call_id": "c1",
                "name": "use",
                "arguments": f'{{"k": "{KEY}"}}',
            },
            {"type": "thinking", "thinking": KEY, "signature": KEY},
        ],
        tool_calls=[{"name": "use", "args": {"k": KEY, "n": 1}, "id": "c1"}],
        invalid_tool_calls=[
            invalid_tool_call(name="use", args=f'{{"k": "{KEY}', id="c2", error=KEY)
        ],
        additional_kwargs={"reasoning": KEY, "parsed": Parsed(key=KEY), "other": Parsed(key="k")},
    )
    before = reply.model_copy(deep=True)
    made = masked_reply(reply, REDACTOR)
    assert KEY not in str([made.content[:-1], made.tool_calls, made.invalid_tool_calls])
    assert made.content[-1] == before.content[-1]
    assert withheld_in(made) == {"c1": ["openai_key"], "c2": ["openai_key"]}
    assert made.additional_kwargs["reasoning"] == MASK
    assert made.additional_kwargs.keys() == {"reasoning", "other", WITHHELD}
    assert reply == before
    assert masked_reply(made, REDACTOR) is made


def test_a_key_behind_escapes() -> None:
    """Arguments as text are read as JSON first."""
    hidden = "".join(f"\\u{ord(letter):04x}" for letter in KEY)
    model = held(
        Whole(
            pieces=[
                AIMessageChunk(
                    "",
                    tool_call_chunks=[
                        tool_call_chunk(name="use", args=f'{{"k": "{hidden}"}}', id="c1", index=0)
                    ],
                )
            ]
        ),
        REDACTOR,
    )
    (last,) = list(model.stream("go"))
    assert last.tool_calls[0]["args"] == {"k": MASK}
    assert withheld_in(last) == {"c1": ["openai_key"]}


PIECES = [
    AIMessageChunk([{"type": "thinking", "thinking": "hm", "index": 0}]),
    AIMessageChunk([{"type": "text", "text": f"see {KEY[:9]}", "index": 1}]),
    AIMessageChunk([{"type": "text", "text": f"{KEY[9:]} now", "index": 1}]),
    AIMessageChunk([{"type": "reasoning", "summary": [{"text": KEY, "index": 0}], "index": 2}]),
    AIMessageChunk([{"type": "text", "text": "then", "index": 3}]),
    AIMessageChunk(
        [{"type": "tool_use", "id": "c1", "name": "use", "input": {}, "index": 4}],
        tool_call_chunks=[tool_call_chunk(name="use", args="", id="c1", index=4)],
    ),
    AIMessageChunk(
        [{"type": "input_json_delta", "partial_json": f'{{"k": "{KEY[:7]}', "index": 4}],
        tool_call_chunks=[tool_call_chunk(name=None, args=f'{{"k": "{KEY[:7]}', id=None, index=4)],
    ),
    AIMessageChunk(
        [{"type": "input_json_delta", "partial_json": f'{KEY[7:]}"}}', "index": 4}],
        tool_call_chunks=[tool_call_chunk(name=None, args=f'{KEY[7:]}"}}', id=None, index=4)],
    ),
    AIMessageChunk([], additional_kwargs={"note": KEY[:5]}),
    AIMessageChunk([], additional_kwargs={"note": KEY[5:], "raw": {"k": KEY}}),
]


@pytest.mark.parametrize("kind", [Whole, Async])
@pytest.mark.parametrize("is_async", [False, True])
async def test_a_reply_of_blocks(kind: Any, is_async: bool) -> None:
    """Blocks keep their order; what is heard adds up to the whole reply, masked."""
    model = held(kind(pieces=PIECES), REDACTOR)
    assert type(model).__name__ == kind.__name__
    heard = list(model.stream("go"))
    if is_async:
        heard = [chunk async for chunk in model.astream("go")]
    assert not [chunk for chunk in heard if "a1a1a1" in str(chunk)]
    whole = heard[0]
    for chunk in heard[1:]:
        whole += chunk
    kinds = [block["type"] for block in whole.content if isinstance(block, dict)]
    assert kinds == ["thinking", "text", "reasoning", "text", "tool_use"]
    assert whole.text == f"see {MASK} nowthen"
    assert whole.tool_calls == [
        {"name": "use", "args": {"k": MASK}, "id": "c1", "type": "tool_call"}
    ]
    assert whole.additional_kwargs["note"] == MASK
    assert whole.additional_kwargs["raw"] == {"k": MASK}
    assert withheld_in(whole) == {"c1": ["openai_key"]}


@pytest.mark.parametrize("kind", [Whole, Async])
async def test_every_way_to_ask(kind: Any) -> None:
    """invoke, ainvoke, batch, a binding, structured output: all go through the same copy."""
    original = kind(reply=AIMessage(f"It is {KEY}."))
    model = held(original, REDACTOR)
    said = [
        model.invoke("go"),
        await model.ainvoke("go"),
        *model.batch(["go"]),
        model.bind(stop=["x"]).invoke("go"),
    ]
    assert {message.text for message in said} == {f"It is {MASK}."}
    assert original.invoke("go").text == f"It is {KEY}."
    assert isinstance(model, kind)
    assert held(model, REDACTOR).invoke("go").text == f"It is {MASK}."


def test_a_cache_of_the_model_is_not_shared() -> None:
    """What the model itself put into a cache was not masked."""
    original = Whole(reply=AIMessage(KEY), cache=InMemoryCache())
    assert original.invoke("go").text == KEY
    model = held(original, REDACTOR)
    assert [model.invoke("go").text, model.invoke("go").text] == [MASK, MASK]
    assert original.invoke("go").text == KEY


def test_tools_are_bound_as_ever() -> None:
    """A binding of the copy is held, too, and a script goes on being one."""
    model = held(ScriptedModel(turns=[f"It is {KEY}."]), REDACTOR)
    bound: Any = model.bind_tools([])
    assert bound.invoke("go").text == f"It is {MASK}."
    assert "".join(piece.text for piece in bound.stream("go")) == f"It is {MASK}."


def test_a_stream_of_nothing() -> None:
    """It stays one: LangChain says that nothing came."""
    with pytest.raises(ValueError, match="No generation chunks"):
        list(held(Whole(), REDACTOR).stream("go"))
