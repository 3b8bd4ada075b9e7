"""`injection_threshold`: a number from 0 to 1 that the policy carries."""

from __future__ import annotations

import pytest

from edgeward.policies.problems import ConfigError
from edgeward.policies.schema import load_policy


def test_value() -> None:
    """The default is 0.80; a file may set another (F009)."""
    assert load_policy({"version": 1}).injection_threshold == 0.80
    assert load_policy({"version": 1, "injection_threshold": 0.5}).injection_threshold == 0.5


@pytest.mark.parametrize("value", [-0.1, 1.1, "high"])
def test_shape(value: object) -> None:
    """What is no share of one is refused."""
    with pytest.raises(ConfigError, match="injection_threshold"):
        load_policy({"version": 1, "injection_threshold": value})
