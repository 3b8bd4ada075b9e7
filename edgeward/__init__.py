"""Edgeward: AI agents as LangGraph state machines declared in YAML, in which no tool runs without a
policy decision.

The public names. Each is loaded when it is first used, so that `import edgeward` costs next to
nothing and a program that wants the guard alone never loads LangGraph.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

# In a clone the rooms lie beside this folder. Whoever starts Python there gets this folder first,
# installed or not, and must find them.
_beside = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
if os.path.isfile(os.path.join(_beside, "graphs", "schema.py")):
    __path__.append(_beside)

if TYPE_CHECKING:
    from edgeward.clients import (
        OPENAI_COMPATIBLE_BASE_URLS,
        FirewallAnthropic,
        FirewallGoogleGenerativeAI,
        FirewallOpenAI,
        create_openai_compatible_firewall,
    )
    from edgeward.extras import MissingExtra
    from edgeward.firewall import Firewall
    from edgeward.graphs.admitted import LockViolation, NothingWaiting
    from edgeward.graphs.agent import (
        BaseAgent,
        PlanAndSolveAgent,
        ReActAgent,
        SimpleAgent,
        create_agent,
    )
    from edgeward.graphs.build import build_graph
    from edgeward.graphs.checkpoints import open_checkpointer
    from edgeward.graphs.config import AgentConfig
    from edgeward.graphs.context import RunContext
    from edgeward.graphs.locked import LockedGraph
    from edgeward.graphs.result import AgentResult, AgentStep, TokenUsage
    from edgeward.graphs.schema import Strategy, load_strategy
    from edgeward.guards.caller import Caller
    from edgeward.guards.clients.defender import (
        Status,
        ToolCall,
        check_tool_calls,
        scan_and_redact,
    )
    from edgeward.guards.decide import Policy, decide
    from edgeward.guards.firewall import PolicyViolationError
    from edgeward.guards.limits import Spending
    from edgeward.guards.receipts.log import ReceiptLog
    from edgeward.guards.verdict import Verdict
    from edgeward.langchain import (
        FirewallCallbackHandler,
        FirewallMiddleware,
        guard_tools,
    )
    from edgeward.policies.policy_file import PolicyFile
    from edgeward.policies.problems import (
        ConfigError,
        ConfigFileMissing,
        ConfigParseError,
        ConfigValidationError,
    )
    from edgeward.policies.schema import load_policy
    from edgeward.profiles.memory.memory import Mem0Memory, MemoryBackendConfig
    from edgeward.profiles.rag.rag import LlamaIndexRAG
    from edgeward.profiles.schema import AgentProfile
    from edgeward.profiles.scripted import ScriptedModel
    from edgeward.profiles.tools.mcp.review import review_mcp
    from edgeward.profiles.tools.registry import ToolRegistry
    from edgeward.profiles.tools.signature import ToolRegistrationError
    from edgeward.profiles.tools.skill_files import SkillLoadError

_HOMES = {
    "clients": (
        "FirewallAnthropic FirewallGoogleGenerativeAI FirewallOpenAI OPENAI_COMPATIBLE_BASE_URLS"
        " create_openai_compatible_firewall"
    ),
    "extras": "MissingExtra",
    "firewall": "Firewall",
    "graphs.agent": "BaseAgent PlanAndSolveAgent ReActAgent SimpleAgent create_agent",
    "graphs.build": "build_graph",
    "graphs.checkpoints": "open_checkpointer",
    "graphs.config": "AgentConfig",
    "graphs.context": "RunContext",
    "graphs.admitted": "LockViolation NothingWaiting",
    "graphs.locked": "LockedGraph",
    "graphs.result": "AgentResult AgentStep TokenUsage",
    "graphs.schema": "Strategy load_strategy",
    "guards.caller": "Caller",
    "guards.clients.defender": "Status ToolCall check_tool_calls scan_and_redact",
    "guards.decide": "Policy decide",
    "guards.firewall": "PolicyViolationError",
    "guards.limits": "Spending",
    "guards.receipts.log": "ReceiptLog",
    "guards.verdict": "Verdict",
    "langchain": "FirewallCallbackHandler FirewallMiddleware guard_tools",
    "policies.policy_file": "PolicyFile",
    "policies.problems": ("ConfigError ConfigFileMissing ConfigParseError ConfigValidationError"),
    "policies.schema": "load_policy",
    "profiles.memory.memory": "Mem0Memory MemoryBackendConfig",
    "profiles.rag.rag": "LlamaIndexRAG",
    "profiles.schema": "AgentProfile",
    "profiles.scripted": "ScriptedModel",
    "profiles.tools.mcp.review": "review_mcp",
    "profiles.tools.registry": "ToolRegistry",
    "profiles.tools.signature": "ToolRegistrationError",
    "profiles.tools.skill_files": "SkillLoadError",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = [
    "OPENAI_COMPATIBLE_BASE_URLS",
    "AgentConfig",
    "AgentProfile",
    "AgentResult",
    "AgentStep",
    "BaseAgent",
    "Caller",
    "ConfigError",
    "ConfigFileMissing",
    "ConfigParseError",
    "ConfigValidationError",
    "Firewall",
    "FirewallAnthropic",
    "FirewallCallbackHandler",
    "FirewallGoogleGenerativeAI",
    "FirewallMiddleware",
    "FirewallOpenAI",
    "LlamaIndexRAG",
    "LockViolation",
    "LockedGraph",
    "Mem0Memory",
    "MemoryBackendConfig",
    "MissingExtra",
    "NothingWaiting",
    "PlanAndSolveAgent",
    "Policy",
    "PolicyFile",
    "PolicyViolationError",
    "ReActAgent",
    "ReceiptLog",
    "RunContext",
    "ScriptedModel",
    "SimpleAgent",
    "SkillLoadError",
    "Spending",
    "Status",
    "Strategy",
    "TokenUsage",
    "ToolCall",
    "ToolRegistrationError",
    "ToolRegistry",
    "Verdict",
    "build_graph",
    "check_tool_calls",
    "create_agent",
    "create_openai_compatible_firewall",
    "decide",
    "guard_tools",
    "load_policy",
    "load_strategy",
    "open_checkpointer",
    "review_mcp",
    "scan_and_redact",
]


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'edgeward' has no attribute {name!r}")
    value = getattr(import_module(f"edgeward.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
