"""A second model answers where the first is not to be had; no key is kept."""

from __future__ import annotations

import asyncio
import json
import traceback

import pytest
from langchain_core.messages import HumanMessage

from edgeward import AgentConfig, AgentProfile, SimpleAgent
from edgeward.graphs.build import build_graph
from edgeward.guards.limits import Spending
from edgeward.policies.yaml_file import ConfigValidationError
from edgeward.profiles.llm import (
    PROVIDERS,
    LLMBlock,
    LLMConfigError,
    LLMProviderError,
    resolve_llm,
)

from .server import Call, Drop, Fail, Late, Raw, Say
from .talk import add, profile
from .ways import BOTH, KEY, STREAMS, WAYS, ask, block_for, model_for

SECOND = {"provider": "qwen", "model": "second-1", "api_key": "sk-second-SECONDSECOND"}


def with_fallback(wire, first="openai", second="qwen"):
    """A model with a second one; both are the wire server."""
    url = wire.url if second == "anthropic" else wire.openai_url
    more = {"provider": second, "base_url": url, "max_retries": 0}
    return model_for(wire, first, fallback={**SECOND, **more})


@pytest.mark.parametrize("second", ["qwen", "anthropic"])
@pytest.mark.parametrize("first", ["openai", "anthropic"])
@WAYS
@pytest.mark.parametrize(
    "fault",
    [Fail(503), Fail(429), Fail(402), Drop(), Say("x", cut_after=1)],
    ids=["503", "429", "402", "reset", "cut"],
)
def test_where_the_first_is_not_to_be_had_the_second_answers(wire, first, second, way, fault):
    """Whatever the two are; the tools go to each in its own format, the keys to nobody else."""
    if isinstance(fault, Say) and way in ("invoke", "ainvoke"):
        fault = Raw({"choices": []})
    wire.script(fault, Say("", [Call("add", '{"a": 1, "b": 2}', "c1")]))
    model = with_fallback(wire, first, second).bind_tools([add])
    answer = ask(model, "hi", way)
    assert answer.tool_calls[0]["args"] == {"a": 1, "b": 2}
    assert answer.response_metadata["fallback"]["model"] == "second-1"
    one, two = wire.requests
    assert (one.body["model"], two.body["model"]) == ("fake-1", "second-1")
    assert SECOND["api_key"] not in json.dumps(one.headers)
    assert KEY not in json.dumps(two.headers)
    for seen in wire.requests:
        shape = "input_schema" if seen.path == "/v1/messages" else "function"
        assert shape in seen.body["tools"][0]


@WAYS
@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_a_refused_request_does_not_go_to_the_second(wire, way, status):
    """A wrong key or a request that nobody would take stays an error."""
    wire.script(Fail(status), Say("never"))
    with pytest.raises(LLMProviderError) as caught:
        ask(with_fallback(wire), "hi", way)
    assert caught.value.status == status
    assert len(wire.requests) == 1


@STREAMS
def test_a_stream_that_has_begun_is_not_begun_again(wire, way):
    """Half of one answer and the whole of another would be no answer."""
    wire.script(Say("Good day to you", cut_after=3), Say("never"))
    with pytest.raises(LLMProviderError):
        ask(with_fallback(wire), "hi", way)
    assert len(wire.requests) == 1


@WAYS
def test_both_failures_are_told(wire, way):
    """The error names both, keeps both as causes, and holds neither key."""
    wire.script(Fail(503, f"first {KEY}"), Fail(500, f"second {SECOND['api_key']}"))
    with pytest.raises(LLMProviderError) as caught:
        ask(with_fallback(wire), "hi", way)
    text = str(caught.value)
    assert "openai answered 503" in text
    assert "qwen answered 500" in text
    shown = "".join(traceback.format_exception(caught.value))
    assert KEY not in shown
    assert SECOND["api_key"] not in shown


def test_a_streamed_graph_falls_back_too(wire):
    """Whoever listens to the tokens hears the second model's, and the thread keeps its answer."""
    made = profile(wire, fallback={**SECOND, "base_url": wire.openai_url, "max_retries": 0})
    graph = build_graph("simple", profile=made)
    wire.script(Fail(503), Say("Good day to you."))
    talk = {"messages": [HumanMessage("hi")]}
    heard = [chunk.text for chunk, _ in graph.stream(talk, stream_mode="messages")]
    assert "".join(heard) == "Good day to you."
    assert len(heard) > 1


async def test_a_fallback_is_counted_at_its_own_price(wire):
    """Of a run that the second model answered, the second model's price is spent."""
    price = {"input": 1_000_000, "output": 1_000_000}  # a dollar a token
    free = {"input": 0, "output": 0}
    limits = {"cost_usd": 10_000, "prices": {"fake-1": free, "second-1": price}}
    url = wire.openai_url
    made = profile(wire, fallback={**SECOND, "base_url": url, "max_retries": 0})
    wire.script(Fail(503), Say("Good day."))
    spending = Spending()
    config = AgentConfig(profile=made, policy={"version": 2, "limits": limits}, spending=spending)
    async with SimpleAgent(config) as agent:
        result = await agent.run("hi", thread="t")
        used = agent.graph.get_state({"configurable": {"thread_id": "t"}}).values["used"]
    assert result.final_answer == "Good day."
    assert used["thread"]["cost_usd"] == 18


