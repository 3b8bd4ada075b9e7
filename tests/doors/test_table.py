"""One corpus, every door: what the decision lets through goes through, and nothing else.

The first surface of a door is tried with every case, the others with some of each kind and all that
have a past. The table in the docs is made of the same rows.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from edgeward.guards.names import name_fault
from edgeward.guards.python_values import as_call
from edgeward.guards.shadow import Shadow
from tests.wire.server import Wire

from . import anthropic_ways, gemini_ways, openai_ways
from .table import ROWS, Row, as_markdown
from .table_cases import CASES, SAMPLE
from .table_ways import Way

FIRST = list({row.door: row for row in reversed(ROWS)}.values())[::-1]
OTHERS = [(row, way) for row in ROWS for way in row.ways if row not in FIRST or way != row.ways[0]]


@pytest.fixture(autouse=True)
async def closed() -> AsyncIterator[None]:
    """No connection outlives its test."""
    yield
    await openai_ways.close_all()
    await gemini_ways.close_all()
    await anthropic_ways.close_all()


@pytest.mark.parametrize("row", FIRST, ids=lambda row: row.door)
async def test_every_case_through_every_door(row: Row, wire: Wire) -> None:
    """The whole corpus and the cases of all shipped policies, by the door's first surface."""
    tried = [case for case in CASES if row.fits(case)]
    assert len(tried) > 100
    wrong = [c.id for c in tried if await row.ways[0](c, wire) != c.goes_through]
    assert not wrong


@pytest.mark.parametrize(
    ("row", "way"), OTHERS, ids=[f"{r.door} {r.surface} {r.ways.index(w)}" for r, w in OTHERS]
)
async def test_some_cases_through_every_surface(row: Row, way: Way, wire: Wire) -> None:
    """However it is asked, sync, async or streamed."""
    tried = [case for case in SAMPLE if row.fits(case)]
    assert len(tried) > 5
    assert {case.goes_through for case in tried} == {True, False}
    wrong = [c.id for c in tried if await way(c, wire) != c.goes_through]
    assert not wrong


WAYS = [(row, way) for row in ROWS for way in row.ways]
REFUSED = [case for case in SAMPLE if not case.goes_through][::3]


@pytest.mark.parametrize(
    ("row", "way"), WAYS, ids=[f"{r.door} {r.surface} {r.ways.index(w)}" for r, w in WAYS]
)
async def test_in_shadow_they_go_through_every_surface(row: Row, way: Way, wire: Wire) -> None:
    """What is refused otherwise, but for what cannot be read: that is no rule's matter."""
    tried = [case for case in REFUSED if row.fits(case)]
    assert tried
    for case in tried:
        policy = replace(case.policy, shadow=Shadow(whole=True))
        call = as_call(case.name, case.arguments)
        readable = call.fault is None and not name_fault(case.name)
        assert await way(replace(case, policy=policy), wire) == readable, case.id


def test_the_docs_show_this_table() -> None:
    """`docs/doors.md` holds the rows that were tried, and no other."""
    page = (Path(__file__).parents[2] / "docs" / "doors.md").read_text(encoding="utf-8")
    assert as_markdown() in page
