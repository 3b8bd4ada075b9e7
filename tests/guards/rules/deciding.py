"""One rule under test, the way it is used: in a loaded policy, asked by `decide`."""

from __future__ import annotations

from edgeward.guards.decide import decide
from edgeward.guards.ledger import History
from edgeward.guards.verdict import ToolCall, Verdict
from edgeward.policies.schema import load_policy


def verdict(
    rules: dict[str, object],
    tool: str = "send",
    arguments: dict[str, object] | None = None,
    *,
    version: int = 2,
    history: History | None = None,
) -> Verdict:
    """What a policy of these rules says of one call."""
    policy = load_policy({"version": version, **rules})
    return decide(policy, ToolCall(tool, arguments or {}), history or History())


def word(
    rules: dict[str, object],
    tool: str = "send",
    arguments: dict[str, object] | None = None,
    *,
    version: int = 2,
) -> str:
    """The word alone."""
    return verdict(rules, tool, arguments, version=version).word
