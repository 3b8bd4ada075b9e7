"""`injection_threshold`: the score from which a text counts as an injection."""

from __future__ import annotations

import pytest

from edgeward.policies.schema import load_policy
from edgeward.policies.yaml_file import ConfigValidationError

from .deciding import word


def test_the_default_is_four_fifths() -> None:
    """The score of one phrase reaches it."""
    policy = load_policy({"version": 2, "injection_phrases": ["obey me"]})
    assert policy.injection_threshold == 0.80
    assert policy.scan_result("obey me")[0] >= policy.injection_threshold


@pytest.mark.parametrize("threshold", [0, 0.5, 1])
def test_a_file_sets_its_own(threshold: float) -> None:
    """Any number from 0 to 1."""
    policy = load_policy({"version": 2, "injection_threshold": threshold})
    assert policy.injection_threshold == threshold


@pytest.mark.parametrize("threshold", [-0.1, 1.01, "high", True, float("nan")])
def test_what_is_no_share_is_refused(threshold: object) -> None:
    """A threshold that no score could reach, or every score does, would be a silent switch."""
    with pytest.raises(ConfigValidationError, match="injection_threshold"):
        load_policy({"version": 2, "injection_threshold": threshold})


def test_calls_are_not_decided_by_it() -> None:
    """It speaks of texts alone."""
    assert word({"injection_threshold": 0}, "send", {"body": "anything"}) == "allow"
