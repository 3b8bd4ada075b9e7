"""A way of one's own to a model: adapters in an agent, and a model behind `chat`."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from edgeward import AgentConfig, AgentProfile, ReActAgent, ScriptedModel
from edgeward.llm import (
    LLM,
    LLMAdapter,
    LLMAdapterError,
    LLMConfigError,
    LLMProviderError,
    LLMResponse,
    Message,
    StreamEnd,
    TextDelta,
    TokenUsage,
    ToolCall,
)
from edgeward.llm.anthropic import AnthropicAdapter
from edgeward.llm.openai_compat import OpenAICompatibleAdapter
from edgeward.profiles.scripted import call
from tests.wire.server import Fail, Say, Wire

BOT = AgentProfile.from_mapping({"id": "bot", "name": "Helper"})
KEY = "sk-proj-TESTTESTTESTTESTTEST"


class Played(LLMAdapter):
    """Gives answers in turn, and notes what it was asked."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[list[Message], dict[str, Any]]] = []

    async def chat(self, messages: list[Message], **options: Any) -> LLMResponse:
        self.asked.append((messages, options))
        return self.answers.pop(0)


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@pytest.mark.parametrize("way", ["sync", "async"])
async def test_D036_an_adapter_drives_a_guarded_run(way: str) -> None:
    """It is shown tools, calls and results in its own values; its calls are judged as any."""
    usage = TokenUsage(10, 2, 12, cache_read_tokens=7)
    proposed = LLMResponse("Let me add.", [ToolCall("c1", "add", {"a": 1, "b": 2})], usage)
    adapter = Played(proposed, LLMResponse("It is 3.", usage=usage, stop_reason="stop"))
    policy = {"version": 2, "default": "block", "tools": {"add": "allow"}}
    config = AgentConfig(profile=BOT, llm=LLM(adapter=adapter), tools=[add], policy=policy)
    with ReActAgent(config) as agent:
        if way == "sync":
            result = await asyncio.to_thread(agent.run_sync, "1 + 2?")
        else:
            result = await agent.run("1 + 2?")
    assert (result.final_answer, [v["word"] for v in result.verdicts]) == ("It is 3.", ["allow"])
    assert (result.usage.total_tokens, result.usage.cached_tokens) == (24, 14)
    assert (result.usage.prompt_tokens, result.usage.cache_read_tokens) == (20, 14)
    assert result.usage.completion_tokens == 4
    first, options = adapter.asked[0]
    assert [(m.role, m.content) for m in first] == [("user", "1 + 2?")]
    assert options["system"].startswith("You are Helper.")
    (tool,) = options["tools"]
    assert (tool["name"], tool["input_schema"]["required"]) == ("add", ["a", "b"])
    _, said, came = adapter.asked[1][0]
    assert said.tool_calls == [ToolCall("c1", "add", {"a": 1, "b": 2})]
    assert (came.role, came.tool_call_id, came.name) == ("tool", "c1", "add")
    assert "3" in came.content


class Kept(LLMAdapter):
    """Asks over a connection that it keeps, as vendors' clients do."""

    def __init__(self, url: str, *, calls: int) -> None:
        self.url, self.calls = url, calls
        self.client = httpx.AsyncClient()

    async def chat(self, messages: list[Message], **options: Any) -> LLMResponse:
        came = await self.client.post(f"{self.url}/chat/completions", json={"messages": []})
        self.calls -= 1
        if not self.calls:
            await self.client.aclose()
        if messages[-1].role == "tool":
            return LLMResponse(came.json()["choices"][0]["message"]["content"])
        return LLMResponse("", [ToolCall("c1", "add", {"a": 1, "b": 2})])


@pytest.mark.parametrize("place", ["program", "loop"])
def test_an_adapter_that_keeps_a_connection_works_where_nobody_awaits(place: str) -> None:
    """One loop for all its calls, also where a program that has a loop does not use it."""
    policy = {"version": 2, "default": "block", "tools": {"add": "allow"}}
    with Wire() as wire:
        wire.script(*[Say("It is 3.")] * 4)
        model = LLM(adapter=Kept(wire.openai_url, calls=4))
        config = AgentConfig(profile=BOT, llm=model, tools=[add], policy=policy)

        async def from_a_loop() -> str:
            return agent.run_sync("1 + 2?").final_answer

        with ReActAgent(config) as agent:
            for _ in range(2):
                said = (
                    agent.run_sync("1 + 2?").final_answer
                    if place == "program"
                    else asyncio.run(from_a_loop())
                )
                assert said == "It is 3."


def test_an_adapter_that_waits_in_its_own_loop_is_told() -> None:
    """It would wait for itself."""

    class Waiting(LLMAdapter):
        async def chat(self, messages: list[Message], **options: Any) -> LLMResponse:
            return LLMResponse(LLM(Played(LLMResponse("Hi."))).model.invoke("hi").text)

    with pytest.raises(RuntimeError, match="must await it"):
        LLM(Waiting()).model.invoke("hi")


def test_an_answer_that_nobody_counted_is_estimated() -> None:
    """An adapter need not count; limits and results do not take its calls for free."""
    with ReActAgent(AgentConfig(profile=BOT, llm=LLM(Played(LLMResponse("Hi."))))) as agent:
        result = agent.run_sync("hi")
    assert result.usage.estimated_tokens == result.usage.total_tokens > 0


