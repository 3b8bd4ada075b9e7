"""A thread as the guard sees it: what the user wrote, what tools gave, what the agent proposes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from edgeward.guards.decide import Policy, decide
from edgeward.guards.ledger import USER, History, Ledger
from edgeward.guards.verdict import ToolCall, Verdict
from edgeward.policies.schema import load_policy


class Thread:
    """One thread under a version 2 policy of these keys."""

    def __init__(self, rules: Mapping[str, Any], *said: str) -> None:
        self.policy: Policy = load_policy({"version": 2, **rules})
        self.ledger = Ledger()
        self.calls: dict[str, int] = {}
        for text in said:
            self.says(text)

    def says(self, text: str) -> None:
        """The user writes."""
        entry = Ledger().observed(text, source=USER)
        self.ledger = self.ledger.appended([entry] if entry else [])

    def gave(self, tool: str, data: object, arguments: dict[str, Any] | None = None) -> None:
        """A tool answers: a text, or data."""
        call = ToolCall(tool, arguments or {}, id=f"c{len(self.ledger)}")
        text = data if isinstance(data, str) else ""
        given = None if isinstance(data, str) else data
        entry = self.policy.observed(call, text, source=f"tool {tool}", data=given)
        self.ledger = self.ledger.appended([entry] if entry else [])

    def verdict(self, tool: str, **arguments: Any) -> Verdict:
        """The verdict on a call."""
        history = History(self.ledger, calls=self.calls)
        return decide(self.policy, ToolCall(tool, arguments), history)

    def word(self, tool: str, **arguments: Any) -> str:
        """The verdict's word."""
        return self.verdict(tool, **arguments).word


def one(condition: Any, *said: str, **rules: Any) -> Thread:
    """A thread whose tool `use` asks one condition of its argument `x`."""
    return Thread({"tools": {"use": {"args": {"x": condition}}}, **rules}, *said)
