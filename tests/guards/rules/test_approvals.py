"""`approvals`: how long an approval may last."""

from __future__ import annotations

from typing import Any

import pytest

from edgeward.policies.problems import ConfigError
from edgeward.policies.schema import load_policy


@pytest.mark.parametrize(
    ("rule", "tool", "seconds"),
    [
        (None, "pay", 3_600),
        ("once", "pay", 0),
        ({"max_s": 60}, "pay", 60),
        ({"once": ["pay_*"]}, "pay", 3_600),
        ({"once": ["pay_*"], "max_s": 60}, "pay_all", 0),
        ({"once": ["pay"]}, "PAY", 0),
        ({"once": ["pay"]}, "bank__pay", 0),
    ],
)
def test_bounds(rule: Any, tool: str, seconds: int) -> None:
    """An hour, what `max_s` says, or not at all; `once` names every spelling of a tool."""
    policy = {"version": 2} if rule is None else {"version": 2, "approvals": rule}
    assert load_policy(policy).approval_s(tool) == seconds


@pytest.mark.parametrize(
    "policy",
    [
        {"version": 1, "approvals": "once"},
        {"version": 2, "approvals": "never"},
        {"version": 2, "approvals": {"max_s": 0}},
        {"version": 2, "approvals": {"max": 5}},
        {"version": 2, "approvals": {"once": [""]}},
    ],
)
def test_mistakes_are_refused(policy: dict[str, Any]) -> None:
    """Another word, a bound below a second, an unknown key, version 1."""
    with pytest.raises(ConfigError, match="approvals"):
        load_policy(policy)
