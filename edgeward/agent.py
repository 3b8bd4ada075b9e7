"""Agents, under the module name that DefenseAgent has for them."""

from __future__ import annotations

from .graphs.agent import BaseAgent, PlanAndSolveAgent, ReActAgent, SimpleAgent, create_agent
from .graphs.config import AgentConfig
from .graphs.result import AgentResult, AgentStep
from .profiles.memory.memory import MemoryBackendConfig

__all__ = [
    "AgentConfig",
    "AgentResult",
    "AgentStep",
    "BaseAgent",
    "MemoryBackendConfig",
    "PlanAndSolveAgent",
    "ReActAgent",
    "SimpleAgent",
    "create_agent",
]
