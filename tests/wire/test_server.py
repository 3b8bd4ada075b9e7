"""The wire server against the vendors' real packages, and our models over it."""

from __future__ import annotations

import asyncio

import anthropic
import openai
import pytest

from .server import Call, Fail, Raw, Say
from .talk import TOOL
from .ways import BOTH, KEY, WAYS, added, ask, model_for


def test_the_openai_package_understands_the_server(wire):
    """A whole answer, a stream and an error, read by OpenAI's own client."""
    wire.script(Say("Hi", [Call("add", '{"a": 1}')]), Say("Hello you"), Fail(401, "bad key"))
    client = openai.OpenAI(api_key=KEY, base_url=wire.openai_url, max_retries=0)
    messages = [{"role": "user", "content": "x"}]
    whole = client.chat.completions.create(model="m", messages=messages)
    assert whole.choices[0].message.tool_calls[0].function.arguments == '{"a": 1}'
    assert whole.usage.total_tokens == 18
    stream = client.chat.completions.create(model="m", messages=messages, stream=True)
    assert "".join(part.choices[0].delta.content or "" for part in stream) == "Hello you"
    with pytest.raises(openai.AuthenticationError):
        client.chat.completions.create(model="m", messages=messages)
    assert [seen.path for seen in wire.requests] == ["/v1/chat/completions"] * 3
    assert wire.requests[0].headers["authorization"] == f"Bearer {KEY}"
    client.close()


def test_the_anthropic_package_understands_the_server(wire):
    """A whole answer, a stream and an error, read by Anthropic's own client."""
    wire.script(Say("Hi", [Call("add", '{"a": 1}')]), Say("Hello you"), Fail(429, "slow"))
    client = anthropic.Anthropic(api_key=KEY, base_url=wire.url, max_retries=0)
    ask_for = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}]}
    whole = client.messages.create(**ask_for)
    assert whole.content[1].input == {"a": 1}
    with client.messages.stream(**ask_for) as stream:
        assert stream.get_final_text() == "Hello you"
    with pytest.raises(anthropic.RateLimitError):
        client.messages.create(**ask_for)
    assert KEY in " ".join(wire.requests[0].headers.values())
    client.close()


@BOTH
@WAYS
def test_text_and_usage_arrive(wire, provider, way):
    """D026, D027: both adapters answer by all four ways, with token counts."""
    wire.script(Say("Good day to you."))
    answer = ask(model_for(wire, provider), "hi", way)
    assert answer.text == "Good day to you."
    assert answer.usage_metadata is not None
    assert answer.usage_metadata["output_tokens"] == 7


@BOTH
@WAYS
def test_parallel_calls_arrive_whole(wire, provider, way):
    """Two calls in one answer, cut in pieces on the wire, come out as two calls."""
    wire.script(Say("", [Call("add", '{"a": 1, "b": 22}', "c1"), Call("now", "", "c2")]))
    answer = ask(model_for(wire, provider).bind_tools([TOOL]), "hi", way)
    calls = [(call["name"], call["args"], call["id"]) for call in answer.tool_calls]
    assert calls == [("add", {"a": 1, "b": 22}, "c1"), ("now", {}, "c2")]
    assert answer.invalid_tool_calls == []


def test_I8_no_piece_of_a_streamed_call_is_passed_on(wire):
    """A chunk holds all of a call or nothing of it."""
    wire.script(Say("", [Call("add", '{"a": 1, "b": 22}')]))
    chunks = list(model_for(wire).bind_tools([TOOL]).stream("hi"))
    held = [chunk for chunk in chunks if chunk.tool_call_chunks]
    assert len(held) == 1
    assert held[0].tool_calls[0]["args"] == {"a": 1, "b": 22}


def test_streamed_calls_without_index_stay_apart(wire):
    """Servers that send no position: a new id starts a new call."""
    calls = [Call("add", '{"a": 1}', "c1"), Call("sub", '{"b": 2}', "c2")]
    wire.script(Say("", calls, without_index=True))
    answer = added(model_for(wire, "vllm").stream("hi"))
    assert [(c["name"], c["args"]) for c in answer.tool_calls] == [
        ("add", {"a": 1}),
        ("sub", {"b": 2}),
    ]


def test_an_answer_by_another_role_is_the_model_s(wire):
    """Some servers say `model` where OpenAI says `assistant`."""
    said = {"role": "model", "content": "Good day."}
    wire.script(Raw({"choices": [{"index": 0, "message": said, "finish_reason": "stop"}]}))
    assert model_for(wire).invoke("hi").text == "Good day."


def test_missing_usage_is_no_fault(wire):
    """Not every server counts tokens."""
    wire.script(Say("hi", usage=None))
    assert model_for(wire, "vllm").invoke("x").usage_metadata is None


def test_models_work_in_one_event_loop_after_another(wire):
    """A connection kept from a loop that is gone is not used again."""
    wire.script(*[Say("x")] * 4)
    for provider in ("openai", "anthropic"):
        model = model_for(wire, provider)
        for _ in range(2):
            assert asyncio.run(model.ainvoke("hi")).text == "x"


@BOTH
async def test_a_stream_may_be_left_early(wire, provider):
    """Nothing complains, and the next request works."""
    wire.script(Say("Good day to you and all of yours"), Say("again"))
    model = model_for(wire, provider)
    async for chunk in model.astream("hi"):
        if chunk.text:
            break
    assert (await model.ainvoke("hi")).text == "again"
