"""What of a thread the policy's `private` has seen: where that is not all, any text may be private.

Outputs are looked through for what is private when they come in, by the policy that counts then. Of
tools that only a later policy calls private nobody has kept what they gave back.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..guards.decide import Policy
from ..guards.following import CHANGED
from ..guards.ledger import Ledger
from ..guards.rules.private import private_tools
from ._base import State

PRIVATE = "private"
"""Where the run's counters keep it: `{"tools": globs, "gap": bool}`."""


def seen_by(policy: Policy, state: State) -> dict[str, Any] | None:
    """What the policy's `private` has seen; None where no policy of the thread has had one."""
    tools = private_tools(policy)
    kept: Mapping[str, Any] | None = (state.get("run") or {}).get(PRIVATE)
    if kept is not None:
        gap = kept["gap"] or not tools.issubset(kept["tools"])
    elif not tools:
        return None
    else:
        gap = any(r["policy"] != policy.digest for r in state.get("verdicts") or ())
    return {"tools": sorted(tools), "gap": gap}


def with_gap(ledger: Ledger, seen: Mapping[str, Any] | None) -> Ledger:
    """The ledger, of which it is said that something is missing, where it is."""
    return ledger.with_gap(CHANGED) if seen is not None and seen["gap"] else ledger
