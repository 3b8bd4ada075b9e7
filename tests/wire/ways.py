"""The four ways to ask a model of ours over the wire server."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.messages import AIMessageChunk

from edgeward.profiles.llm import LLMBlock, build_model, resolve_llm

KEY = "sk-proj-TESTTESTTESTTESTTEST"

WAYS = pytest.mark.parametrize("way", ["invoke", "stream", "ainvoke", "astream"])
STREAMS = pytest.mark.parametrize("way", ["stream", "astream"])
BOTH = pytest.mark.parametrize("provider", ["openai", "anthropic"])

REMOTE = [
    "openai",
    "anthropic",
    "deepseek",
    "qwen",
    "google",
    "vllm",
    "groq",
    "mistral",
    "together",
    "fireworks",
    "openrouter",
    "ollama",
]
EVERY = pytest.mark.parametrize("provider", REMOTE)


def block_for(wire, provider="openai", model="fake-1", **options):
    """The `llm:` block of a provider that is the wire server."""
    url = wire.url if provider == "anthropic" else wire.openai_url
    fields = {"provider": provider, "model": model, "base_url": url, "api_key": KEY}
    return LLMBlock.model_validate({**fields, "max_retries": 0, **options}, strict=False)


def model_for(wire, provider="openai", model="fake-1", **options):
    """The model of a provider, speaking to the wire server."""
    return build_model(resolve_llm(block_for(wire, provider, model, **options), {}))


def added(chunks):
    """The one message that the chunks make."""
    whole: Any = None
    for chunk in chunks:
        whole = chunk if whole is None else whole + chunk
    assert isinstance(whole, AIMessageChunk)
    return whole


async def streamed(model, text):
    """All chunks of an async stream."""
    return [chunk async for chunk in model.astream(text)]


def ask(model, text, way):
    """One answer, by one of the four ways to ask."""
    if way == "invoke":
        return model.invoke(text)
    if way == "stream":
        return added(model.stream(text))
    if way == "ainvoke":
        return asyncio.run(model.ainvoke(text))
    return added(asyncio.run(streamed(model, text)))
