"""The adapter for Anthropic's models, under DefenseAgent's name for it."""

from __future__ import annotations

from langchain_core.language_models import BaseChatModel

from ..profiles.adapter import LLM

__all__ = ["AnthropicAdapter"]


def AnthropicAdapter(  # noqa: N802 - a class there, and called as one here
    *, api_key: str, model: str, base_url: str | None = None
) -> BaseChatModel:
    """The chat model.

    Raises:
        LLMConfigError: a setting is missing or wrong, or the extra `anthropic` is not installed.
    """
    return LLM.create(provider="anthropic", model=model, api_key=api_key, base_url=base_url).model
