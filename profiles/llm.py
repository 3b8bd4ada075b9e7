"""Which model the agent speaks with: the provider table, where each setting comes from, the model.

Each setting is looked up on its own: the profile's `llm:` block, then LLM_API_KEY / LLM_MODEL_ID /
LLM_BASE_URL, then <PROVIDER>_API_KEY / _MODEL / _BASE_URL, then the provider's default. Blank
counts as unset everywhere. No key is ever part of a message, a repr or a log.

A provider is one row of `PROVIDERS`. The vendors' packages are imported when a model is built.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from pydantic import Field, SecretStr, field_validator, model_validator

from ..policies.problems import Problem, did_you_mean, either
from .blocks import Block
from .environment import Lookup, bad_key, bad_url, filled, read_env, unset
from .failures import LLMConfigError, LLMProviderError
from .local_block import LocalBlock

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

__all__ = [
    "PROVIDERS",
    "LLMBlock",
    "LLMConfigError",
    "LLMProviderError",
    "LLMSettings",
    "LocalBlock",
    "ModelBlock",
    "Provider",
    "build_model",
    "read_env",
    "resolve_llm",
]

PROVIDER_VARIABLE = "AGENT_LAB_LLM_PROVIDER"
TIMEOUT_S = 120.0
MAX_RETRIES = 2

Adapter = Literal["openai", "anthropic", "local", "scripted"]


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
    timeout_s: float = TIMEOUT_S


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
    "local": Provider("local", "", key="", timeout_s=600.0),
    "scripted": Provider("scripted", "", key="", model="echo"),
}
"""The prefix of a provider's environment variables is its name in capitals."""


class ModelBlock(Block):
    """One model. What the block leaves out comes from the environment."""

    provider: str | None = Field(default=None, json_schema_extra={"enum": ["", None, *PROVIDERS]})
    model: str | None = None
    base_url: str | None = None
    api_key: SecretStr | None = None
    temperature: float | None = Field(default=None, ge=0, le=2)
    """Sent only to models that take one."""
    max_tokens: int | None = Field(default=None, ge=1)
    timeout_s: float | None = Field(default=None, gt=0)
    max_retries: int | None = Field(default=None, ge=0)
    local: LocalBlock | None = None

    @field_validator("provider")
    @classmethod
    def _known(cls, value: str | None) -> str | None:
        name = filled(value)
        if name and name not in PROVIDERS:
            near = did_you_mean(name, PROVIDERS)
            raise ValueError(
                f"is not a known provider; allowed: {either(list(PROVIDERS))}; {near}".rstrip("; ")
            )
        return name or None

    @model_validator(mode="after")
    def _only_local(self) -> ModelBlock:
        if self.local is not None and self.provider not in (None, "local"):
            raise ValueError(f"local does not go with provider {self.provider}; remove it")
        return self


