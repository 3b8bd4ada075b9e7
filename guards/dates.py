"""Days as people write them and as tools take them: `January 11th 2025`, `11.1.`, `2025-01-11`.

For the condition `dated`: the day of a value is one that the user (or something trusted) wrote.
Months are read in English, German, French, Spanish, Italian, Portuguese and Dutch; numbers in every
usual order, or with the signs for year, month and day.
Linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .numerals import DATES, DAY_FIRST, EASTERN, MONTH, MONTH_FIRST, MONTHS, kinds_in

Day = tuple[int, int, int]
"""Year (0 where none is written), month, day."""

_DAY = r"(\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?:,?\s{1,3}(\d{4}))?"
_ISO = re.compile(r"(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")
_NUMBERS = re.compile(r"(?<![\d.])(\d{1,2})[./-](\d{1,2})(?:[./-](\d{4}|\d{2}))?(?![\d])")
_MONTH_FIRST = re.compile(rf"\b({MONTH})\.?\s{{1,3}}{_DAY}\b{_YEAR}", re.IGNORECASE)
_DAY_FIRST = re.compile(
    rf"(?<!\d){_DAY}[.\u00ba]?\s{{1,3}}(?:(?:of|de)\s{{1,3}})?({MONTH})\b(?:\s{{1,3}}de)?{_YEAR}",
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
_SLASHED_VALUE = re.compile(rf"\s*(\d{{1,2}})/(\d{{1,2}})/(\d{{4}}){_CLOCK}\s*")


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
        year, one, two = int(match[3]), int(match[1]), int(match[2])
        found = {_checked(year, one, two), _checked(year, two, one)} - {None}
        return found.pop() if len(found) == 1 else None
    for pattern, day, month in ((_MONTH_FIRST, 2, 1), (_DAY_FIRST, 1, 2)):
        match = pattern.fullmatch(value.strip())
        if match is not None and match[3]:
            return _checked(int(match[3]), MONTHS[match[month].lower()], int(match[day]))
    return None


def days_in(text: str) -> Iterator[Day]:
    """Every day that stands in a text, as it may be read."""
    kinds = kinds_in(text)
    for match in _ISO.finditer(text) if DATES in kinds else ():
        yield from _read(int(match[1]), int(match[2]), int(match[3]))
    for match in _NUMBERS.finditer(text) if DATES in kinds else ():
        year = int(match[3] or 0)
        year += 2000 if 0 < year < 100 else 0
        yield from _read(year, int(match[1]), int(match[2]))
        yield from _read(year, int(match[2]), int(match[1]))
    for match in _SIGNS.finditer(text) if EASTERN in kinds else ():
        yield from _read(int(match[1] or 0), int(match[2]), int(match[3]))
    for match in _MONTH_FIRST.finditer(text) if MONTH_FIRST in kinds else ():
        yield from _read(int(match[3] or 0), MONTHS[match[1].lower()], int(match[2]))
    for match in _DAY_FIRST.finditer(text) if DAY_FIRST in kinds else ():
        yield from _read(int(match[3] or 0), MONTHS[match[2].lower()], int(match[1]))


def _read(year: int, month: int, day: int) -> Iterator[Day]:
    found = _checked(year, month, day)
    if found is not None:
        yield found


def _checked(year: int, month: int, day: int) -> Day | None:
    return (year, month, day) if 1 <= month <= 12 and 1 <= day <= 31 else None
