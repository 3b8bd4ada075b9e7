"""What a server's tools are now, held against what was accepted."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from .definitions import Definition, fault_of, orders_in

State = Literal["accepted", "changed", "new", "first", "gone", "excluded"]
"""`first`: nothing of this server was accepted yet; its tools are when an agent is built, but for
those that read like orders to a model, which are `new`."""

HELD = frozenset({"changed", "new"})
"""States of tools that are not offered until somebody accepts them."""


@dataclass(frozen=True, slots=True)
class ToolState:
    """One tool of one server: what was accepted, what the server says now."""

    server: str
    name: str
    state: State
    before: Definition | None = None
    now: Definition | None = None

    @property
    def difference(self) -> str:
        """What has changed, as a unified diff; empty where nothing has."""
        if self.before == self.now:
            return ""
        lines = difflib.unified_diff(
            _lines(self.before), _lines(self.now), "accepted", "now", lineterm="", n=2
        )
        return "\n".join(lines)


def compare(
    server: str,
    listed: Mapping[str, Definition],
    accepted: Mapping[str, Definition] | None,
    *,
    wanted: frozenset[str],
) -> list[ToolState]:
    """The state of every tool that is there or was accepted, in the server's order.

    `accepted` is None where nothing of the server was accepted yet; `wanted` are the names that
    the profile's include or exclude leaves.
    """
    states = []
    for name, now in listed.items():
        before = (accepted or {}).get(name)
        state: State
        if name not in wanted:
            state = "excluded"
        elif accepted is None:
            state = "new" if orders_in(now) else "first"
        elif before is None:
            state = "new"
        else:
            state = "accepted" if before == now else "changed"
        states.append(ToolState(server, name, state, before, now))
    gone = (one for name, one in (accepted or {}).items() if name not in listed)
    return states + [ToolState(server, one.name, "gone", one) for one in gone]


def acceptable(states: list[ToolState]) -> dict[str, Definition]:
    """All that a person may accept of a server: what it says now, as far as it could be offered.

    What is excluded is pinned, too, so that including it later changes no more than that.
    """
    found = (one.now for one in states if one.now is not None)
    return {now.name: now for now in found if not fault_of(now)}


def accepted_unseen(states: list[ToolState]) -> dict[str, Definition]:
    """What of it is accepted without a person, when a server is first used."""
    return {n: now for n, now in acceptable(states).items() if not orders_in(now)}


def _lines(definition: Definition | None) -> list[str]:
    """A definition as lines of text, in ASCII: what is hidden shows."""
    if definition is None:
        return []
    schema = json.dumps(definition.schema, indent=2, ensure_ascii=True, sort_keys=True)
    description = [json.dumps(line)[1:-1] for line in definition.description.split("\n")]
    return [f"name: {json.dumps(definition.name)}", *description, *schema.splitlines()]
