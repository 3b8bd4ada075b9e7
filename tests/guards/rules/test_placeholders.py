"""`placeholders`: which kinds are hidden, and the arguments in which real values are put back."""

from __future__ import annotations

from typing import Any

import pytest

from edgeward.guards.firewall import Firewall
from edgeward.policies.problems import ConfigError
from edgeward.policies.schema import load_policy


def hiding(**block: Any) -> Any:
    """What a policy with this block says of placeholders."""
    return load_policy({"version": 2, "placeholders": block}).hides


def test_paths_by_tool() -> None:
    """A tool is named exactly or by a glob; what several entries say of it adds up."""
    reveal = {"send_email": ["to", "cc"], "send_*": "subject", "pay": "*"}
    hides = hiding(kinds=["email"], reveal=reveal)
    assert hides.kinds == ("email",)
    assert hides.paths("send_email") == ("to", "cc", "subject")
    assert hides.paths("pay") == ("*",)
    assert hides.paths("resend_email") == ()


def test_nothing_is_hidden_without_it() -> None:
    """A policy without the key hides nothing."""
    assert load_policy({"version": 2}).hides is None


@pytest.mark.parametrize(
    ("data", "wrong"),
    [
        ({"version": 1, "placeholders": {"kinds": ["email"]}}, "version: 2"),
        ({"version": 2, "placeholders": {"kinds": []}}, "kinds"),
        ({"version": 2, "placeholders": {"kinds": ["mail"]}}, "kinds"),
        ({"version": 2, "placeholders": {"kinds": ["email"], "reveal": {"x": []}}}, "reveal"),
        ({"version": 2, "placeholders": {"kinds": ["presidio"]}}, "pii: {presidio"),
    ],
)
def test_what_is_refused(data: dict[str, Any], wrong: str) -> None:
    """Version 1, no kind, a kind that does not exist or is not set up, a tool without a path."""
    with pytest.raises(ConfigError, match=wrong):
        load_policy(data)


def test_a_door_that_cannot_hide_refuses() -> None:
    """Where the model's texts do not pass through, the key would do nothing; it is refused."""
    policy = load_policy({"version": 2, "placeholders": {"kinds": ["email"]}})
    with pytest.raises(ValueError, match="use build_graph"):
        Firewall(policy)
