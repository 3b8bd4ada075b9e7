"""What tells which searches of a text can find something leaves out none that does."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgeward.guards import dates, numerals, phones, sums, tokens
from edgeward.guards.numerals import kinds_in

SEARCHES: dict[int, list[re.Pattern[str]]] = {
    numerals.COMMAS: [sums._POINTS_AND_COMMA, sums._COMMA_SUM],
    numerals.POINTS: [sums._POINTS_SUM],
    numerals.SCALED: [sums._TIMES],
    numerals.GROUPS: [tokens._GROUPS],
    numerals.PHONES: [phones._PHONE],
    numerals.DATES: [dates._ISO, dates._NUMBERS],
    numerals.MONTH_FIRST: [dates._MONTH_FIRST],
    numerals.DAY_FIRST: [dates._DAY_FIRST],
    numerals.EASTERN: [dates._SIGNS],
}

PARTS = st.sampled_from(
    (
        *"0123456789０५.,'’-/()+:# \n\t\u00a0\u202fkKmtMT€$º月日年월일",
        *("12", "345", "2024", "EUR ", " euros", "thousand", " mio", "de89", " 1234", "th ", "of "),
        *("May ", "AUGUST ", "märz ", "aprıl ", "JULİ ", "septembre ", "Déc ", "décembre", "x"),
    )
)


@given(st.lists(PARTS, max_size=14).map("".join))
def test_no_kind_is_left_out(text: str) -> None:
    """Of a text put together of what numbers, days and sums are made of."""
    kinds = kinds_in(text)
    for kind, searches in SEARCHES.items():
        assert kind in kinds or not any(search.search(text) for search in searches)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("pays 1.250,50 or 1,50 EUR", numerals.COMMAS),
        ("costs 1.500 EUR", numerals.POINTS),
        ("costs 1.2k euros, 3 million", numerals.SCALED),
        ("card 4000 1234 5678 9010", numerals.GROUPS),
        ("call (0171) 555-0123", numerals.PHONES),
        ("on 2024-05-20 or 5/20", numerals.DATES),
        ("on May 20th", numerals.MONTH_FIRST),
        ("on the 20th of May", numerals.DAY_FIRST),
        ("2024年5月20日", numerals.EASTERN),
    ],
)
def test_each_kind_is_told(text: str, kind: int) -> None:
    """Also in the middle of a text, and not of words alone."""
    assert kind in kinds_in(f"It {text}, and more.")
    assert kind not in kinds_in("We may meet in march, as a market of 20 people does; 12 of us.")