def test_a_fallback_without_a_price_is_refused_where_money_is_bounded(wire):
    """Before anything runs, and by its name."""
    limits = {"cost_usd": 1, "prices": {"fake-1": {"input": 1, "output": 1}}}
    made = profile(wire, fallback={**SECOND, "base_url": wire.openai_url})
    with pytest.raises(ValueError, match="second-1"):
        build_graph("simple", profile=made, policy={"version": 2, "limits": limits})


def test_the_fallback_has_settings_of_its_own():
    """LLM_* name the first model: nothing of them goes to the second."""
    env = {
        "LLM_API_KEY": "sk-first",
        "LLM_MODEL_ID": "first",
        "LLM_BASE_URL": "https://first.example",
        "QWEN_API_KEY": "sk-qwen",
    }
    block = LLMBlock.model_validate({"provider": "openai", "fallback": "qwen:qwen-max"})
    second = resolve_llm(block, env).fallback
    assert (second.provider, second.model) == ("qwen", "qwen-max")
    assert second.base_url == PROVIDERS["qwen"].base_url
    assert second.api_key.get_secret_value() == "sk-qwen"


def test_a_fallback_of_the_same_provider_shares_key_and_address():
    """Only its name has to be told."""
    env = {"LLM_API_KEY": "sk-first", "LLM_BASE_URL": "https://first.example"}
    block = LLMBlock.model_validate(
        {"provider": "openai", "model": "a", "fallback": {"model": "b"}}
    )
    second = resolve_llm(block, env).fallback
    assert (second.model, second.base_url) == ("b", "https://first.example")
    assert second.api_key.get_secret_value() == "sk-first"


def test_what_a_fallback_lacks_is_told_with_the_rest():
    """All at once, each with where it could be set; never the first model's variables."""
    block = LLMBlock.model_validate({"provider": "openai", "fallback": {"provider": "qwen"}})
    with pytest.raises(LLMConfigError) as caught:
        resolve_llm(block, {"LLM_MODEL_ID": "m"})
    message = str(caught.value)
    assert "llm.api_key" in message
    assert "llm.fallback.model" in message
    assert "QWEN_MODEL" in message
    assert len(caught.value.problems) == 3


@pytest.mark.parametrize(
    "value", ["gpt-4o", "qwen:", ":m", {"provider": "opnai"}, {"fallback": {}}]
)
def test_a_fallback_that_is_none_is_refused(value):
    """At load, with what is wrong."""
    agent = {"id": "bot", "name": "Helper", "llm": {"provider": "openai", "fallback": value}}
    with pytest.raises(ConfigValidationError, match=r"llm\.fallback"):
        AgentProfile.from_mapping(agent)


def test_an_override_has_no_fallback(wire):
    """Who names a model means that model."""
    block = block_for(wire, fallback=SECOND)
    assert resolve_llm(block, {}, model_override="vllm:m").fallback is None


@BOTH
async def test_no_key_is_in_a_checkpoint_or_a_result(wire, provider):
    """Not even where the provider says it back, in its answer or in its error."""
    wire.script(Say(f"Your key is {KEY}."), Fail(401, f"bad key {KEY}"))
    async with SimpleAgent(AgentConfig(profile=profile(wire, provider))) as agent:
        result = await agent.run("hi", thread="t")
        with pytest.raises(Exception) as caught:
            await agent.run("again", thread="t")
        kept = repr(list(agent.graph.get_state_history({"configurable": {"thread_id": "t"}})))
    for shown in (repr(result), kept, "".join(traceback.format_exception(caught.value))):
        assert KEY not in shown


async def test_the_fallback_s_key_is_kept_as_well_as_the_first_s(wire):
    """What the second model says back of its own key is masked in the thread and the result."""
    made = profile(wire, fallback={**SECOND, "base_url": wire.openai_url, "max_retries": 0})
    wire.script(Fail(503), Say(f"My key is {SECOND['api_key']}."))
    async with SimpleAgent(AgentConfig(profile=made)) as agent:
        result = await agent.run("hi", thread="t")
        kept = repr(list(agent.graph.get_state_history({"configurable": {"thread_id": "t"}})))
    assert SECOND["api_key"] not in repr(result) + kept + repr(made)
    assert "REDACTED" in result.final_answer


async def test_a_cancelled_request_leaves_the_model_usable(wire):
    """Nothing hangs on it, and the next one is answered."""
    wire.script(Late(), Say("there"))
    model = model_for(wire)
    task = asyncio.create_task(model.ainvoke("hi"))
    while not wire.requests:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await model.ainvoke("hi")).text == "there"
