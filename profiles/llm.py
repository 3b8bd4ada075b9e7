"""Which model the agent speaks with: the provider table, where each setting comes from, the model.

Each setting is looked up on its own: the profile's `llm:` block, then LLM_API_KEY / LLM_MODEL_ID /
LLM_BASE_URL, then <PROVIDER>_API_KEY / _MODEL / _BASE_URL, then the provider's default. Blank
counts as unset everywhere. No key is ever part of a message, a repr or a log.

A provider is one row of `PROVIDERS`. The vendors' packages are imported when a model is built.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator

from ..policies.problems import Problem, did_you_mean, either, speak
from .blocks import Block
from .failures import LLMConfigError, LLMProviderError

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

__all__ = [
    "PROVIDERS",
    "LLMBlock",
    "LLMConfigError",
    "LLMProviderError",
    "LLMSettings",
    "Provider",
    "build_model",
    "read_env",
    "resolve_llm",
]

PROVIDER_VARIABLE = "AGENT_LAB_LLM_PROVIDER"
TIMEOUT_S = 120.0
MAX_RETRIES = 2

Adapter = Literal["openai", "anthropic", "scripted"]


@dataclass(frozen=True, slots=True)
class Provider:
    """One row of the table. `key` is the API key that is used where none is set; None: required."""

    adapter: Adapter
    base_url: str
    key: str | None = None
    model: str = ""
    takes_reasoning: bool = False
    """Whether it wants its reasoning text back with a tool's result."""
    stream_usage: bool = True
    """Whether it may be asked for token counts at the end of a stream."""


PROVIDERS: Mapping[str, Provider] = {
    "openai": Provider("openai", "https://api.openai.com/v1"),
    "anthropic": Provider("anthropic", "https://api.anthropic.com"),
    "deepseek": Provider("openai", "https://api.deepseek.com/v1", takes_reasoning=True),
    "qwen": Provider("openai", "https://dashscope.aliyuncs.com/compatible-mode/v1"),
    "google": Provider("openai", "https://generativelanguage.googleapis.com/v1beta/openai"),
    "vllm": Provider("openai", "http://localhost:8000/v1", key="EMPTY"),
    "groq": Provider("openai", "https://api.groq.com/openai/v1"),
    "mistral": Provider("openai", "https://api.mistral.ai/v1", stream_usage=False),
    "together": Provider("openai", "https://api.together.xyz/v1"),
    "fireworks": Provider("openai", "https://api.fireworks.ai/inference/v1"),
    "openrouter": Provider("openai", "https://openrouter.ai/api/v1"),
    "ollama": Provider("openai", "http://localhost:11434/v1", key="ollama"),
    "scripted": Provider("scripted", "", key="", model="echo"),
}
"""The prefix of a provider's environment variables is its name in capitals."""


class LLMBlock(Block):
    """The profile's `llm:` mapping. What it leaves out comes from the environment."""

    provider: str | None = None
    model: str | None = None
    base_url: str | None = None
    api_key: SecretStr | None = None
    temperature: float | None = Field(default=None, ge=0, le=2)
    """Sent only to models that take one."""
    max_tokens: int | None = Field(default=None, ge=1)
    timeout_s: float | None = Field(default=None, gt=0)
    max_retries: int | None = Field(default=None, ge=0)

    @field_validator("provider")
    @classmethod
    def _known(cls, value: str | None) -> str | None:
        name = (value or "").strip()
        if name and name not in PROVIDERS:
            near = did_you_mean(name, PROVIDERS)
            raise ValueError(
                f"is not a known provider; allowed: {either(list(PROVIDERS))}; {near}".rstrip("; ")
            )
        return name or None


@dataclass(frozen=True, slots=True)
class LLMSettings:
    """Everything needed to build a model. `sources` says where each setting came from."""

    provider: str
    model: str
    base_url: str
    api_key: SecretStr
    temperature: float | None = None
    max_tokens: int | None = None
    timeout_s: float = TIMEOUT_S
    max_retries: int = MAX_RETRIES
    sources: tuple[tuple[str, str], ...] = ()