def test_D037_what_is_no_adapter_or_no_answer_is_told() -> None:
    """At once where it is given, with the first call where it answers with something else."""
    with pytest.raises(LLMAdapterError, match="adapter is a str"):
        LLM("gpt-4o")  # type: ignore[arg-type]
    with (
        ReActAgent(AgentConfig(profile=BOT, llm=LLM(Played({"content": "Hi."})))) as agent,
        pytest.raises(LLMAdapterError, match=r"Played\.chat gave a dict"),
    ):
        agent.run_sync("hi")
    with (
        ReActAgent(AgentConfig(profile=BOT, llm=LLM(Plain()))) as agent,
        pytest.raises(LLMAdapterError, match=r"Plain\.chat is a plain function.*async def"),
    ):
        agent.run_sync("hi")
    with pytest.raises(LLMConfigError, match="api_key"):
        LLM.create(provider="openai", model="gpt-4o-mini")


class Plain(LLMAdapter):
    """An adapter whose author forgot a word."""

    def chat(self, messages: list[Message], **options: Any) -> LLMResponse:  # type: ignore[override]
        return LLMResponse("Hi.")


@pytest.mark.parametrize(
    ("answer", "where"),
    [
        (LLMResponse("", [ToolCall("c1", "add", f'{{"key": "{KEY}"}}')]), r"tool_calls\.0\.args"),  # type: ignore[arg-type]
        (LLMResponse({"key": KEY}), "content"),  # type: ignore[arg-type]
        (LLMResponse("Hi.", [{"name": KEY}]), "tool_calls or usage"),  # type: ignore[list-item]
        (LLMResponse("Hi.", usage=TokenUsage(KEY)), "tool_calls or usage"),  # type: ignore[arg-type]
    ],
)
def test_an_answer_with_fields_of_other_types_is_told_without_its_values(
    answer: LLMResponse, where: str
) -> None:
    """Half of a secret, as pydantic shows a long value, is none that a pattern knows."""
    with (
        ReActAgent(AgentConfig(profile=BOT, llm=LLM(Played(answer)))) as agent,
        pytest.raises(LLMAdapterError, match=rf"Played\.chat .*{where}") as caught,
    ):
        agent.run_sync("hi")
    below: BaseException | None = caught.value
    while below is not None:
        assert KEY[:16] not in str(below)
        below = below.__cause__ or below.__context__


async def test_D038_chat_and_chat_stream() -> None:
    """One answer with calls and counts; or text in pieces and one end."""
    model = LLM(ScriptedModel(turns=[call("add", a=1, b=2), "The sum is three."], order="call"))
    answer = await model.chat([Message("user", "1 + 2?")], system="Be terse.")
    assert [(c.name, c.arguments) for c in answer.tool_calls] == [("add", {"a": 1, "b": 2})]
    assert answer.usage.total_tokens > 0
    said = [Message("user", "1 + 2?"), Message("assistant", "", answer.tool_calls)]
    said.append(Message("tool", "3", tool_call_id="call_add", name="add"))
    pieces = [chunk async for chunk in model.chat_stream(said)]
    *texts, end = pieces
    assert len(texts) > 2
    assert "".join(t.text for t in texts if isinstance(t, TextDelta)) == "The sum is three."
    assert isinstance(end, StreamEnd)
    assert end.usage.completion_tokens > 0
    scripted = model.adapter
    assert isinstance(scripted, ScriptedModel)
    assert [m.type for m in scripted.requests[0]] == ["system", "human"]
    assert [m.type for m in scripted.requests[1]] == ["human", "ai", "tool"]


async def test_options_and_tools_reach_a_provider() -> None:
    """In its own form, over the wire; a refusal keeps its status."""
    tools = [{"name": "add", "description": "Add.", "input_schema": {"type": "object"}}]
    with Wire() as wire:
        adapter = OpenAICompatibleAdapter(
            api_key=KEY, model="gpt-4o-mini", base_url=wire.openai_url
        )
        wire.script(Say("Hi."), Fail(403, "not you"))
        answer = await LLM(adapter).chat(
            [Message("user", "hi")], tools=tools, temperature=0.2, max_tokens=5
        )
        assert answer.content == "Hi."
        body = wire.requests[0].body
        assert (body["temperature"], body["max_tokens"]) == (0.2, 5)
        assert body["tools"][0]["function"]["name"] == "add"
        with pytest.raises(LLMProviderError) as caught:
            await LLM(adapter).chat([Message("user", "hi")])
    assert caught.value.status_code == 403


def test_anthropic_has_its_adapter() -> None:
    """The chat model, with Anthropic's address unless another is given."""
    model: Any = AnthropicAdapter(api_key="sk-ant-TESTTESTTESTTESTTEST", model="claude-sonnet-4-6")
    assert "TESTTEST" not in repr(model)
    assert isinstance(LLM(model).model.invoke, type(model.invoke))


def test_a_key_that_was_given_in_python_is_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever the model says it: what the agent was built with is known."""
    key = "plainkey-0123456789"
    model = LLM.create(provider="scripted", model="echo", api_key=key)
    with ReActAgent(AgentConfig(profile=BOT, llm=model, load_env=False)) as agent:
        assert key not in agent.run_sync(f"Say {key}").final_answer


def test_the_environment_names_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    """`from_env` and `from_profile` look where a profile does."""
    monkeypatch.setenv("AGENT_LAB_LLM_PROVIDER", "scripted")
    assert isinstance(LLM.from_env(load_env=False).model, ScriptedModel)
    assert isinstance(LLM.from_profile(BOT, load_env=False).model, ScriptedModel)
    monkeypatch.delenv("AGENT_LAB_LLM_PROVIDER")
    with pytest.raises(LLMConfigError):
        LLM.from_env(load_env=False)
