"""The log of an agent's runs, under the module name that DefenseAgent has for it."""

from __future__ import annotations

from .graphs.logger import AgentLogger

__all__ = ["AgentLogger"]
