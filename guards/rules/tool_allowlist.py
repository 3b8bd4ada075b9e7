"""The only tools that may run; an empty or absent list restricts nothing.

Threat: the model calls a tool that nobody thought of. Names match exactly as they are registered.

    tool_allowlist: [read_doc, search_kb]
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..ledger import History
from ..names import shown_name
from ..nearest import nearest
from ..normalise import Examined
from ..verdict import Finding
from . import Check, Context, Name, Where

KEY = "tool_allowlist"
Field = list[Name]
DEFAULT: list[str] = []


@dataclass(frozen=True, slots=True)
class Allowlist:
    """Blocks every tool that is not listed."""

    names: frozenset[str]
    place: str
    rule: str = KEY

    def __call__(self, call: Examined, history: History) -> Iterable[Finding]:
        if call.name in self.names or call.name in history.granted:
            return ()
        reason = f"tool {shown_name(call.name)} is not on the allowlist"
        return (Finding(KEY, "block", reason, self.place, allowed=nearest(call.name, self.names)),)


def build(value: list[str], where: Where, context: Context) -> Check | None:
    """The check; None for an empty list."""
    return Allowlist(frozenset(value), where()) if value else None
