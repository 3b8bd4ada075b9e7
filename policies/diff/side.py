"""One of the two policies that are compared: as it decides, and as it is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...guards.automata import Automata
from ...guards.decide import Policy
from ...guards.flow import Facts
from ...guards.outputs import key_of
from ...guards.rules import Check
from ...guards.rules.sequence import Order
from ...guards.rules.tools import Row, Tools, ToolTable
from ..schema import load_policy, policy_document, policy_model
from ..yaml_file import Document, from_data, validate

Source = str | Path | Mapping[str, object]
"""A shipped name, a path, or a file's content."""


@dataclass(frozen=True, slots=True)
class Side:
    """A policy, its file's validated values by key, and the checks that it came to."""

    policy: Policy
    document: Document
    values: Mapping[str, Any]
    checks: Mapping[str, Check] = field(default_factory=dict)
    enforced: Mapping[str, Check] = field(default_factory=dict)
    """Those that decide: without what is in shadow."""

    @classmethod
    def read(cls, source: Source) -> Side:
        """The side that a source names or says.

        Raises:
            ConfigError: it cannot be loaded.
        """
        policy = load_policy(source)
        if isinstance(source, Mapping):
            document = from_data(source, name="<policy>")
        else:
            document = policy_document(source)
        model = policy_model()
        head = validate(model, document.data, document)
        values = {key: getattr(head, key) for key in model.model_fields}
        checks = {check.rule: check for check in policy.checks}
        decide = policy.checks if policy.enforced is None else policy.enforced
        return cls(policy, document, values, checks, {check.rule: check for check in decide})

    def holds(self, rule: str) -> bool:
        """Whether the rule of this name is in shadow, and decides nothing."""
        shadow = self.policy.shadow
        return shadow is not None and shadow.holds(rule)

    def where(self, *path: str | int) -> str:
        """`file:line` of a value."""
        return self.document.where(path)

    @property
    def table(self) -> ToolTable | None:
        """The entries of `tools`; None where the file has none and any tool may run."""
        check = self.enforced.get("tools")
        return check.table if isinstance(check, Tools) else None

    def rows(self, name: str) -> tuple[Row, ...]:
        """The entries that count for a tool."""
        return () if self.table is None else self.table.rows(name)

    @property
    def automata(self) -> Automata | None:
        """The gates of `sequence`."""
        check = self.checks.get("sequence")
        return check.automata if isinstance(check, Order) else None

    @property
    def me(self) -> frozenset[str]:
        """The user's own values, as they compare."""
        return frozenset(map(key_of, self.values.get("me") or ()))

    def listed(self, key: str) -> list[Any]:
        """The entries of a key that holds a list."""
        return list(self.values.get(key) or ())

    @property
    def private(self) -> list[str]:
        """The tools whose outputs are private to what decides: none where that is in shadow."""
        return [] if self.holds("private") else self.listed("private")

    def facts(self, history: Any, about: frozenset[str]) -> Facts:
        """What the conditions of this policy may know in a history, for a call about something."""
        ledger = history.ledger.judged_by(self.policy.digest, history.caller)
        ledger = ledger.public() if self.holds("private") else ledger
        return Facts(ledger, self.me, about=(about,), caller=history.caller)
