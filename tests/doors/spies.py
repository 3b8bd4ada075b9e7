"""Tools that note their runs, and a model's reply that calls them."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.tools import BaseTool, StructuredTool

POLICY = {
    "version": 1,
    "tool_allowlist": ["read_doc", "search"],
    "tool_denylist": ["send_email"],
    "egress_allowlist": ["example.com"],
    "arg_rules": [{"name": "path_traversal", "reason": "path traversal", "regex": r"\.\./"}],
}

REFUSED = [
    ("send_email", {"text": "hello"}, "tool 'send_email' is denied"),
    ("unlisted", {"text": "hello"}, "tool 'unlisted' is not on the allowlist"),
    ("read_doc", {"text": "../secret"}, "path traversal"),
    ("read_doc", {"text": "https://evil.test/x"}, "host 'evil.test' is not on the egress"),
]
"""Tool, arguments, and what is said: a denied tool, an unlisted one, bad arguments."""


class Spy:
    """A tool that notes its runs, sync or async."""

    def __init__(self, name: str, *, answer: str = "fine") -> None:
        self.name = name
        self.answer = answer
        self.runs: list[tuple[str, int]] = []

    def run(self, text: str, amount: int = 1) -> str:
        """One run."""
        self.runs.append((text, amount))
        return self.answer

    async def arun(self, text: str, amount: int = 1) -> str:
        """One run, async."""
        return self.run(text, amount)

    def sync_tool(self) -> BaseTool:
        """As a tool that has a function alone."""
        return StructuredTool.from_function(self.run, name=self.name, description="Does it.")

    def async_tool(self) -> BaseTool:
        """As a tool that has a coroutine, too."""
        return StructuredTool.from_function(
            self.run, self.arun, name=self.name, description="Does it."
        )


def calls(*proposed: tuple[str, dict[str, Any]]) -> AIMessage:
    """A model's reply with these calls; their ids are c0, c1 and so on."""
    made = [{"name": n, "args": args, "id": f"c{i}"} for i, (n, args) in enumerate(proposed)]
    return AIMessage("", tool_calls=made)
