"""`token_budget_per_session`: the call after the budget is blocked."""

from __future__ import annotations

import pytest

from edgeward.guards.decide import decide
from edgeward.guards.ledger import History
from edgeward.guards.verdict import ToolCall
from edgeward.policies.schema import load_policy


@pytest.mark.parametrize(
    ("data", "used", "word"),
    [
        ({"version": 1}, 19_999, "allow"),
        ({"version": 1}, 20_000, "block"),
        ({"version": 1, "token_budget_per_session": 5}, 6, "block"),
        ({"version": 2}, 10**9, "allow"),
        ({"version": 2, "token_budget_per_session": 5}, 4, "allow"),
        ({"version": 2, "token_budget_per_session": 5}, 5, "block"),
    ],
)
def test_budget(data: dict[str, object], used: int, word: str) -> None:
    """Used up means used up; version 1 has a budget by default, version 2 has none (F010)."""
    verdict = decide(load_policy(data), ToolCall("t"), History(tokens_used=used))
    assert verdict.word == word
    assert (word == "block") == ("token budget" in verdict.reason)
