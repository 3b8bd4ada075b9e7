"""Days as people write them, and as tools take them."""

from __future__ import annotations

import pytest

from edgeward.guards.dates import day_of, days_in, months_in
from tests.guards.threads import one


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("from January 11th to the 15th", (0, 1, 11)),
        ("on Jan. 2, 2025", (2025, 1, 2)),
        ("the 14th of November", (0, 11, 14)),
        ("3 May 2024", (2024, 5, 3)),
        ("2024-05-19 12:00", (2024, 5, 19)),
        ("am 11.1.2025", (2025, 1, 11)),
        ("5/6/25", (2025, 5, 6)),
        ("5/6/25", (2025, 6, 5)),
        ("am 4. Dezember um 10", (0, 12, 4)),
        ("le 4 décembre 2026", (2026, 12, 4)),
        ("el 1 de diciembre de 2026", (2026, 12, 1)),
        ("from 1 to 5 December", (0, 12, 1)),
        ("from the 1st to the 5th of December", (0, 12, 1)),
        ("20\u201323 Dec 2026", (2026, 12, 20)),
        ("3, 5 and 7 December", (0, 12, 5)),
        ("vom 1. bis 5. Dezember", (0, 12, 1)),
        ("20.-23.12.2026", (2026, 12, 20)),
        ("December 20-23, 2026", (2026, 12, 23)),
        ("December 20 to 23 in Lisbon", (0, 12, 23)),
        ("on Jun.20,2026", (2026, 6, 20)),
        ("March 10 of 2026", (2026, 3, 10)),
        ("on Apr the 5th", (0, 4, 5)),
        ("April 3rd to April 5th 2026", (2026, 4, 3)),
        ("Dec 30 - Jan 3, 2027", (2026, 12, 30)),
    ],
)
def test_a_day_is_read(text: str, day: tuple[int, int, int]) -> None:
    """In words of several languages, or in numbers of either order."""
    assert day in set(days_in(text))


@pytest.mark.parametrize("text", ["version 1.2.3.4", "31.31.", "42nd of May", "maybe 3", "2024"])
def test_what_is_no_day(text: str) -> None:
    """Numbers that count something else."""
    assert not set(days_in(text)) & {(0, 2, 3), (0, 31, 31), (0, 5, 42), (0, 5, 3)}


@pytest.mark.parametrize(
    "text",
    ["invoice 12, 5 December", "on December 5 to 30 people", "December 4-5:30", "20-23 boxes"],
)
def test_what_is_no_other_end(text: str) -> None:
    """A number that happens to stand beside a day."""
    assert len({day for day in days_in(text) if day[1] == 12}) <= 1


@pytest.mark.parametrize(
    ("value", "day"),
    [
        ("2025-01-11", (2025, 1, 11)),
        (" 2025-01-11T10:00:00Z ", (2025, 1, 11)),
        ("2025-13-11", None),
        ("20250111T100000Z", (2025, 1, 11)),
        ("2025/01/11", (2025, 1, 11)),
        ("12-31-2025", (2025, 12, 31)),
        ("03-04-2025", None),
        ("11.1.2025 10:00", (2025, 1, 11)),
        ("12/31/2025, 10:00 PM", (2025, 12, 31)),
        ("4/4/2025", (2025, 4, 4)),
        ("3/4/2025", None),
        ("Jan 11, 2025", (2025, 1, 11)),
        ("11. Januar 2025", (2025, 1, 11)),
        ("May 19th", None),
        ("2025011", None),
        ("12345678", None),
        ("tomorrow", None),
    ],
)
def test_the_day_of_a_value(value: str, day: object) -> None:
    """A date or a time as a tool takes it; nothing else has a day."""
    assert day_of(value) == day


@pytest.mark.parametrize(
    ("said", "value", "word"),
    [
        ("from January 11th to January 15th 2025", "2025-01-15", "allow"),
        ("from January 11th to January 15th 2025", "2025-01-11 10:00", "allow"),
        ("from January 11th to January 15th 2025", "2026-01-15", "block"),
        ("from January 11th to January 15th 2025", "2025-01-16", "block"),
        ("from January 11th to January 15th 2025", "2026-01-11", "block"),
        ("January 11th, and born January 15th 1990", "2025-01-11", "allow"),
        ("on 2025-05-02", "2025-05-02", "allow"),
        ("on 2025-05-02", "2026-05-02", "block"),
        ("on 2025-05-02", "2025-02-05", "block"),
        ("on 19.5.2024", "2024-05-19", "allow"),
        ("next week", "2024-05-19", "block"),
        ("on May 19th", "May 19th", "block"),
    ],
)
def test_dated(said: str, value: str, word: str) -> None:
    """A day that the user wrote, in the year that stands with it; the clock is not looked at."""
    assert one("dated", said).word("use", x=value) == word


def test_dated_by_a_trusted_source() -> None:
    """A day that something trusted gave counts, too; one that anything else gave does not."""
    t = one("dated", "Move it", trust=[{"tool": "events"}])
    t.gave("events", [{"start": "2024-05-19 12:00"}])
    t.gave("mails", [{"body": "come on 2024-06-20"}])
    assert t.word("use", x="2024-05-19 09:00") == "allow"
    assert t.word("use", x="2024-06-20") == "block"


@pytest.mark.parametrize("month", ["Augu\u017ft", "Apr\u0131l", "APR\u0130L"])
def test_letters_that_a_search_takes_for_others(month: str) -> None:
    """A long s or an i with another dot is read as one, and fails no check of the whole thread."""
    number = 8 if month[1] == "u" else 4
    days = {(2026, number, 5), (0, number, 7)}
    assert set(days_in(f"on 5 {month} 2026, or {month} 7")) == days
    assert list(months_in(f"the {month} report")) == [number]
    assert day_of(f"{month} 5, 2026") == (2026, number, 5)
