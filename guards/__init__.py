"""Who decides: tool calls in, verdicts out. No YAML, no LangGraph, no LangChain, no model.

The names below are loaded on first use. The decision itself is `edgeward.guards.decide.decide`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .decide import Policy
    from .ledger import History, Ledger
    from .normalise import Examined, parse_arguments
    from .redact import Redactor
    from .verdict import Finding, Origin, ToolCall, Verdict, Word

_HOMES = {
    "Examined": "normalise",
    "Finding": "verdict",
    "History": "ledger",
    "Ledger": "ledger",
    "Origin": "verdict",
    "Policy": "decide",
    "Redactor": "redact",
    "ToolCall": "verdict",
    "Verdict": "verdict",
    "Word": "verdict",
    "parse_arguments": "normalise",
}

__all__ = [
    "Examined",
    "Finding",
    "History",
    "Ledger",
    "Origin",
    "Policy",
    "Redactor",
    "ToolCall",
    "Verdict",
    "Word",
    "parse_arguments",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
