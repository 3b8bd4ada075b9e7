"""The adapter for servers that speak as OpenAI's do, under DefenseAgent's name for it."""

from __future__ import annotations

from langchain_core.language_models import BaseChatModel

from ..profiles.adapter import LLM

__all__ = ["OpenAICompatibleAdapter"]


def OpenAICompatibleAdapter(  # noqa: N802 - a class there, and called as one here
    *, api_key: str, model: str, base_url: str | None = None
) -> BaseChatModel:
    """The chat model for such a server; OpenAI's own where no address is given.

    Raises:
        LLMConfigError: a setting is missing or wrong, or the extra `openai` is not installed.
    """
    return LLM.create(provider="openai", model=model, api_key=api_key, base_url=base_url).model
