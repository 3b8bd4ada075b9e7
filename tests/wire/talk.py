"""A profile whose model is the wire server, and tools for it."""

from __future__ import annotations

from edgeward import AgentProfile

from .ways import KEY

TOOL = {
    "type": "function",
    "function": {
        "name": "add",
        "description": "Add.",
        "parameters": {"type": "object", "properties": {}, "required": []},
    },
}
"""The schema of `add` as a program writes it."""


def profile(wire, provider="openai", **llm):
    """A profile whose model is the wire server."""
    url = wire.url if provider == "anthropic" else wire.openai_url
    fields = {"provider": provider, "model": "fake-1", "base_url": url, "api_key": KEY}
    agent = {"id": "bot", "name": "Helper", "llm": {**fields, "max_retries": 0, **llm}}
    return AgentProfile.from_mapping(agent)


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def nothing() -> str:
    """Give nothing back."""
    return ""