class LLMBlock(ModelBlock):
    """The profile's `llm:` mapping."""

    fallback: ModelBlock | None = None
    """Asked where the model is not to be had: a mapping like this one, or `PROVIDER:NAME`."""

    @field_validator("fallback", mode="before", json_schema_input_type=str | ModelBlock | None)
    @classmethod
    def _short(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        provider, _, model = value.partition(":")
        if not provider.strip() or not model.strip():
            raise ValueError("is not PROVIDER:NAME, and no mapping of provider and model")
        return {"provider": provider, "model": model.strip()}


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
    local: LocalBlock | None = None
    fallback: LLMSettings | None = None

    def secrets(self) -> dict[str, str]:
        """The keys by name, for masking."""
        keys = {"llm_api_key": self.api_key.get_secret_value()}
        more = self.fallback.secrets() if self.fallback else {}
        return keys | {f"fallback_{name}": key for name, key in more.items()}


def resolve_llm(
    block: LLMBlock,
    env: Mapping[str, str],
    *,
    model_override: str | None = None,
    base_dir: Path | None = None,
) -> LLMSettings:
    """Find every setting of the model. `model_override` is `PROVIDER:NAME` and beats the profile.

    A key or address in the profile belongs to the profile's provider: an override that names
    another provider does not send them there; nor does it fall back to another model. A model
    file in the profile is relative to `base_dir`.

    Raises:
        LLMConfigError: with every missing setting at once, and where each could be set.
    """
    own = filled(block.provider) or filled(env.get(PROVIDER_VARIABLE))
    forced, forced_model = _override(model_override)
    name = forced or own
    if not name:
        raise LLMConfigError(unset("llm.provider", [PROVIDER_VARIABLE], either(list(PROVIDERS))))
    if name not in PROVIDERS:
        fix = did_you_mean(name, PROVIDERS) or f"correct {PROVIDER_VARIABLE}"
        raise LLMConfigError(
            Problem(PROVIDER_VARIABLE, "", "is not a known provider", either(list(PROVIDERS)), fix)
        )
    theirs = block if name == own else LLMBlock()
    if forced_model:
        theirs = theirs.model_copy(update={"model": forced_model})
    row = PROVIDERS[name]
    look = Lookup(name, env=env)
    settings = _settings(block, theirs, look, row, name)
    second = None if forced else block.fallback
    fallback = _fallback(second, settings, look, env) if second else None
    if look.missing:
        raise LLMConfigError(*look.missing)
    if base_dir and not forced:
        settings, fallback = _placed(settings, base_dir), fallback and _placed(fallback, base_dir)
    return replace(settings, fallback=fallback)


def _settings(
    block: ModelBlock, theirs: ModelBlock, look: Lookup, row: Provider, name: str
) -> LLMSettings:
    """What is found; `theirs` are the fields that belong to the provider."""
    key = theirs.api_key.get_secret_value() if theirs.api_key else None
    model = look.find("model", theirs.model, "MODEL_ID", "MODEL", row.model or None)
    base_url = look.find("base_url", theirs.base_url, "BASE_URL", "BASE_URL", row.base_url)
    api_key = look.find("api_key", key, "API_KEY", "API_KEY", row.key)
    look.missing += bad_url(base_url, f"{look.at}.base_url")
    look.missing += bad_key(api_key, f"{look.at}.api_key")
    return LLMSettings(
        provider=name,
        model=model,
        base_url=base_url,
        api_key=SecretStr(api_key),
        temperature=block.temperature,
        max_tokens=block.max_tokens,
        timeout_s=block.timeout_s or row.timeout_s,
        max_retries=MAX_RETRIES if block.max_retries is None else block.max_retries,
        sources=tuple(look.sources.items()),
        local=theirs.local,
    )


def _fallback(
    block: ModelBlock, first: LLMSettings, look: Lookup, env: Mapping[str, str]
) -> LLMSettings | None:
    """The second model's settings. LLM_* name the first model: its key goes to nobody else."""
    name = filled(block.provider) or first.provider
    row = PROVIDERS[name]
    if name == first.provider:
        row = replace(row, base_url=first.base_url, key=first.api_key.get_secret_value() or row.key)
    mine = Lookup(name, env=env, at="llm.fallback", shared=False)
    settings = _settings(block, block, mine, row, name)
    look.missing += mine.missing
    return None if mine.missing else settings


def _placed(settings: LLMSettings, base_dir: Path) -> LLMSettings:
    """With the path of a model file made whole, where the profile names one."""
    ours = dict(settings.sources).get("model") == "profile"
    if settings.provider != "local" or not ours or settings.model.startswith("hf:"):
        return settings
    return replace(settings, model=str(base_dir / settings.model))


def _override(text: str | None) -> tuple[str, str]:
    if not filled(text):
        return "", ""
    provider, colon, model = filled(text).partition(":")
    if not colon or not provider or not model or provider not in PROVIDERS:
        wrong = (
            "has no known provider (PROVIDER:NAME)" if colon and model else "is not PROVIDER:NAME"
        )
        allowed = f"as PROVIDER {either(list(PROVIDERS))}"
        near = did_you_mean(provider, PROVIDERS)
        raise LLMConfigError(Problem("model", "", wrong, allowed, near))
    return provider, model


def build_model(settings: LLMSettings) -> BaseChatModel:
    """The chat model for these settings. No request is made; a local model loads at its first.

    Raises:
        LLMConfigError: the provider's package is not installed, or a model file is not there.
    """
    first = _built(settings)
    if settings.fallback is None:
        return first
    from .fallback import FallbackModel

    return FallbackModel(first=first, second=_built(settings.fallback))


def _built(settings: LLMSettings) -> BaseChatModel:
    adapter = PROVIDERS[settings.provider].adapter
    if adapter == "scripted":
        from .scripted import ScriptedModel

        return ScriptedModel()
    if importlib.util.find_spec(_PACKAGES[adapter]) is None:
        wrong = f"the package for {settings.provider} is not installed"
        fix = f"pip install 'edgeward[{adapter}]'"
        raise LLMConfigError(Problem("profile", "llm.provider", wrong, fix=fix))
    build = importlib.import_module(f".chat_{adapter}", __package__).build
    return cast("BaseChatModel", build(settings))


_PACKAGES = {
    "openai": "langchain_openai",
    "anthropic": "langchain_anthropic",
    "local": "xllamacpp",
}
