"""The corpus of calls for the doors, and tools that take any arguments and note their runs."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool

from edgeward import ConfigError, Policy, load_policy
from edgeward.guards.arguments import parse_arguments

FILE = Path(__file__).parents[1] / "cases" / "bypass.json"
CASES: list[dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))
CALLS = [case for case in CASES if case["surface"] == "tool_call"]


def policy_of(case: dict[str, Any]) -> Policy | None:
    """The case's policy; None where it is refused, which counts as a block."""
    return _policy(json.dumps(case["policy_fragment"], sort_keys=True))


@cache
def _policy(fragment: str) -> Policy | None:
    try:
        return load_policy({"version": 1, **json.loads(fragment)})
    except ConfigError:
        return None


def arguments_of(case: dict[str, Any]) -> dict[str, Any] | None:
    """The case's arguments; None where they are none that LangChain would hand to a tool."""
    return parse_arguments(case["arguments"])[0]


PARSED = [
    case
    for case in CALLS
    if case["tool"] and arguments_of(case) is not None and policy_of(case) is not None
]
"""The cases that can come as far as a LangChain tool, which has a name."""


class AnyTool:
    """A tool of any name that takes any arguments and notes those of each run."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.runs: list[dict[str, Any]] = []

    def body(self, **arguments: Any) -> str:
        """One run."""
        self.runs.append(arguments)
        return "ran"

    @property
    def tool(self) -> BaseTool:
        """It, as a LangChain tool."""
        return StructuredTool.from_function(
            self.body,
            name=self.name,
            description="Does something.",
            args_schema={"type": "object", "properties": {}},
        )

    @property
    def word(self) -> str:
        """What became of the one call: `allow` where the tool ran."""
        return "allow" if self.runs else "block"
