"""`tool_denylist`: what is listed never runs."""

from __future__ import annotations

import pytest

from edgeward.policies.problems import ConfigError
from edgeward.policies.schema import load_policy

from ..conftest import Ask


def test_denied(ask: Ask) -> None:
    """The reason names the tool, and the allowlist does not help."""
    policy = {"tool_denylist": ["send_email"], "tool_allowlist": ["send_email"]}
    verdict = ask(policy, {}, tool="send_email")
    assert (verdict.word, verdict.reason) == ("block", "tool 'send_email' is denied")
    assert verdict.findings[0].where
    assert ask({"tool_denylist": ["send_email"]}, {}, tool="read_doc").word == "allow"


@pytest.mark.parametrize("value", ["send_email", [""], [" "], [3], [["x"]]])
def test_shape(value: object) -> None:
    """A scalar, a blank or anything that is no name is refused."""
    with pytest.raises(ConfigError, match="tool_denylist"):
        load_policy({"version": 1, "tool_denylist": value})
