"""The difference between two conditions in words."""

from __future__ import annotations

from collections.abc import Sequence

from ...guards.conditions import Test
from .boxes import Demand
from .hosts import host_between, listed_name
from .points import Path
from .values import keys, several
from .wanted import Wanted


def told(path: Path, inside: Sequence[Demand], outside: Sequence[Demand]) -> str:
    """The difference in words: `amount 500 < x <= 1000`, `to: known (before: stated)`."""
    name = ".".join(path)
    new = [d for d in inside if isinstance(d, Wanted)]
    old = [d for d in outside if isinstance(d, Wanted)]
    if len(new) == len(old) == 1:
        one, other = new[0].requirement, old[0].requirement
        if len(one.tests) == len(other.tests) == 1 and not one.words:
            return f"{name} {_between(one.tests[0].source, other.tests[0].source)}"
    before = " or ".join(_spelled(d) for d in outside)
    now = " and ".join(_spelled(d) for d in inside) or "anything"
    return f"{name}: more is {now}" if now == before else f"{name}: {now} (before: {before})"


def _between(new: Test, old: Test) -> str:
    if new.hosts is not None and old.hosts is not None:
        hosts = host_between([several(new.hosts)], [several(old.hosts)])
        return f"on hosts {listed_name(hosts, several(new.hosts))}"
    if new.in_ is not None and old.in_ is not None:
        more = [str(item) for item in new.in_ if not keys([item]) <= keys(old.in_)]
        return f"one of {', '.join(more[:5])}"
    parts = []
    if old.max is not None and (new.max is None or new.max > old.max):
        parts.append(f"{old.max} < x" + (f" \u2264 {new.max}" if new.max is not None else ""))
    if old.min is not None and (new.min is None or new.min < old.min):
        parts.append((f"{new.min} \u2264 " if new.min is not None else "") + f"x < {old.min}")
    return " or ".join(parts) or f"{_spelled_test(new)} (before: {_spelled_test(old)})"


def _spelled(demand: Demand) -> str:
    if not isinstance(demand, Wanted):
        return "clean"
    required = demand.requirement
    if required.anything:
        return "any"
    parts = [*required.words, *(_spelled_test(test.source) for test in required.tests)]
    return " or ".join([*parts, *(["ask"] if required.asks else [])])


def _spelled_test(test: Test) -> str:
    found = test.model_dump(exclude_none=True, by_alias=True)
    return "{" + ", ".join(f"{key}: {value}" for key, value in found.items()) + "}"
