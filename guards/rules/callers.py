"""Who may have anything done at all (version 2). Single tools: `callers` in an entry of `tools`.

Threat: an agent that serves many acts for one whom its policy was not written for. Who is asking
is said by the program that starts the run, never by the model or a message; whoever is not named
is nobody. Of each key that is written the caller is, or has, one.

    callers: {tenants: [acme], roles: [employee, contractor]}
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..caller import CallerTest
from ..ledger import History
from ..normalise import Examined
from ..verdict import Finding
from . import Check, Context, Where

KEY = "callers"
Field = CallerTest | None
DEFAULT: CallerTest | None = None


@dataclass(frozen=True, slots=True)
class Callers:
    """Blocks every call of a caller that the policy does not name."""

    test: CallerTest
    place: str
    rule: str = KEY

    def __call__(self, call: Examined, history: History) -> Iterable[Finding]:
        if self.test.holds(history.caller):
            return ()
        reason = "the policy is not for this caller"
        return (Finding(KEY, "block", reason, self.place, allowed=f"for {self.test.wish}"),)


def build(value: CallerTest | None, where: Where, context: Context) -> Check | None:
    """The check; None where the key is absent.

    Raises:
        ValueError: in a version 1 file.
    """
    if value is None:
        return None
    if context.version < 2:
        raise ValueError("`callers` needs `version: 2`")
    return Callers(value, where())
