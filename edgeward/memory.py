"""Memory and the compression of conversations, under DefenseAgent's module name for them."""

from __future__ import annotations

from typing import Any

from .policies.context import ContextNumbers
from .profiles.memory.memory import Mem0Memory, MemoryBackendConfig
from .profiles.schema import AgentProfile

__all__ = ["ContextCompressor", "Mem0Memory", "MemoryBackendConfig"]


class ContextCompressor(ContextNumbers):
    """The numbers by which conversations are shortened, for `AgentConfig(compressor=...)`.

    The work is done by the strategies' `compress` nodes.
    """

    def __init__(self, profile: AgentProfile | None = None, **numbers: Any) -> None:
        """Those of a profile, or of the keywords (`context_limit` and the like), which win.

        Raises:
            ValueError: they do not go together.
        """
        given = (
            profile.memory.model_dump(include=set(ContextNumbers.model_fields)) if profile else {}
        )
        super().__init__(**{**given, **numbers})

    @classmethod
    def from_profile(cls, profile: AgentProfile, **numbers: Any) -> ContextCompressor:
        """The same."""
        return cls(profile, **numbers)
