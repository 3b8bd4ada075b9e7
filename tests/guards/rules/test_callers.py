"""`callers`: on whose behalf calls are made, for a whole policy and for single tools."""

from __future__ import annotations

from typing import Any

import pytest

from edgeward.guards.caller import NOBODY, Caller
from edgeward.guards.decide import decide
from edgeward.guards.ledger import History
from edgeward.guards.verdict import ToolCall
from edgeward.policies.problems import ConfigError
from edgeward.policies.schema import load_policy

CLERK = Caller("ann", "acme", ("clerk",))


def word(policy: dict[str, Any], caller: Caller, tool: str = "pay", **arguments: Any) -> str:
    """The verdict's word for a caller."""
    history = History(caller=caller)
    return decide(load_policy({"version": 2, **policy}), ToolCall(tool, arguments), history).word


def test_a_policy_for_some() -> None:
    """Every call of somebody else's is blocked, that of nobody too."""
    policy = {"default": "allow", "callers": {"tenants": ["acme"]}}
    assert word(policy, CLERK) == "allow"
    assert word(policy, Caller("eve", "evil")) == "block"
    assert word(policy, NOBODY) == "block"


def test_a_tool_for_some() -> None:
    """An entry's `callers` that does not hold is as any condition of it: `otherwise`."""
    entry: dict[str, Any] = {"callers": {"roles": ["accountant"]}}
    policy: dict[str, Any] = {"tools": {"pay": entry, "read": "allow"}}
    assert word(policy, CLERK) == "block"
    assert word(policy, CLERK, "read") == "allow"
    assert word(policy, Caller(roles=("accountant",))) == "allow"
    assert word({"tools": {"pay": {**entry, "otherwise": "ask"}}}, NOBODY) == "ask"


@pytest.mark.parametrize(
    ("caller", "owner", "expected"),
    [
        (CLERK, "ann", "allow"),
        (CLERK, "Ann", "block"),
        (CLERK, "bob", "block"),
        (CLERK, "acme", "allow"),
        (CLERK, "$user", "block"),
        (NOBODY, "", "block"),
        (NOBODY, "$user", "block"),
        (NOBODY, "nobody", "block"),
    ],
)
def test_own_values(caller: Caller, owner: str, expected: str) -> None:
    """`$user` and `$tenant` in a list are the caller's; nobody's are equal to nothing."""
    policy = {"tools": {"pay": {"args": {"owner": {"in": ["$user", "$tenant"]}}}}}
    assert word(policy, caller, owner=owner) == expected


@pytest.mark.parametrize(
    "policy",
    [
        {"version": 1, "callers": {"roles": ["x"]}},
        {"version": 2, "callers": {}},
        {"version": 2, "callers": {"role": ["x"]}},
        {"version": 2, "tools": {"pay": {"args": {"to": {"in": ["$usr"]}}}}},
        {"version": 2, "tools": {"pay": {"args": {"to": {"in": ["$me"]}}}}},
        {"version": 2, "trust": [{"tool": "x", "where": {"owner": "$usr"}}]},
    ],
)
def test_mistakes_are_refused(policy: dict[str, Any]) -> None:
    """A key of version 2 in version 1, a condition that says nothing, a misspelt variable."""
    with pytest.raises(ConfigError):
        load_policy(policy)
