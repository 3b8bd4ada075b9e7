"""How often a tool may run in one run.

Threat: a loop sends the same mail a hundred times.

    max_calls: {send_email: 1, pay: 3}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field as Limits

from edgeward.guards.ledger import History
from edgeward.guards.normalise import Examined
from edgeward.guards.rules import Check, Context, Where
from edgeward.guards.verdict import Finding

KEY = "max_calls"
Field = dict[str, Annotated[int, Limits(ge=0)]]
DEFAULT: dict[str, int] = {}


@dataclass(frozen=True, slots=True)
class MaxCalls:
    """Blocks a tool that has run as often as it may."""

    limits: Mapping[str, int]
    places: Mapping[str, str]
    rule: str = KEY

    def __call__(self, call: Examined, history: History) -> Iterable[Finding]:
        limit = self.limits.get(call.name)
        if limit is None or history.calls.get(call.name, 0) < limit:
            return ()
        reason = f"the tool has run {limit} time(s), which is all it may"
        return (Finding(f"{KEY}.{call.name}", "block", reason, self.places[call.name]),)


def build(value: dict[str, int], where: Where, context: Context) -> Check | None:
    """The check; None where no tool is limited."""
    return MaxCalls(value, {name: where(name) for name in value}) if value else None
