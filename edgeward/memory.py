"""Memory, under the module name that DefenseAgent has for it."""

from __future__ import annotations

from .profiles.memory.memory import Mem0Memory, MemoryBackendConfig

__all__ = ["Mem0Memory", "MemoryBackendConfig"]
