"""Who is asking: a caller for whom the new policy lets a call run and the old one does not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import TYPE_CHECKING

from ...guards.caller import Caller, CallerTest
from .boxes import Aspect, Demand
from .points import NONE, Point, Tried

if TYPE_CHECKING:
    from .scene import Scene

MOST = 20_000


@dataclass(frozen=True, slots=True)
class Called:
    """The caller is one of those meant."""

    test: CallerTest

    @property
    def key(self) -> object:
        """Its names, in no order."""
        test = self.test
        return tuple(
            None if names is None else frozenset(names)
            for names in (test.users, test.tenants, test.roles)
        )


def search(
    scene: Scene, aspect: Aspect, inside: Sequence[Demand], outside: Sequence[Demand]
) -> Tried:
    """A caller; all of them that the lists tell apart are tried."""
    within = [d.test for d in inside if isinstance(d, Called)]
    without = [d.test for d in outside if isinstance(d, Called)]
    if any(d.key == o.key for d in inside for o in outside):
        return NONE
    found = []
    for number, caller in enumerate(_callers(within, without)):
        if number >= MOST:
            return Tried(what="callers")
        if all(t.holds(caller) for t in within) and not any(t.holds(caller) for t in without):
            found.append(Point(caller=caller, what=f"for {_spelled(caller)}"))
    if not found:
        return NONE
    return Tried(tuple(found[:5]), what=found[0].what)


def _callers(within: Sequence[CallerTest], without: Sequence[CallerTest]) -> Iterator[Caller]:
    """Callers that stand for all: one role of each list is all that a list can want."""
    tests = [*within, *without]
    users = ["", *dict.fromkeys(u for t in tests for u in t.users or ()), "q7user"]
    tenants = ["", *dict.fromkeys(n for t in tests for n in t.tenants or ()), "q7tenant"]
    lists = [t.roles for t in within if t.roles is not None]
    roles = islice(product(*lists), MOST)
    for chosen in roles:
        for user, tenant in product(users, tenants):
            yield Caller(user, tenant, tuple(dict.fromkeys(chosen)))


def _spelled(caller: Caller) -> str:
    parts = [f"user {caller.user}"] if caller.user else []
    parts += [f"tenant {caller.tenant}"] if caller.tenant else []
    parts += [f"role {role}" for role in caller.roles]
    return ", ".join(parts) or "a caller that nobody names"
