"""Telephone numbers, however they are grouped: `0171/555 01 23`, `(415) 555-0132`, `+49 (0)171 …`.

The country of a national number is not guessed: `0171 5550123` and `+49 171 5550123` stay two
values. Only in North America, where a number is the same everywhere in the plan, `+1` may be left
out. Linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .numerals import PHONES, kinds_in

_PHONE = re.compile(
    r"(?<![\w.,@/+-])(?:(\+)(\d{1,3})[ .-]{0,2}(?:\(0\) ?)?)?"
    r"(\(\d{1,5}\)|\d{1,8})((?:(?:[ ./-]|(?<=\)) ?| [/-] )\d{2,8}){1,6})(?![\w@/]|[.,-]\d)"
)
_FEWEST = 8
_MOST = 15
_NORTH_AMERICA = re.compile(r"[2-9]\d\d[2-9]\d{6}")


def phones_in(text: str) -> Iterator[str]:
    """Every number that is written in groups as a telephone's, as digits alone."""
    for match in _PHONE.finditer(text) if PHONES in kinds_in(text) else ():
        yield from _digits(match)


def phone(value: str) -> str:
    """The digits of a value that is a telephone number in groups; empty where it is none."""
    match = _PHONE.fullmatch(value)
    return next(_digits(match), "") if match is not None else ""


def _digits(match: re.Match[str]) -> Iterator[str]:
    plus, country, first, rest = match.groups()
    national = re.sub(r"\D", "", first + rest)
    whole = f"{country or ''}{national}"
    if not _FEWEST <= len(whole) <= _MOST:
        return
    american = _NORTH_AMERICA.fullmatch(national) is not None
    if plus:
        yield whole
        if american and country == "1":
            yield national
    elif first[0] in "(0":
        yield whole
        if american:
            yield "1" + whole
    elif american and len(rest) == len("-555-0132"):
        yield whole
        yield "1" + whole
