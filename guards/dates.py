"""Days as people write them and as tools take them: `January 11th 2025`, `11.1.`, `2025-01-11`.

For the condition `dated`: the day of a value is one that the user (or something trusted) wrote.
Months are read in English; numbers in every usual order, or with the signs for year, month and day.
Linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

Day = tuple[int, int, int]
"""Year (0 where none is written), month, day."""

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sep sept",
            "october oct",
            "november nov",
            "december dec",
        ),
        start=1,
    )
    for name in names.split()
}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DAY = r"(\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?:,?\s{1,3}(\d{4}))?"
_ISO = re.compile(r"(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")
_NUMBERS = re.compile(r"(?<![\d.])(\d{1,2})[./-](\d{1,2})(?:[./-](\d{4}|\d{2}))?(?![\d])")
_MONTH_FIRST = re.compile(rf"\b({_MONTH})\.?\s{{1,3}}{_DAY}\b{_YEAR}", re.IGNORECASE)
_DAY_FIRST = re.compile(
    rf"(?<!\d){_DAY}\s{{1,3}}(?:of\s{{1,3}})?({_MONTH})\b{_YEAR}", re.IGNORECASE
)
_SIGNS = re.compile(
    r"(?:(?<!\d)(\d{4}) ?[\u5e74\ub144] ?)?(?<!\d)(\d{1,2}) ?[\u6708\uc6d4] ?"
    r"(\d{1,2}) ?[\u65e5\u53f7\u865f\uc77c]"
)
"""As it is written in Chinese, Japanese and Korean: year, month, day, each with its sign."""
_VALUE = re.compile(r"\s*(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ][\d:.+Z-]{2,20})?\s*")


def day_of(value: str) -> Day | None:
    """The day of a tool's date or time (`2025-01-11 10:00`); None for anything else."""
    match = _VALUE.fullmatch(value)
    return _checked(*map(int, match.groups())) if match else None


def days_in(text: str) -> Iterator[Day]:
    """Every day that stands in a text, as it may be read."""
    for match in _ISO.finditer(text):
        yield from _read(int(match[1]), int(match[2]), int(match[3]))
    for match in _NUMBERS.finditer(text):
        year = int(match[3] or 0)
        year += 2000 if 0 < year < 100 else 0
        yield from _read(year, int(match[1]), int(match[2]))
        yield from _read(year, int(match[2]), int(match[1]))
    for match in _SIGNS.finditer(text):
        yield from _read(int(match[1] or 0), int(match[2]), int(match[3]))
    for match in _MONTH_FIRST.finditer(text):
        yield from _read(int(match[3] or 0), _MONTHS[match[1].lower()], int(match[2]))
    for match in _DAY_FIRST.finditer(text):
        yield from _read(int(match[3] or 0), _MONTHS[match[2].lower()], int(match[1]))


def _read(year: int, month: int, day: int) -> Iterator[Day]:
    found = _checked(year, month, day)
    if found is not None:
        yield found


def _checked(year: int, month: int, day: int) -> Day | None:
    return (year, month, day) if 1 <= month <= 12 and 1 <= day <= 31 else None
