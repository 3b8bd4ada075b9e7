"""What rules in shadow would have changed, out of the receipts of a log.

A receipt of a policy with rules in shadow says what its verdict would have been, and what only
those rules said. A rule changes a verdict where its word is the one that would have been; where
nothing would have objected any more, no rule does, and that stands under its own name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..verdict import STRICTNESS

NOTHING = "(nothing objects)"
"""In place of a rule: what was enforced objected, and would not have."""

EXAMPLES = 3
"""Receipts that are named of each rule."""

Change = tuple[str, str]
"""The verdict's word, and the one that would have been."""

_STRICTNESS: dict[str, int] = {str(word): rank for word, rank in STRICTNESS.items()}
"""A log's words are any text."""


@dataclass(slots=True)
class RuleReport:
    """What one rule in shadow said."""

    rule: str
    where: str = ""
    spoke: int = 0
    """Receipts in which it said something that no enforced rule did."""
    changes: Counter[Change] = field(default_factory=Counter)
    """Verdicts that it would have changed."""
    tools: Counter[str] = field(default_factory=Counter)
    """Whose calls they were on; where it changed none, those of which it spoke."""
    examples: list[tuple[int, str]] = field(default_factory=list)
    """Of the same: the record's number in the log, and the receipt's id."""

    @property
    def changed(self) -> int:
        """How many verdicts it would have changed."""
        return self.changes.total()

    def note(self, number: int, body: Mapping[str, Any], change: Change | None) -> None:
        """Count a receipt; `change` where the rule would have changed its verdict."""
        self.spoke += self.rule != NOTHING
        if change is not None and not self.changes:
            self.tools.clear()
            self.examples.clear()
        if change is not None:
            self.changes[change] += 1
        if change is not None or not self.changes:
            self.tools[str(body.get("tool", ""))] += 1
            if len(self.examples) < EXAMPLES:
                self.examples.append((number, str(body.get("receipt", ""))))


@dataclass(slots=True)
class Report:
    """The sum of a log."""

    receipts: int = 0
    in_shadow: int = 0
    """Receipts of a policy with rules in shadow."""
    changes: Counter[Change] = field(default_factory=Counter)
    by_rule: dict[str, RuleReport] = field(default_factory=dict)

    @property
    def changed(self) -> int:
        """Verdicts that would have been otherwise."""
        return self.changes.total()

    @property
    def rules(self) -> list[RuleReport]:
        """Each rule in shadow that spoke; the one that would have changed most comes first."""
        return sorted(self.by_rule.values(), key=lambda r: (-r.changed, -r.spoke, r.rule))


def report(bodies: Iterable[Mapping[str, Any]]) -> Report:
    """What the receipts of a log say, in the order of its records. No signature is looked at."""
    found = Report()
    for number, body in enumerate(bodies):
        found.receipts += 1
        shadow = body.get("shadow")
        if not isinstance(shadow, Mapping):
            continue
        found.in_shadow += 1
        was, would_be = str(body.get("word", "")), str(shadow.get("word", ""))
        change = (was, would_be) if was != would_be else None
        if change is not None:
            found.changes[change] += 1
        said = {rule: (word, where) for rule, word, where in _said(shadow)}
        if change is not None and would_be not in {word for word, _ in said.values()}:
            said[NOTHING] = (would_be, "")
        for rule, (word, where) in said.items():
            of_rule = found.by_rule.setdefault(rule, RuleReport(rule, where))
            of_rule.note(number, body, change if word == would_be else None)
    return found


def _said(shadow: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Rule, word and place of each thing that the rules in shadow said; the strictest last."""
    listed = shadow.get("rules")
    given = listed if isinstance(listed, list) else []
    rules = [said for said in given if isinstance(said, Mapping)]
    for said in sorted(rules, key=lambda said: _STRICTNESS.get(str(said.get("word", "")), 0)):
        yield str(said.get("rule", "")), str(said.get("word", "")), str(said.get("where", ""))
