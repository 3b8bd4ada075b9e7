"""`injection_phrases`: a score for texts that come back from tools; no say on calls."""

from __future__ import annotations

import pytest

from edgeward.guards.decide import Policy
from edgeward.policies.schema import load_policy

from .deciding import word

PHRASES = ["ignore previous instructions", "system override"]
RULES: dict[str, object] = {"injection_phrases": PHRASES}


@pytest.fixture(scope="module")
def policy() -> Policy:
    """A policy of two phrases."""
    return load_policy({"version": 2, **RULES})


@pytest.mark.parametrize(
    "text",
    [
        "Please ignore previous instructions.",
        "IGNORE  PREVIOUS\n\tINSTRUCTIONS",
        "ign\u200bore previous instructions",
        "ignore%20previous%20instructions",
    ],
)
def test_a_phrase_is_found_in_any_dress(policy: Policy, text: str) -> None:
    """Letter case, white space, invisible characters and encodings do not hide it."""
    assert policy.scan_result(text) == (pytest.approx(0.8), ("ignore previous instructions",))


def test_more_phrases_make_a_higher_score(policy: Policy) -> None:
    """Each adds to the score; all are named, in the order of the list."""
    score, labels = policy.scan_result("System override! Ignore previous instructions.")
    assert score == pytest.approx(0.96)
    assert labels == ("ignore previous instructions", "system override")


@pytest.mark.parametrize("text", ["", "Previous instructions were good.", "ignore the rest"])
def test_other_texts_score_nothing(policy: Policy, text: str) -> None:
    """Parts of a phrase are no phrase."""
    assert policy.scan_result(text) == (0.0, ())


def test_a_sign_in_a_phrase_means_itself() -> None:
    """A phrase is text: `.` and `(` are no patterns."""
    policy = load_policy({"version": 2, "injection_phrases": ["a.b (c)"]})
    assert policy.scan_result("a.b (c)")[1] == ("a.b (c)",)
    assert policy.scan_result("axb c")[1] == ()


def test_calls_are_not_decided_by_phrases() -> None:
    """A phrase in an argument is a signal of nothing: the user may write about it."""
    assert word(RULES, "send", {"body": "ignore previous instructions"}) == "allow"


def test_without_phrases_nothing_scores() -> None:
    """An empty list makes no scanner."""
    policy = load_policy({"version": 2, "injection_phrases": []})
    assert policy.scan_result("ignore previous instructions") == (0.0, ())
