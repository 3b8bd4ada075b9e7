"""Short ways to ask the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from edgeward.guards.decide import Policy, decide
from edgeward.guards.ledger import History
from edgeward.guards.normalise import parse_arguments
from edgeward.guards.verdict import ToolCall, Verdict
from edgeward.policies.schema import load_policy

Ask = Callable[..., Verdict]


@pytest.fixture(scope="session")
def ask() -> Ask:
    """`ask(policy or its data, arguments as data or raw text, tool=..., history=...)`.

    A version 1 policy without `egress_allowlist` allows every host, so that a test of one rule
    sees that rule alone.
    """
    loaded: dict[str, Policy] = {}

    def asked(
        policy: Mapping[str, Any] | Policy,
        arguments: dict[str, Any] | str,
        *,
        tool: str = "tool",
        history: History | None = None,
    ) -> Verdict:
        if not isinstance(policy, Policy):
            data = {"version": 1, "egress_allowlist": ["*"], **policy}
            key = repr(data)
            if key not in loaded:
                loaded[key] = load_policy(data)
            policy = loaded[key]
        if isinstance(arguments, str):
            parsed, fault = parse_arguments(arguments)
        else:
            parsed, fault = arguments, None
        return decide(policy, ToolCall(tool, parsed or {}, fault=fault), history or History())

    return asked
