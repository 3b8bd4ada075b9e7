"""The hosts to which a call may point: in links, mail addresses and fields that name a host.

Threat: data leaves in the address of a request, or to a recipient that nobody allowed. A listed
name means itself and its subdomains, an address only itself. In a version 1 file an empty or
absent list blocks every destination; in a version 2 file an absent key restricts nothing.

    egress_allowlist: [example.com, docs.company.internal, 10.0.0.0/8]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Annotated

from pydantic import AfterValidator

from ..columns import COLUMNS, column_hosts
from ..destinations import destinations_of
from ..hosts import Destination, HostList
from ..ledger import History
from ..named_hosts import NAMED, named_hosts
from ..nearest import nearest
from ..normalise import Examined
from ..patterns import compile_pattern, searchable
from ..redact import Redactor
from ..verdict import Finding
from . import Check, Context, Where

KEY = "egress_allowlist"


def _is_host(entry: str) -> str:
    HostList([entry])
    return entry


Host = Annotated[str, AfterValidator(_is_host)]
Field = list[Host]
DEFAULT: list[str] = []

_MOST = 20
"""Hosts that are named in one verdict."""
_KEPT = 120
_MOST_KEPT = 1_024
"""Characters of a value that is kept, and how many are."""
_ENOUGH = 500
"""Destinations that are looked at once one was not listed."""

_NAMED = ((NAMED, named_hosts), (COLUMNS, column_hosts))


@dataclass(frozen=True, slots=True)
class Egress:
    """Blocks a call that points to a host that is not listed."""

    allowed: HostList
    listed: tuple[str, ...]
    redactor: Redactor
    place: str
    named: frozenset[int] = frozenset()
    """The numbers of `_NAMED`."""
    rule: str = KEY
    _listed: dict[str, int] = field(default_factory=dict, init=False, repr=False, compare=False)
    """Short values, each with the kind of its field, that lead to listed hosts only."""

    def __call__(self, call: Examined, history: History) -> Iterable[Finding]:
        named = not self.named.isdisjoint(call.hits)
        if not named and call.only_points and self._all_listed(call):
            return ()
        wrong: dict[Destination, int] = {}
        more = 0
        found = call.destinations()
        if named:
            found = chain(self._named(call), found)
        for index, destination in found:
            if not destination.host or destination.host not in self.allowed:
                wrong.setdefault(destination, index)
            if wrong:
                # It is blocked by now; what else is wrong with it is told within reason.
                more += 1
                if more > _ENOUGH or len(wrong) > _MOST:
                    break
        return self._findings(call, history, wrong) if wrong else ()

    def _all_listed(self, call: Examined) -> bool:
        """Whether each value that points somewhere leads to listed hosts only; what few values of
        a call do that come up again and again is looked up."""
        listed, kinds, leaves = self._listed, call.kinds, call.leaves
        for index in call.pointing():
            text, kind = leaves[index], kinds[index]
            if listed.get(text) != kind:
                for found in destinations_of(text, kind):
                    if not found.host or found.host not in self.allowed:
                        return False
                if len(text) <= _KEPT:
                    if len(listed) >= _MOST_KEPT:
                        listed.clear()
                    listed[text] = kind
        return True

    def _named(self, call: Examined) -> Iterator[tuple[int, Destination]]:
        """Hosts in texts that name them as configuration and tables do."""
        for index, text in call.texts():
            read = searchable(text)
            for pattern, hosts_in in _NAMED:
                yield from ((index, found) for found in hosts_in(read, compile_pattern(pattern)))

    def _findings(
        self, call: Examined, history: History, wrong: dict[Destination, int]
    ) -> Iterator[Finding]:
        said: set[str] = set()
        for destination, index in wrong.items():
            reason = self._reason(destination)
            if reason in said:
                continue
            said.add(reason)
            if len(said) > _MOST:
                yield Finding(KEY, "block", "and more hosts that are not listed", self.place)
                return
            yield Finding(
                KEY,
                "block",
                reason,
                self.place,
                call.path(index),
                self.redactor.shown(destination.shown),
                history.origin(destination.host or destination.shown),
                allowed=nearest(destination.host or "", self.listed) or "no host at all",
            )

    def _reason(self, destination: Destination) -> str:
        if destination.host:
            host = self.redactor.shown(destination.host)
            inner = ": `*` names no private one" if "*" in self.listed else ""
            return f"host '{host}' is not on the egress allowlist{inner}"
        shown = self.redactor.shown(destination.shown)
        return f"destination {shown!a} is refused: {destination.fault}"


def build(value: list[str], where: Where, context: Context) -> Check | None:
    """The check; None where the key is absent from a version 2 file."""
    if context.version >= 2 and KEY not in context.given:
        return None
    named = frozenset(context.patterns.add(pattern) for pattern, _ in _NAMED)
    return Egress(HostList(value), tuple(value), context.redactor, where(), named)
