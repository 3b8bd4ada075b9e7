"""The registry of tools, under the module name that DefenseAgent has for it."""

from __future__ import annotations

from .profiles.tools.registry import ToolRegistry
from .profiles.tools.signature import ToolRegistrationError

__all__ = ["ToolRegistrationError", "ToolRegistry"]
