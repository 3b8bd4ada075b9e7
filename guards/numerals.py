"""Which kinds of numbers, days and sums may stand in a text, told in one pass of RE2.

The searches of each kind are slow, and most texts hold few kinds: each asks here first.
"""

from __future__ import annotations

from collections.abc import Container
from functools import lru_cache

from .sign import SignSet

COMMAS, POINTS, SCALED, GROUPS, PHONES, DATES, MONTH_FIRST, DAY_FIRST, EASTERN, CLOCKS = range(
    1, 11
)
"""`1,50` · `1.500` · `1.2k` · `4000 1234 56` · `0171/555` · `2024-05-20` · `May 20` · `20 May` ·
`5月20日` · `3 pm`"""

MONTHS = {
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
} | {
    # Whole names only: short ones are words of other languages.
    name: number
    for language in (
        "januar februar märz april mai juni juli august september oktober november dezember",
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre"
        " dicembre",
        "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
        "januari februari maart april mei juni juli augustus september oktober november december",
    )
    for number, name in enumerate(language.split(), start=1)
}
MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
"""A pattern for the name of a month, in lower case."""


def lowered(found: str) -> str:
    """What a pattern found without regard to case, in lower case: a long s is an s to it, and an i
    is one with a dot and without."""
    return found.translate(_LIKE_ASCII).lower()


_LIKE_ASCII = str.maketrans("\u017f\u0131\u0130", "sii")

# What is a digit, a blank or an i beyond ASCII is left to the search itself.
_D, _S, _MONTH = "[0-9[:^ascii:]]", r"[\s[:^ascii:]]{1,3}", MONTH.replace("i", "[i[:^ascii:]]")
_SIGNS = SignSet(
    rf"{_D},{_D}{{1,2}}(?:[^0-9]|\z)",
    rf"{_D}\.{_D}{{3}}",
    rf"(?i){_D} {{0,2}}[kmtb]|\ban? [mtb](?:illi|hou|aus)",
    rf"(?i)[a-z]{{2}}{_D}{{2}}[ -]|{_D}{{2}}[ -]{_D}{{2,6}}[ -]{_D}{{2}}"
    rf"|97[89][ -]{_D}",
    rf"{_D}(?:\) ?|[ ./-]| [/-] ){_D}{{2}}",
    rf"{_D}[-./]{_D}",
    rf"(?i)(?:{_MONTH})\.?(?:{_S})?(?:the )?{_D}",
    rf"(?i){_D}(?:st|nd|rd|th)?[.\x{{ba}}]?{_S}(?:(?:of|de){_S})?(?:{_MONTH})",
    r"[\x{6708}\x{c6d4}]",
    rf"(?i){_D} ?[ap]\.?m|{_D} in the ",
)
_KEPT = 20_000
"""Characters of a text of which the answer is kept: each search of it asks again."""


def kinds_in(text: str) -> Container[int]:
    """The kinds that may stand in a text; without its kind no search finds anything."""
    return _kept(text) if len(text) <= _KEPT else _kinds_in(text)


def _kinds_in(text: str) -> frozenset[int]:
    return frozenset(_SIGNS.found(text))


_kept = lru_cache(maxsize=32)(_kinds_in)
