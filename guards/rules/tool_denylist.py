"""Tools that may never run, whatever else the policy says.

Threat: the model calls a tool that should not be used at all, perhaps under another spelling.
Names match in every letter case, with and without a server prefix; `*` and `?` are globs.

    tool_denylist: [send_email, "delete_*"]
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..ledger import History
from ..names import ForbiddenNames, shown_name
from ..normalise import Examined
from ..verdict import Finding
from . import Check, Context, Name, Where

KEY = "tool_denylist"
Field = list[Name]
DEFAULT: list[str] = []


@dataclass(frozen=True, slots=True)
class Denylist:
    """Blocks the tools that are listed."""

    names: ForbiddenNames
    places: tuple[str, ...]
    rule: str = KEY

    def __call__(self, call: Examined, history: History) -> Iterable[Finding]:
        number = self.names.find(call.name)
        if number is None:
            return ()
        reason = f"tool {shown_name(call.name)} is denied"
        none = "no call of this tool, in any spelling of its name"
        return (Finding(KEY, "block", reason, self.places[number], allowed=none),)


def build(value: list[str], where: Where, context: Context) -> Check | None:
    """The check; None for an empty list."""
    if not value:
        return None
    return Denylist(ForbiddenNames(value), tuple(where(i) for i in range(len(value))))
