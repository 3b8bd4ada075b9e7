"""Agents, under the module name that DefenseAgent has for them."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .graphs.agent import BaseAgent, PlanAndSolveAgent, ReActAgent, SimpleAgent, create_agent
from .graphs.config import AgentConfig
from .guards.faults import AgentError

if TYPE_CHECKING:
    from .graphs.result import AgentResult, AgentStep, StepKind
    from .profiles.memory.memory import MemoryBackendConfig

__all__ = [
    "MEMORY_RECALL_TOOL_NAME",
    "RAG_GET_RESOURCE_TOOL_NAME",
    "RAG_SEARCH_TOOL_NAME",
    "AgentConfig",
    "AgentError",
    "AgentResult",
    "AgentStep",
    "AgentStepLimitError",
    "BaseAgent",
    "MemoryBackendConfig",
    "PlanAndSolveAgent",
    "ReActAgent",
    "SimpleAgent",
    "StepKind",
    "create_agent",
]

MEMORY_RECALL_TOOL_NAME = "memory_recall"
RAG_SEARCH_TOOL_NAME = "rag_search"
RAG_GET_RESOURCE_TOOL_NAME = "rag_get_resource"


class AgentStepLimitError(AgentError):
    """Nothing raises this: at the bound a run ends with a result, `stopped_reason` "max_steps".

    The name is here so that a program that catches it can be imported.
    """


_LATER = {
    "AgentResult": "graphs.result",
    "AgentStep": "graphs.result",
    "StepKind": "graphs.result",
    "MemoryBackendConfig": "profiles.memory.memory",
}
"""What loads LangGraph or a store, when it is first used, as the package itself does."""


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"edgeward.{_LATER[name]}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