def read_env(
    *,
    load_env: bool = True,
    dotenv_path: str | Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """The environment, with what `.env` of the current directory adds to it.

    The process environment wins, but a blank value there does not hide one of the file. Nothing
    is written to `os.environ`: a key from the file does not reach child processes.

    Raises:
        LLMConfigError: `dotenv_path` names no file, or the file is not text.
    """
    process = dict(os.environ if environ is None else environ)
    if not load_env:
        return process
    file = Path.cwd() / ".env" if dotenv_path is None else Path(dotenv_path)
    if not file.is_file():
        if dotenv_path is None:
            return process
        raise LLMConfigError(Problem(speak(str(file)), "dotenv_path", "there is no such file"))
    from dotenv import dotenv_values

    try:
        added = dotenv_values(file, encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        added = None
    if added is None:
        raise LLMConfigError(Problem(speak(str(file)), "", "cannot be read as UTF-8 text"))
    filled = {name: value for name, value in process.items() if value.strip()}
    return {**process, **{name: value for name, value in added.items() if value}, **filled}


def resolve_llm(
    block: LLMBlock, env: Mapping[str, str], *, model_override: str | None = None
) -> LLMSettings:
    """Find every setting of the model. `model_override` is `PROVIDER:NAME` and beats the profile.

    A key or address in the profile belongs to the profile's provider: an override that names
    another provider does not send them there.

    Raises:
        LLMConfigError: with every missing setting at once, and where each could be set.
    """
    own = _filled(block.provider) or _filled(env.get(PROVIDER_VARIABLE))
    forced, forced_model = _override(model_override)
    name = forced or own
    if not name:
        raise LLMConfigError(_unset("llm.provider", (PROVIDER_VARIABLE,), either(list(PROVIDERS))))
    if name not in PROVIDERS:
        fix = did_you_mean(name, PROVIDERS) or f"correct {PROVIDER_VARIABLE}"
        raise LLMConfigError(
            Problem(PROVIDER_VARIABLE, "", "is not a known provider", either(list(PROVIDERS)), fix)
        )
    look = _Lookup(name, env)
    theirs = block if name == own else LLMBlock()
    key = theirs.api_key.get_secret_value() if theirs.api_key else None
    row = PROVIDERS[name]
    model = look.find("model", forced_model or theirs.model, "MODEL_ID", "MODEL", row.model or None)
    base_url = look.find("base_url", theirs.base_url, "BASE_URL", "BASE_URL", row.base_url)
    api_key = look.find("api_key", key, "API_KEY", "API_KEY", row.key)
    problems = [*look.missing, *_bad_url(base_url), *_bad_key(api_key)]
    if problems:
        raise LLMConfigError(*problems)
    return LLMSettings(
        provider=name,
        model=model,
        base_url=base_url,
        api_key=SecretStr(api_key),
        temperature=block.temperature,
        max_tokens=block.max_tokens,
        timeout_s=block.timeout_s or TIMEOUT_S,
        max_retries=MAX_RETRIES if block.max_retries is None else block.max_retries,
        sources=tuple(look.sources.items()),
    )


class _Lookup:
    """One provider's search through the tiers, noting what was found where and what nowhere."""

    def __init__(self, provider: str, env: Mapping[str, str]) -> None:
        self.prefix, self.env = provider.upper(), env
        self.sources: dict[str, str] = {}
        self.missing: list[Problem] = []

    def find(
        self, name: str, profile: str | None, shared: str, own: str, default: str | None
    ) -> str:
        shared, own = f"LLM_{shared}", f"{self.prefix}_{own}"
        tiers = (
            ("profile", profile),
            (shared, self.env.get(shared)),
            (own, self.env.get(own)),
        )
        for source, value in tiers:
            if found := _filled(value):
                self.sources[name] = source
                return found
        if default is None:
            self.missing.append(_unset(f"llm.{name}", (shared, own), ""))
            return ""
        self.sources[name] = "default"
        return default


def _filled(value: str | None) -> str:
    return (value or "").strip()


def _override(text: str | None) -> tuple[str, str]:
    if not _filled(text):
        return "", ""
    provider, colon, model = _filled(text).partition(":")
    if not colon or not provider or not model or provider not in PROVIDERS:
        near = did_you_mean(provider, PROVIDERS)
        raise LLMConfigError(
            Problem("model", "", "is not PROVIDER:NAME", either(list(PROVIDERS)), near)
        )
    return provider, model


def _unset(name: str, variables: tuple[str, ...], allowed: str) -> Problem:
    fix = f"set {name} in the profile, or {either(variables)} in the environment or in .env"
    return Problem("profile", name, "is not set", allowed, fix)


def _bad_url(url: str) -> list[Problem]:
    if not url:
        return []
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        good, parts = False, urlsplit("")
    if not good:
        return [Problem("profile", "llm.base_url", "is not an http(s) address")]
    if parts.username or parts.password:
        fix = "put the key into api_key"
        return [Problem("profile", "llm.base_url", "holds a user name or password", fix=fix)]
    return []


def _bad_key(key: str) -> list[Problem]:
    # The SDK's own complaint about such a header would quote it.
    if all("!" <= letter <= "~" for letter in key):
        return []
    fix = "copy the key again, without spaces or line breaks"
    return [Problem("profile", "llm.api_key", "holds characters that no key has", fix=fix)]


def build_model(settings: LLMSettings) -> BaseChatModel:
    """The chat model for these settings. No request is made.

    Raises:
        LLMConfigError: the provider's package is not installed.
    """
    adapter = PROVIDERS[settings.provider].adapter
    if adapter == "scripted":
        from .scripted import ScriptedModel

        return ScriptedModel()
    if importlib.util.find_spec(f"langchain_{adapter}") is None:
        wrong = f"the package for {settings.provider} is not installed"
        fix = f"pip install 'edgeward[{adapter}]'"
        raise LLMConfigError(Problem("profile", "llm.provider", wrong, fix=fix))
    if adapter == "openai":
        from .chat_openai import build as build_openai

        return build_openai(settings)
    from .chat_anthropic import build as build_anthropic

    return build_anthropic(settings)
