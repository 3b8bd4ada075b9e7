"""Providers that speak OpenAI's API, and where they do."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches

OPENAI_COMPATIBLE_BASE_URLS: Mapping[str, str] = {
    "openai": "https://api.openai.com/v1",
    "groq": "https://api.groq.com/openai/v1",
    "nvidia": "https://integrate.api.nvidia.com/v1",
    "mistral": "https://api.mistral.ai/v1",
    "together": "https://api.together.xyz/v1",
    "fireworks": "https://api.fireworks.ai/inference/v1",
    "perplexity": "https://api.perplexity.ai",
    "deepseek": "https://api.deepseek.com",
    "openrouter": "https://openrouter.ai/api/v1",
    "local": "http://localhost:8000/v1",
}
"""Name -> base URL."""


def base_url_of(provider: str, given: str | None) -> str:
    """Where a provider is: as given, or as the table says.

    Raises:
        ValueError: it is not in the table, and nothing is given.
    """
    if given:
        return given
    name = provider.strip().lower()
    if name in OPENAI_COMPATIBLE_BASE_URLS:
        return OPENAI_COMPATIBLE_BASE_URLS[name]
    near = get_close_matches(name, OPENAI_COMPATIBLE_BASE_URLS, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise ValueError(
        f"provider {provider!r} is unknown{hint} Known: {', '.join(OPENAI_COMPATIBLE_BASE_URLS)}. "
        "For another one pass base_url"
    )
