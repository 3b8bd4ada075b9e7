"""Tokens: as the server counts them, or estimated and marked."""

from __future__ import annotations

import pytest

from edgeward import AgentConfig, SimpleAgent
from edgeward.profiles.llm import (
    LLMProviderError,
)

from .server import Events, Fail, Say
from .talk import profile
from .ways import STREAMS, added, ask, model_for


@STREAMS
def test_C76_a_server_that_refuses_stream_options_is_asked_without(wire, way):
    """And is not asked for them again."""

    def strict(seen):
        if "stream_options" in seen.body:
            return Fail(400, "Unrecognized request argument supplied: stream_options")
        return Say("Good day.")

    wire.script(strict, strict, strict)
    model = model_for(wire, "vllm")
    assert ask(model, "hi", way).text == "Good day."
    assert ask(model, "hi", way).text == "Good day."
    assert ["stream_options" in seen.body for seen in wire.requests] == [True, False, False]


def test_C76_another_refusal_is_not_repeated(wire):
    """Only what may be about the counts is asked again."""
    wire.script(Fail(400, "context length exceeded"), Say("never"))
    with pytest.raises(LLMProviderError, match="context length"):
        added(model_for(wire, "vllm").stream("hi"))
    assert len(wire.requests) == 1


@pytest.mark.parametrize("policy", ["allow_all", {"version": 2, "limits": {"tokens": 10_000}}])
async def test_C76_tokens_that_nobody_counted_are_estimated_and_marked(wire, policy):
    """With a limit or without one: a run that used the model never says nought."""
    wire.script(Say("Good day to you.", usage=None))
    async with SimpleAgent(AgentConfig(profile=profile(wire, "vllm"), policy=policy)) as agent:
        result = await agent.run("Say good day, please.", thread="t")
        state = agent.graph.get_state({"configurable": {"thread_id": "t"}})
    assert result.usage.total_tokens > 5
    assert result.usage.estimated_tokens == result.usage.total_tokens
    assert state.values["messages"][-1].response_metadata["usage_estimated"] is True


async def test_C76_counted_tokens_are_no_estimate(wire):
    """What the provider said is taken as it is."""
    wire.script(Say("Good day."))
    async with SimpleAgent(AgentConfig(profile=profile(wire, "vllm"))) as agent:
        result = await agent.run("hi")
    assert (result.usage.total_tokens, result.usage.estimated_tokens) == (18, 0)


@STREAMS
def test_C76_a_last_chunk_with_usage_and_no_choices(wire, way):
    """It is counted and breaks nothing."""
    head = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    say = {"index": 0, "delta": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
    last = {**head, "choices": [], "usage": usage}
    wire.script(Events([{**head, "choices": [say]}, last, "data: [DONE]\n\n"]))
    answer = ask(model_for(wire, "vllm"), "hi", way)
    assert answer.text == "Hi"
    assert answer.usage_metadata["total_tokens"] == 5
