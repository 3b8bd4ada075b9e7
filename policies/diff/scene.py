"""What a comparison of two policies on one tool knows: both sides, and what was shown of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...guards.caller import Caller
from ...guards.flow import Facts
from ...guards.hosts import HostList
from ...guards.ledger import History
from ...guards.tokens import subjects
from .boxes import Aspect, Demand
from .flows import situations
from .hosts import telling_hosts
from .points import Path, Point, put_together
from .side import Side


@dataclass(frozen=True, slots=True)
class Pair:
    """An old and a new policy, and what holds of them whatever the tool."""

    old: Side
    new: Side
    believes_no_more: bool = True
    """Whether what the new policy believes of results, and of `me`, the old one does too."""
    hides_no_less: bool = True
    """Whether whatever is private under the old policy is private under the new one."""
    believed: tuple[tuple[Any, Point], ...] = ()
    """Values that the new policy believes and the old one does not, and the past that shows it."""
    unhidden: tuple[tuple[Any, Point], ...] = ()
    """Values that are private under the old policy only, and the past that shows it."""
    tools: tuple[str, ...] = ()
    """Tools that stand for all, as far as what is said of them goes."""
    carrying: tuple[str, ...] = ()
    """One tool for each set of wishes (`requested`) that tools carry out, under either policy."""
    given: bool = False
    """Whether there are no other tools than these."""
    events: tuple[str, ...] = ()
    """Tools that stand for all, as far as the order of calls goes."""
    _histories: dict[object, History] = field(default_factory=dict)

    def history(self, side: Side, point: Point) -> History:
        """What a point's past is under a policy."""
        key = (id(side), point.said, point.apart, repr(point.ran), point.caller)
        found = self._histories.get(key)
        if found is None:
            witness, _ = put_together("q", [point])
            found = self._histories[key] = witness.history(side.policy)
        return found


@dataclass(frozen=True, slots=True)
class Scene:
    """One tool, under both policies."""

    pair: Pair
    name: str
    term: Mapping[Aspect, tuple[Demand, ...]] = field(default_factory=dict)
    """What the new policy demands of the calls that are looked at."""
    paths: frozenset[Path] = frozenset()
    """The argument paths of which either policy says something."""

    @property
    def old(self) -> Side:
        """The old policy."""
        return self.pair.old

    @property
    def new(self) -> Side:
        """The new policy."""
        return self.pair.new

    @property
    def believes_no_more(self) -> bool:
        """See `Pair`."""
        return self.pair.believes_no_more

    @property
    def hides_no_less(self) -> bool:
        """See `Pair`."""
        return self.pair.hides_no_less

    @property
    def own_caller(self) -> Caller:
        """A caller whose own values can be told from all others."""
        return Caller("q7user", "q7tenant")

    def facts(self, side: Side, point: Point) -> Facts:
        """What the conditions of a side may know in a point's past."""
        facts = side.facts(self.pair.history(side, point), subjects(self.name))
        if point.caller is not None:
            facts.caller = point.caller
        return facts

    @property
    def hosts(self) -> list[str]:
        """Hosts to which the new policy lets calls point, if any; names first."""
        if "egress_allowlist" not in self.new.enforced:
            return ["q7.example"]
        entries = self.new.listed("egress_allowlist")
        listed = HostList(entries)
        found = [host for host in telling_hosts(entries) if host in listed]
        return sorted(found, key=lambda host: (host[-1:].isdigit(), len(host)))[:3]

    def situations(self) -> Iterator[tuple[Any, Point]]:
        """Values, each with a past in which other words hold for it."""
        yield from situations(self.new, self.hosts[0] if self.hosts else "")
        yield from self.pair.believed
        yield from self.pair.unhidden

    @property
    def free(self) -> str:
        """The name of an argument of which no entry says anything."""
        taken = {path[0] for path in self.paths}
        return next(n for n in ("text", "note", "memo", "q7text") if n not in taken)

    def placed(self, value: Any, *, first: tuple[Path, ...] = ()) -> Iterator[Point]:
        """The value in each argument that may hold it, unsaid and as the user said it."""
        where = [*first, (self.free,), *sorted(self.paths)]
        for path in dict.fromkeys(where):
            yield Point(arguments=((path, value),))
            if isinstance(value, str) and value.strip():
                yield Point(arguments=((path, value),), said=(value,))
