"""A call, with what went before it, on which two policies may decide otherwise.

It is a case as `edgeward check` and `edgeward test` read one. Under each policy it is decided as
any case is: nothing is taken on trust.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...guards.caller import NOBODY, Caller
from ...guards.decide import Policy, decide
from ...guards.ledger import History
from ...guards.verdict import ToolCall, Verdict
from ..cases import Case, Ran, Said, turns_of

Event = Said | Ran


@dataclass(frozen=True, slots=True)
class Witness:
    """A call and its past."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    before: tuple[Event, ...] = ()
    caller: Caller = NOBODY
    used: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """What run, thread and caller have used, where that matters."""

    @property
    def call(self) -> ToolCall:
        """The call that is decided."""
        return ToolCall(self.tool, dict(self.arguments), id="call")

    def history(self, policy: Policy) -> History:
        """Its past, as a door under this policy knows it."""
        case = Case(self.call, tuple(turns_of(self.before)), self.caller, used=self.used)
        return case.history(policy)

    def verdict(self, policy: Policy) -> Verdict:
        """What a policy says of it."""
        return decide(policy, self.call, self.history(policy))

    def record(self) -> dict[str, Any]:
        """As plain data: what a line of `edgeward check --calls` holds."""
        found: dict[str, Any] = {"tool": self.tool, "arguments": dict(self.arguments)}
        if self.before:
            found["history"] = [event.model_dump(exclude_defaults=True) for event in self.before]
        if self.caller != NOBODY:
            who = {"user": self.caller.user, "tenant": self.caller.tenant}
            found["caller"] = {key: value for key, value in who.items() if value}
            if self.caller.roles:
                found["caller"]["roles"] = list(self.caller.roles)
        if self.used:
            found["used"] = {
                scope: {name: _counted(amount) for name, amount in amounts.items()}
                for scope, amounts in self.used.items()
            }
        return found


def _counted(amount: float) -> float | str:
    """The amount, as JSON has it."""
    return "not counted" if amount == float("inf") else amount
