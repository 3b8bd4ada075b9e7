"""What a request says: the fields that a provider knows, and nothing that is another's."""

from __future__ import annotations

import asyncio
import json

import pytest

from edgeward.profiles.llm import LLMBlock, LLMProviderError, build_model, resolve_llm

from .server import Fail, Say
from .ways import BOTH, KEY, model_for


def test_D030_reasoning_models_get_no_temperature(wire):
    """o3-mini and gpt-5 refuse one; other models get what the profile says."""
    for model, sent in (("o3-mini", False), ("o1", False), ("gpt-5-mini", False), ("m", True)):
        wire.script(Say("x"))
        model_for(wire, model=model, temperature=0.5, max_tokens=99).invoke("hi")
        assert ("temperature" in wire.requests[-1].body) is sent, model


def test_D2_anthropic_gets_no_temperature(wire):
    """The current API has no such parameter."""
    wire.script(Say("x"))
    model_for(wire, "anthropic", temperature=0.5, max_tokens=99).invoke("hi")
    assert "temperature" not in wire.requests[-1].body
    assert wire.requests[-1].body["max_tokens"] == 99


def test_other_providers_get_the_field_names_they_know(wire):
    """`max_completion_tokens` is OpenAI's own; the others know `max_tokens`."""
    wire.script(Say("x"))
    model_for(wire, "deepseek", max_tokens=5).invoke("hi")
    assert wire.requests[-1].body["max_tokens"] == 5
    assert "max_completion_tokens" not in wire.requests[-1].body


def test_nothing_of_openai_is_told_to_other_providers(wire, monkeypatch):
    """Organisation, project and key of OPENAI_* do not travel."""
    for name in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, "sk-other-secret")
    wire.script(Say("x"), Say("x"))
    model_for(wire, "deepseek").invoke("hi")
    asyncio.run(model_for(wire, "deepseek").ainvoke("hi"))
    assert "sk-other-secret" not in json.dumps([seen.headers for seen in wire.requests])


@BOTH
def test_headers_of_the_environment_do_not_travel(wire, provider, monkeypatch):
    """What a variable adds for one service is no other's business."""
    for vendor in ("OPENAI", "ANTHROPIC"):
        monkeypatch.setenv(f"{vendor}_CUSTOM_HEADERS", "x-gateway: sk-other-secret")
        monkeypatch.setenv(f"{vendor}_AUTH_TOKEN", "sk-other-secret")
    wire.script(Say("x"), Say("x"))
    model_for(wire, provider).invoke("hi")
    asyncio.run(model_for(wire, provider).ainvoke("hi"))
    assert len(wire.requests) == 2
    assert "sk-other-secret" not in json.dumps([seen.headers for seen in wire.requests])


@BOTH
def test_no_key_is_in_a_log(wire, provider, caplog):
    """With everything logged that the packages have to say."""
    caplog.set_level(1)
    for name in ("openai", "anthropic", "httpx2", "httpcore2"):
        caplog.set_level(1, logger=name)
    wire.script(Say("x"), Fail(401, f"bad key {KEY}"))
    model_for(wire, provider).invoke("hi")
    with pytest.raises(LLMProviderError):
        model_for(wire, provider).invoke("hi")
    assert caplog.records
    assert KEY not in caplog.text


def test_C16_the_model_does_not_show_its_key(wire):
    """Neither the model's repr nor its serialised form holds the key."""
    from langchain_core.load import dumps

    for provider in ("openai", "anthropic"):
        model = model_for(wire, provider)
        assert KEY not in repr(model) + str(model) + dumps(model)
        assert KEY not in repr(model._identifying_params)


def test_D028_one_profile_three_environments_three_providers(wire):
    """The environment alone switches provider and adapter."""
    names = set()
    for provider, prefix in (
        ("deepseek", "DEEPSEEK"),
        ("qwen", "QWEN"),
        ("anthropic", "ANTHROPIC"),
    ):
        url = wire.url if provider == "anthropic" else wire.openai_url
        env = {
            "AGENT_LAB_LLM_PROVIDER": provider,
            f"{prefix}_API_KEY": KEY,
            f"{prefix}_MODEL": "m",
            f"{prefix}_BASE_URL": url,
        }
        wire.script(Say(provider))
        model = build_model(resolve_llm(LLMBlock(), env))
        assert model.invoke("hi").text == provider
        names.add((type(model).__name__, getattr(model, "provider_name", "")))
    assert len(names) == 3


def test_tools_reach_the_provider_as_described(wire):
    """The schemas of a registry arrive as they are, with both providers."""
    from edgeward.profiles.tools.python import as_tool
    from edgeward.profiles.tools.registry import ToolRegistry

    def tag(tags: list, mode: str = "a") -> str:
        """Tag it."""
        return mode

    schemas = ToolRegistry([(as_tool(tag), "here")]).schemas()
    wire.script(Say("x"), Say("x"))
    model_for(wire).bind_tools(schemas).invoke("hi")
    assert wire.requests[-1].body["tools"] == schemas
    model_for(wire, "anthropic").bind_tools(schemas).invoke("hi")
    (sent,) = wire.requests[-1].body["tools"]
    assert sent["input_schema"] == schemas[0]["function"]["parameters"]
