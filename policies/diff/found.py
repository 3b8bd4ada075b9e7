"""What a comparison finds: calls that are decided more loosely, and what could not be settled."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .witness import Witness


@dataclass(frozen=True, slots=True)
class Place:
    """A rule of a policy and where it stands (`file:line`)."""

    rule: str
    where: str

    def __str__(self) -> str:
        return f"{self.where} {self.rule}".strip()


@dataclass(frozen=True, slots=True)
class Looser:
    """One thing that the new policy lets happen and the old one did not.

    `old` and `new` are what each says of `witness`: verdicts, or, for what is no verdict (what a
    model gets to see of a result, how long an approval lasts), what it does.
    """

    tool: str
    what: str
    old: str
    new: str
    old_place: Place
    new_place: Place
    witness: Witness | None = None
    shown: str = ""
    """The witness in words, where it is no call."""

    def record(self) -> dict[str, Any]:
        """As plain data."""
        found = _plain(self.tool, self.what, self.old_place, self.new_place)
        found["old"]["says"], found["new"]["says"] = self.old, self.new
        found["witness"] = self.shown if self.witness is None else self.witness.record()
        return found


@dataclass(frozen=True, slots=True)
class Undecided:
    """A difference of which it is not known whether it lets something happen."""

    tool: str
    what: str
    why: str
    old_place: Place
    new_place: Place

    def record(self) -> dict[str, Any]:
        """As plain data."""
        found = _plain(self.tool, self.what, self.old_place, self.new_place)
        return {**found, "why": self.why}


def _plain(tool: str, what: str, old: Place, new: Place) -> dict[str, Any]:
    places = {
        "old": {"rule": old.rule, "where": old.where},
        "new": {"rule": new.rule, "where": new.where},
    }
    return {"tool": tool, "what": what, **places}


@dataclass(frozen=True, slots=True)
class Difference:
    """All of it. Without `looser` and `undecided` the new policy is no looser."""

    looser: tuple[Looser, ...] = ()
    undecided: tuple[Undecided, ...] = ()
    stricter: tuple[Looser, ...] = field(default=())
    """What the new policy no longer lets happen, found the other way round."""
