"""`token_budget_per_session`: no call once the thread's tokens are used up."""

from __future__ import annotations

import pytest

from edgeward.guards.ledger import History

from .deciding import verdict


def used(tokens: int, rules: dict[str, object], version: int = 2) -> str:
    """The word for a call of a thread that has used so many tokens."""
    more: dict[str, object] = {"egress_allowlist": []} if version == 1 else {}
    return verdict({**rules, **more}, version=version, history=History(tokens_used=tokens)).word


@pytest.mark.parametrize(("tokens", "word"), [(0, "allow"), (99, "allow"), (100, "block")])
def test_the_budget_is_what_may_be_used(tokens: int, word: str) -> None:
    """The last token of the budget may be used; with it the budget is gone."""
    assert used(tokens, {"token_budget_per_session": 100}) == word


def test_a_budget_of_nothing_blocks_the_first_call() -> None:
    """Zero is a budget, not the absence of one."""
    assert used(0, {"token_budget_per_session": 0}) == "block"


@pytest.mark.parametrize(
    ("version", "tokens", "word"),
    [(1, 19_999, "allow"), (1, 20_000, "block"), (2, 10_000_000, "allow")],
)
def test_an_absent_key_means_what_its_version_says(version: int, tokens: int, word: str) -> None:
    """20000 tokens in a version 1 file, no limit in a version 2 file."""
    assert used(tokens, {}, version) == word


def test_the_refusal_says_how_much_was_used() -> None:
    """Budget and use, so that the reader can choose another."""
    said = verdict({"token_budget_per_session": 5}, history=History(tokens_used=7))
    assert said.reason == "the session's token budget of 5 is used up (7)"
