"""Every provider answers, streams and counts as the others do."""

from __future__ import annotations

import json

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from edgeward import AgentConfig, AgentProfile, ReActAgent, SimpleAgent
from edgeward.graphs.build import build_graph
from edgeward.profiles.llm import (
    PROVIDERS,
    LLMBlock,
    LLMConfigError,
    LLMProviderError,
    resolve_llm,
)

from .server import Call, Fail, Say
from .talk import add, profile
from .ways import BOTH, EVERY, KEY, REMOTE, WAYS, added, ask, model_for


def test_every_service_of_the_table_is_tried():
    """Whoever adds a row adds it here."""
    assert sorted(REMOTE) == sorted(set(PROVIDERS) - {"local", "scripted"})


@BOTH
async def test_half_a_character_is_no_end_of_a_thread(wire, provider):
    """A text that was cut through an emoji is sent without the half, and the thread goes on."""
    wire.script(Say("One."), Say("Two."))
    blocks = [{"type": "text", "text": "and more \ude00"}]
    graph = build_graph("simple", profile=profile(wire, provider), checkpointer="memory")
    on = {"configurable": {"thread_id": "t"}}
    await graph.ainvoke({"messages": [HumanMessage("cut \ud83d")]}, on)
    values = await graph.ainvoke({"messages": [HumanMessage(blocks)]}, on)
    assert [m.text for m in values["messages"]] == ["cut ?", "One.", "and more ?", "Two."]


@EVERY
@WAYS
def test_D026_each_provider_answers_with_text_calls_and_counts(wire, provider, way):
    """Whole and streamed, sync and async: the key and the name travel, the answer comes whole."""
    wire.script(Say("Good day.", [Call("add", '{"a": 1, "b": 2}', "c1")]))
    answer = ask(model_for(wire, provider).bind_tools([add]), "hi", way)
    assert answer.text == "Good day."
    assert [(c["name"], c["args"]) for c in answer.tool_calls] == [("add", {"a": 1, "b": 2})]
    (seen,) = wire.requests
    assert seen.body["model"] == "fake-1"
    assert KEY in (seen.headers.get("authorization", "") + seen.headers.get("x-api-key", ""))
    if PROVIDERS[provider].stream_usage:
        assert answer.usage_metadata["total_tokens"] == 18


@EVERY
async def test_D026_each_provider_does_a_tool_run(wire, provider):
    """Two rounds with a tool between them, through the whole agent."""
    wire.script(Say("", [Call("add", '{"a": 1, "b": 2}', "c1")]), Say("It is 3."))
    config = AgentConfig(profile=profile(wire, provider), tools=[add], policy="allow_all")
    async with ReActAgent(config) as agent:
        result = await agent.run("1 + 2?")
    assert result.final_answer == "It is 3."
    assert result.usage.total_tokens == 36
    assert "3" in json.dumps(wire.requests[1].body["messages"][-1])


@pytest.mark.parametrize("model", ["o1", "o3-mini", "o4-mini-2025-04-16", "gpt-5", "gpt-5.1-mini"])
@pytest.mark.parametrize("provider", ["openai", "openrouter"])
@pytest.mark.parametrize("way", ["invoke", "stream"])
def test_D030_a_reasoning_model_gets_its_own_request(wire, provider, model, way):
    """No temperature and no `max_tokens`: its bound is `max_completion_tokens`, at any address."""
    name = f"openai/{model}" if provider == "openrouter" else model
    wire.script(Say("x"))
    ask(model_for(wire, provider, name, temperature=0.5, max_tokens=99), "hi", way)
    body = wire.requests[-1].body
    assert "temperature" not in body
    assert "max_tokens" not in body
    assert body["max_completion_tokens"] == 99


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-5-chat-latest", "meta/o-llama", "turbo3-mini"])
def test_D030_other_models_keep_their_temperature(wire, model):
    """What merely looks like such a name is none."""
    wire.script(Say("x"))
    model_for(wire, model=model, temperature=0.5, max_tokens=99).invoke("hi")
    assert wire.requests[-1].body["temperature"] == 0.5
    assert wire.requests[-1].body["max_tokens"] == 99


@WAYS
def test_D031_reasoning_is_kept_in_the_raw_message_only(wire, way):
    """In a whole run: not in the answer, but with the message that the thread keeps."""
    wire.script(Say("Four.", reasoning="two and two"))
    answer = ask(model_for(wire, "deepseek"), "2 + 2?", way)
    assert "two and two" not in answer.text
    assert "two and two" not in json.dumps(answer.content)
    assert answer.additional_kwargs["reasoning_content"] == "two and two"


async def test_D035_with_a_model_given_no_environment_is_read(monkeypatch):
    """All variables gone, no `llm:` block: the injected model runs."""
    import os

    from edgeward.profiles.scripted import ScriptedModel

    for name in list(os.environ):
        if name.startswith(("LLM_", "OPENAI_", "ANTHROPIC_", "AGENT_LAB_")):
            monkeypatch.delenv(name)
    bare = AgentProfile.from_mapping({"id": "bot", "name": "Helper"})
    async with SimpleAgent(AgentConfig(profile=bare, llm=ScriptedModel(turns=["Hi."]))) as agent:
        assert (await agent.run("hi")).final_answer == "Hi."


class Shouting(BaseChatModel):
    """An adapter of the user's own."""

    @property
    def _llm_type(self):
        return "shouting"

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        said = AIMessage(messages[-1].text.upper())
        return ChatResult(generations=[ChatGeneration(message=said)])


async def test_D036_ten_lines_make_an_adapter():
    """A subclass of LangChain's chat model drives a run."""
    bare = AgentProfile.from_mapping({"id": "bot", "name": "Helper"})
    async with SimpleAgent(AgentConfig(profile=bare, llm=Shouting())) as agent:
        assert (await agent.run("hello")).final_answer == "HELLO"


def test_D037_a_wrong_setting_and_a_provider_s_refusal_are_two_kinds(wire):
    """The one is told before any request, the other keeps its status and chains the cause."""
    with pytest.raises(LLMConfigError):
        resolve_llm(LLMBlock(provider="openai"), {})
    wire.script(Fail(403, "not you"))
    with pytest.raises(LLMProviderError) as caught:
        model_for(wire).invoke("hi")
    assert (caught.value.status, type(caught.value.__cause__).__name__) == (
        403,
        "OpenAIPermissionDeniedError",
    )


@BOTH
def test_D038_a_stream_is_text_in_pieces_and_an_end_with_counts(wire, provider):
    """Pieces of text come one by one; what came last says how many tokens it took."""
    wire.script(Say("Good day to you all."))
    chunks = list(model_for(wire, provider).stream("hi"))
    pieces = [chunk.text for chunk in chunks if chunk.text]
    assert len(pieces) > 2
    assert "".join(pieces) == "Good day to you all."
    counted = [n for n, chunk in enumerate(chunks) if chunk.usage_metadata]
    assert counted
    assert all(not chunk.text for chunk in chunks[counted[-1] :])
    assert added(chunks).usage_metadata["output_tokens"] == 7
