"""Days as people write them and as tools take them: `January 11th 2025`, `11.1.`, `2025-01-11`.

For the condition `dated`: the day of a value is one that the user (or something trusted) wrote.
Months are read in English, German, French, Spanish, Italian, Portuguese and Dutch; numbers in every
usual order, or with the signs for year, month and day.
Linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .numerals import DATES, DAY_FIRST, EASTERN, MONTH, MONTH_FIRST, MONTHS, kinds_in, lowered

Day = tuple[int, int, int]
"""Year (0 where none is written), month, day."""

_OTHER_WORDS = frozenset(
    "may march mar mars mai mei dec sep sept jan oct nov apr feb jun jul aug".split()  # noqa: SIM905
)
"""Names of months that are other words, too."""
_DAY = r"(\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?:(?:,\s{0,3}|\s{1,3}(?:of\s)?)(\d{4})(?![\d:]))?"
_OTHER = r"\d{1,2}(?:st|nd|rd|th)?[.\u00ba]?"
_TO = r"to|till?|until|through|and|or|&|bis|und|oder|au|et|al|hasta|y|e|t/m|tot|en"
_DAYS_BEFORE = (
    rf"((?:{_OTHER},\s{{1,3}}){{0,5}}{_OTHER}(?:\s?[-\u2013\u2014]\s?"
    rf"|\s{{1,3}}(?:{_TO})\s{{1,3}}(?:the\s{{1,3}})?))?"
)
"""`from the 1st to the 5th of May`, `20-23 May`, `3, 5 and 7 May`"""
_DAYS_BEHIND = (
    r"((?:\s?[-\u2013]\s?\d{1,2}(?:st|nd|rd|th)?|\s{1,3}(?:to|till?|until|through|and|&)\s{1,3}"
    r"(?:the\s{1,3})?\d{1,2}(?:st|nd|rd|th)?(?=\s?(?:[.,;!?)]|\Z|in\b|at\b)))(?![\d:/-]))?"
)
"""`May 20-23`, `May 20 to the 23rd`; behind words, a number may be one of things."""
_ISO = re.compile(r"(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")
_NUMBERS = re.compile(
    r"(?<![\d.])(?<!\d[/-])(\d{1,2})[./-](\d{1,2})(?:[./-](\d{4}|\d{2}))?(?![\d])"
)
_NUMBERS_TO = re.compile(
    r"(?<![\d.,/-])(\d{1,2})\.?(?:\s?[-\u2013]\s?|\s(?:bis|und|to|and)\s)\d{1,2}\.(\d{1,2})\."
    r"(\d{4}(?!\d)|\d{2}(?!\d))?"
)
"""`20.-23.12.`, `20. bis 23.12.2026`: of the first day only the number."""
_MONTH_FIRST = re.compile(
    rf"\b({MONTH})\.?\s{{0,3}}(?:the\s)?{_DAY}\b{_DAYS_BEHIND}{_YEAR}", re.IGNORECASE
)
_DAY_FIRST = re.compile(
    rf"(?<!\d){_DAYS_BEFORE}(?<!\d){_DAY}[.\u00ba]?\s{{1,3}}(?:(?:of|de)\s{{1,3}})?({MONTH})\b"
    rf"(?:\s{{1,3}}de)?{_YEAR}",
    re.IGNORECASE,
)
_SIGNS = re.compile(
    r"(?:(?<!\d)(\d{4}) ?[\u5e74\ub144] ?)?(?<!\d)(\d{1,2}) ?[\u6708\uc6d4] ?"
    r"(\d{1,2}) ?[\u65e5\u53f7\u865f\uc77c]"
)
"""As it is written in Chinese, Japanese and Korean: year, month, day, each with its sign."""
_CLOCK = r"(?:(?:[T ]|, ?)[\d:.+Z-]{2,20}(?: ?[AaPp][Mm])?)?"
_VALUE = re.compile(rf"\s*(\d{{4}})([-/.]?)(\d{{1,2}})\2(\d{{1,2}}){_CLOCK}\s*")
_DAY_FIRST_VALUE = re.compile(rf"\s*(\d{{1,2}})\.(\d{{1,2}})\.(\d{{4}}){_CLOCK}\s*")
_SLASHED_VALUE = re.compile(rf"\s*(\d{{1,2}})([/-])(\d{{1,2}})\2(\d{{4}}){_CLOCK}\s*")


def day_of(value: str) -> Day | None:
    """The day of a tool's date or time (`2025-01-11 10:00`, `20250111T100000Z`, `11.1.2025`,
    `Jan 11, 2025`); None for anything else, and for what can be read as two days (`3/4/2025`)."""
    match = _VALUE.fullmatch(value)
    if match is not None:
        if not match[2] and not len(match[3]) == len(match[4]) == 2:
            return None
        return _checked(int(match[1]), int(match[3]), int(match[4]))
    match = _DAY_FIRST_VALUE.fullmatch(value)
    if match is not None:
        return _checked(int(match[3]), int(match[2]), int(match[1]))
    match = _SLASHED_VALUE.fullmatch(value)
    if match is not None:
        year, one, two = int(match[4]), int(match[1]), int(match[3])
        found = {_checked(year, one, two), _checked(year, two, one)} - {None}
        return found.pop() if len(found) == 1 else None
    for pattern, day, more, month in ((_MONTH_FIRST, 2, 3, 1), (_DAY_FIRST, 2, 1, 3)):
        match = pattern.fullmatch(value.strip())
        if match is not None and match[4] and not match[more]:
            return _checked(int(match[4]), MONTHS[lowered(match[month])], int(match[day]))
    return None


def days_in(text: str) -> Iterator[Day]:
    """Every day that stands in a text, as it may be read."""
    kinds = kinds_in(text)
    for match in _ISO.finditer(text) if DATES in kinds else ():
        yield from _read(int(match[1]), int(match[2]), int(match[3]))
    for match in _NUMBERS.finditer(text) if DATES in kinds else ():
        year = _full(match[3])
        yield from _read(year, int(match[1]), int(match[2]))
        yield from _read(year, int(match[2]), int(match[1]))
    for match in _NUMBERS_TO.finditer(text) if DATES in kinds else ():
        yield from _read(_full(match[3]), int(match[2]), int(match[1]))
    for match in _SIGNS.finditer(text) if EASTERN in kinds else ():
        yield from _read(int(match[1] or 0), int(match[2]), int(match[3]))
    for match, year in _with_years(_MONTH_FIRST, text, 1) if MONTH_FIRST in kinds else ():
        yield from _of_month(year, match[1], match[2], match[3])
    for match, year in _with_years(_DAY_FIRST, text, 3) if DAY_FIRST in kinds else ():
        yield from _of_month(year, match[3], match[2], match[1])


def _with_years(
    pattern: re.Pattern[str], text: str, month: int
) -> Iterator[tuple[re.Match[str], int]]:
    """The days of a text, each with its year: of `April 3rd to April 5th 2023`, too, for both."""
    before: re.Match[str] | None = None
    for match in pattern.finditer(text):
        year = int(match[4] or 0)
        if before is not None:
            joined = year and not before[4] and _JOINED.fullmatch(text, before.end(), match.start())
            later = MONTHS[lowered(before[month])] > MONTHS[lowered(match[month])]
            yield before, year - later if joined else int(before[4] or 0)
        before = match
    if before is not None:
        yield before, int(before[4] or 0)


_JOINED = re.compile(r"\s?(?:[-\u2013]|to|till?|until|through|and|bis)\s?(?:the )?", re.IGNORECASE)
"""What stands between the first day of a range and the last."""


def months_in(text: str) -> Iterator[int]:
    """Every month that a text names, of a day or without one (`the October report`); none where it
    has only words that are others, too (`may`, `march`)."""
    names = [lowered(match[0]) for match in _MONTH_ALONE.finditer(text)]
    if not _OTHER_WORDS.issuperset(names):
        yield from (MONTHS[name] for name in names)


def month_of(value: str) -> int:
    """The month of a tool's month (`2026-10`); 0 for anything else."""
    match = _MONTH_VALUE.fullmatch(value)
    return int(match[1] or match[2]) if match is not None else 0


_MONTH_ALONE = re.compile(rf"\b(?:{MONTH})\b", re.IGNORECASE)
_MONTH_VALUE = re.compile(r"\d{4}[-/.]?(0[1-9]|1[0-2])|(0[1-9]|1[0-2])[-/.]\d{4}")


def _full(year: str | None) -> int:
    """A year as four digits; 0 for none."""
    number = int(year or 0)
    return number + 2000 if 0 < number < 100 else number


def _of_month(year: int, month: str, day: str, others: str | None) -> Iterator[Day]:
    """A day of a month, and what is written beside it: a range's other end, those of a list."""
    for number in (day, *_NUMBER.findall(others or "")):
        yield from _read(year, MONTHS[lowered(month)], int(number))


_NUMBER = re.compile(r"\d{1,2}")


def _read(year: int, month: int, day: int) -> Iterator[Day]:
    found = _checked(year, month, day)
    if found is not None:
        yield found


def _checked(year: int, month: int, day: int) -> Day | None:
    return (year, month, day) if 1 <= month <= 12 and 1 <= day <= 31 else None
