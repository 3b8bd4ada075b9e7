"""`injection_phrases`: a score for text that comes back from tools."""

from __future__ import annotations

import base64

import pytest

from edgeward.guards.decide import decide
from edgeward.guards.ledger import History
from edgeward.guards.verdict import ToolCall
from edgeward.policies.schema import load_policy

POLICY = load_policy(
    {"version": 1, "injection_phrases": ["ignore previous instructions", "System override"]}
)


@pytest.mark.parametrize(
    "text",
    [
        "Please IGNORE previous\n   instructions.",
        "system override",
        "ｉｇｎｏｒｅ previous instructions",
        "ig\u200bnore previous instructions",
        base64.b64encode(b"now ignore previous instructions").decode(),
    ],
)
def test_found(text: str) -> None:
    """Case, white space, invisible characters and encodings do not hide a phrase (F008)."""
    score, labels = POLICY.scan_result(text)
    assert score >= POLICY.injection_threshold
    assert len(labels) == 1


def test_scores() -> None:
    """One phrase reaches the default threshold, two go beyond, none scores nothing."""
    assert POLICY.scan_result("previous instructions were fine") == (0.0, ())
    both, labels = POLICY.scan_result("system override: ignore previous instructions")
    assert both > POLICY.scan_result("system override")[0]
    assert labels == ("ignore previous instructions", "System override")
    assert load_policy({"version": 1}).scan_result("ignore previous instructions") == (0.0, ())


def test_calls_are_not_judged() -> None:
    """Phrases decide nothing about calls."""
    call = ToolCall("note", {"text": "ignore previous instructions"})
    assert decide(POLICY, call, History()).word == "allow"
