"""Tests of values: what follows from what, and values that stand for all that they tell apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from ...guards.conditions import CompiledTest, Test
from ...guards.paths import lies_under
from .hosts import host_between, linked, telling_hosts
from .samples import samples


def implied(test: CompiledTest, tests: Sequence[CompiledTest]) -> bool:
    """Whether all that a test takes some other one takes."""
    return any(_implies(test.source, other.source) for other in tests)


def _implies(one: Test, other: Test) -> bool:
    """Whether what the one test takes the other does, part by part."""
    return (
        (other.max is None or (one.max is not None and one.max <= other.max))
        and (other.min is None or (one.min is not None and one.min >= other.min))
        and (other.in_ is None or (one.in_ is not None and keys(one.in_) <= keys(other.in_)))
        and (other.match is None or other.match == one.match)
        and (other.hosts is None or (one.hosts is not None and _same_hosts(one, other)))
        and (other.under is None or (one.under is not None and _lower(one, other)))
    )


def _same_hosts(one: Test, other: Test) -> bool:
    return not host_between([several(one.hosts)], [several(other.hosts)])


def _lower(one: Test, other: Test) -> bool:
    folders = several(other.under)
    return all(any(lies_under(f, folder) for folder in folders) for f in several(one.under))


def keys(items: Sequence[Any]) -> set[tuple[bool, Any]]:
    """Listed values as they compare: true is not 1."""
    return {(isinstance(item, bool), item) for item in items}


def several(value: str | list[str] | None) -> list[str]:
    """One or more, as a list."""
    return [value] if isinstance(value, str) else list(value or [])


def test_values(tests: Sequence[CompiledTest]) -> Iterator[Any]:
    """Values that stand for all which these tests tell apart, but for regular expressions."""
    sources = [test.source for test in tests]
    bounds = sorted({b for s in sources for b in (s.min, s.max) if b is not None})
    for number in _numbers(bounds):
        yield number
        if not isinstance(number, str):
            yield str(number)
    for source in sources:
        yield from source.in_ or ()
    hosts = [host for source in sources for host in several(source.hosts)]
    if hosts:
        for host in telling_hosts(hosts):
            yield linked(host)
            yield f"{linked(host)}q7"
    folders = [folder for source in sources for folder in several(source.under)]
    for folder in folders:
        yield folder
        yield f"{folder.rstrip('/')}/q7" if folder != "." else "q7"
        yield f"{folder.rstrip('/')}/q7/q7b"
    if folders:
        yield from ("/q7", "q7/q7", "../q7")
    for source in sources:
        yield from samples(source.match) if source.match is not None else ()


def _numbers(bounds: Sequence[float]) -> Iterator[Any]:
    """Numbers of every interval that the bounds make, whole ones first; also as long texts."""
    if not bounds:
        return
    wide = [bounds[0] - 10, *bounds, bounds[-1] + 10]
    for low, high in pairwise(wide):
        middle = (low + high) / 2
        yield from (v for v in (int(middle), int(low) + 1) if low < v < high)
        yield from (low, middle, high)
    yield from (bounds[0] - 10**12, bounds[-1] + 10**12)
    for bound in bounds:
        number = int(bound)
        yield f"{'-' if number < 0 else ''}{abs(number):012d}"
    if bounds[0] <= 10**11:
        yield 123456789012
