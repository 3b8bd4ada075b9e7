"""What a report counts, receipt by receipt."""

from __future__ import annotations

from typing import Any

import pytest

from edgeward.guards.receipts.report import NOTHING, report


def body(word: str, would_be: str, *rules: tuple[str, str], tool: str = "t") -> dict[str, Any]:
    """A receipt; `rules` are what rules in shadow said: name and word."""
    said = [{"rule": rule, "word": spoken, "where": "p.yaml:1"} for rule, spoken in rules]
    return {"tool": tool, "word": word, "shadow": {"word": would_be, "rules": said}}


def test_a_rule_changes_what_it_decides() -> None:
    """One that is milder than what would have been spoke, and changed nothing."""
    found = report([body("allow", "block", ("a", "block"), ("b", "ask"))])
    assert {r.rule: (r.spoke, r.changed) for r in found.rules} == {"a": (1, 1), "b": (1, 0)}
    assert found.changed == 1


def test_a_rule_that_changes_nothing_names_the_calls_that_it_spoke_of() -> None:
    """Until there is one that it would have changed: then those."""
    same = body("block", "block", ("a", "block"), tool="first")
    (rule,) = report([same, same]).rules
    assert (rule.changed, dict(rule.tools)) == (0, {"first": 2})
    (rule,) = report([same, body("allow", "block", ("a", "block"), tool="second"), same]).rules
    assert (rule.spoke, rule.changed, dict(rule.tools)) == (3, 1, {"second": 1})
    assert rule.examples == [(1, "")]


def test_a_rule_that_speaks_twice_of_a_call_counts_once() -> None:
    """With its strictest word."""
    (rule,) = report([body("ask", "block", ("a", "block"), ("a", "ask"))]).rules
    assert (rule.spoke, dict(rule.changes)) == (1, {("ask", "block"): 1})


def test_what_would_have_been_let_through() -> None:
    """No rule objects; it stands under its own name."""
    (rule,) = report([body("block", "allow")]).rules
    assert (rule.rule, rule.spoke, rule.changed) == (NOTHING, 0, 1)


def test_three_examples_are_enough() -> None:
    """A log may be long."""
    (rule,) = report([body("allow", "ask", ("a", "ask"))] * 9).rules
    assert ([n for n, _ in rule.examples], rule.tools["t"]) == ([0, 1, 2], 9)


@pytest.mark.parametrize("rules", [7, {"word": "block"}, [{"word": []}], [7]])
def test_what_no_writer_of_ours_wrote_is_counted_all_the_same(rules: object) -> None:
    """A report looks at no signature."""
    found = report([{"tool": "t", "word": "allow", "shadow": {"word": "block", "rules": rules}}])
    assert (found.in_shadow, found.changed) == (1, 1)
