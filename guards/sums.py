"""Numbers as people of several countries write them, and sums of money.

`1,234.56`, `1.234,56`, `1 234,56` and `1'234.56` are one number. Only what can be read in one way
is read: `1.234` is a decimal unless a currency stands beside it, `1,50` two numbers unless one
does.
Linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from .numerals import COMMAS, POINTS, SCALED, kinds_in

_THOUSANDS = re.compile(r"[,'\u2019](?<=\d.)(?=\d{3}(?!\d))")
_INNER_SIGN = re.compile(r"\d[,'\u2019]\d")
_POINTS_AND_COMMA = re.compile(
    r"(?<![\d.,])(\d{1,3}(?:(?:\.\d{3}){1,4}|(?:[ \u00a0\u202f]\d{3}){1,4})),(\d{1,2})(?!\d|[.,]\d)"
)
"""`1.234,56`: the point cannot be a decimal one."""
_CODED = (
    "EUR|USD|GBP|CHF|SEK|NOK|DKK|PLN|CZK|BRL|JPY|INR|AUD|CAD|NZD|HKD|SGD|CNY|KRW|MXN|ZAR|HUF|ILS"
    "|AED|THB"
)
_COINS = "BTC|ETH|SOL|XRP|BNB|LTC|DOGE|XMR|USDC|USDT|DAI|bitcoins?|ether"
_CURRENCY = rf"(?:[$\u00a3\u20ac\u00a5]|\b(?:{_CODED})\b)"
_OF = (
    "US|U\\.S\\.|American|Canadian|Australian|New Zealand|Hong Kong|Singapore|British|Swiss|Mexican"
    "|Japanese|Chinese|Indian|Swedish|Norwegian|Danish"
)
"""Whose dollars, pounds, francs."""
_MONEY_WORD = (
    rf"(?:[$\u00a3\u20ac\u00a5](?! ?\d)|(?:{_CODED}|{_COINS}|bucks|quid|franken|renminbi|baht"
    rf"|(?:(?:{_OF}) )?(?:euros?|dollars?|pounds?|francs?|pesos|rupees|yen|yuan|kron(?:a|or|er?))"
    r"|z\u0142(?:oty(?:ch)?)?)\b)"
)
_COMMA_SUM = re.compile(
    rf"(?:{_CURRENCY} {{0,2}})(\d{{1,9}}),(\d\d)(?!\d|[.,]\d)"
    rf"|(?<![\d.,])(\d{{1,9}}),(\d\d)(?= {{0,2}}{_MONEY_WORD})",
    re.IGNORECASE,
)
"""`1,50 EUR`: a currency makes it one number."""
_POINTS = r"\d{1,3}(?:\.\d{3}){1,4}"
_POINTS_SUM = re.compile(
    rf"{_CURRENCY} {{0,2}}({_POINTS})(?!\d|[.,]\d)|(?<![\d.,])({_POINTS})(?= {{0,2}}{_MONEY_WORD})",
    re.IGNORECASE,
)
"""`1.500 EUR`: of money there are no three decimals."""
_AMOUNT = re.compile(
    r"[$\u00a3\u20ac\u00a5]\s?(\d{1,9}(?:\.\d{1,2})?)(?!\w|\.\d)"
    r"|(?<![\d.])(\d{1,9}\.\d{2})(?!\d|\.\d)"
    rf"|(?<![\d.])(\d{{1,9}}(?:\.\d{{1,2}})?)\s?{_MONEY_WORD}"
    rf"|(?<![\d.])(\d{{1,9}}\.\d{{3,8}})\s?(?:{_COINS})\b"
    r"|(?<![\d.])(\d{1,9}(?:\.\d{1,2})?)\s?[\u5143\u5186\u5706\u5757\uc6d0]"
    r"|\b(?:EUR|USD|GBP|CHF)\s?(\d{1,9}(?:\.\d{1,2})?)(?!\w|\.\d)",
    re.IGNORECASE,
)
"""A sum of money by its sign, its currency or its two decimals."""
_TIMES = re.compile(
    r"(?<![\w.,])([$\u00a3\u20ac\u00a5]?) ?(\d{1,6}(?:[.,]\d{1,3})?|\b(?:half )?an?\b)"
    r"(?:(k| ?m(?:io|ln|n)?\.?| ?bn| ?mrd\.?)"
    r"| {0,2}(thousand|tausend|million(?:en)?|billion|milliarden?))"
    rf"(?!\w)(?= {{0,2}}({_MONEY_WORD})?)",
    re.IGNORECASE,
)
"""`1.2k`, `3 million`, `half a million`: money where a currency stands beside it."""
_SCALES = (("k", 3), ("t", 3), ("milliard", 9), ("mrd", 9), ("m", 6), ("b", 9))
"""How the word for a power of ten begins."""
_TOLD = re.compile(
    rf"{_CURRENCY}? ?(\d{{1,12}}(?:\.\d{{1,6}})?) ?(?:{_MONEY_WORD})?", re.IGNORECASE
)


def grouped(text: str) -> bool:
    """Whether a comma or an apostrophe stands inside a number; written backwards, it may be
    another number."""
    signs = "," in text or "'" in text or "\u2019" in text
    return signs and _INNER_SIGN.search(text) is not None


def plain_numbers(text: str) -> str:
    """The text with its numbers as programs write them: no sign between thousands, a point before
    decimals."""
    if COMMAS not in kinds_in(text):
        return _THOUSANDS.sub("", text)
    text = _POINTS_AND_COMMA.sub(_pointed, text)
    return _COMMA_SUM.sub(_with_point, _THOUSANDS.sub("", text))


def _pointed(match: re.Match[str]) -> str:
    return re.sub(r"\D", "", match[1]) + "." + match[2]


def _with_point(match: re.Match[str]) -> str:
    whole, cents = (match[1], match[2]) if match[1] else (match[3], match[4])
    return match[0].replace(f"{whole},{cents}", f"{whole}.{cents}")


def sums_in(text: str) -> Iterator[str]:
    """Every sum of money in a text, as a number: `12.50`, `$10`, `95 EUR`, `1.2k euros`."""
    text = plain_numbers(text) if grouped(text) else text
    for match in _AMOUNT.finditer(text):
        yield next(filter(None, match.groups()))
    yield from round_sums(text)


def round_sums(text: str) -> Iterator[str]:
    """Sums that are no number as they stand: `1.500 EUR`, `$1.2k`, `3 million euros`."""
    kinds = kinds_in(text)
    for match in _POINTS_SUM.finditer(text) if POINTS in kinds else ():
        yield (match[1] or match[2]).replace(".", "")
    for match in _TIMES.finditer(text) if SCALED in kinds else ():
        if match[1] or match[5]:
            yield _scaled(match)


def round_numbers(text: str) -> Iterator[str]:
    """Numbers that a word multiplies, of whatever: `213 million`, `half a million`; `5k` and `3 m`
    may be a run and a length, and with `a million` people thank."""
    for match in _TIMES.finditer(text) if SCALED in kinds_in(text) else ():
        if match[4] and match[2].casefold() not in ("a", "an"):
            yield _scaled(match)


def _scaled(match: re.Match[str]) -> str:
    word = (match[3] or match[4]).strip().casefold()
    power = next(power for begins, power in _SCALES if word.startswith(begins))
    said = match[2].casefold()
    number = float(said.replace(",", ".")) if said[0].isdecimal() else 0.5 if said[0] == "h" else 1
    return f"{number * 10**power:.15g}"


def currencies_in(text: str) -> Iterator[str]:
    """The codes of the currencies that a text names by a sign or a word, in lower case: a Canadian
    dollar is none of the United States."""
    for match in _MONEY_NAME.finditer(text):
        whose = _WHOSE.search(text, max(match.start() - _LONGEST_WHOSE, 0), match.start())
        name = f"{whose[0] if whose else ''}{match[0]}".casefold().removesuffix("s")
        if code := _CODES.get(name, ""):
            yield code


_CODES = {
    name: code
    for code, names in (
        ("eur", "\u20ac,euro"),
        ("usd", "$,us$,dollar,us dollar,u.s. dollar,american dollar"),
        ("gbp", "\u00a3,quid,british pound"),
        ("jpy", "\u00a5,yen,japanese yen"),
        ("chf", "franc,swiss franc,franken"),
        ("cad", "c$,ca$,canadian dollar"),
        ("aud", "a$,au$,australian dollar"),
        ("nzd", "nz$,new zealand dollar"),
        ("hkd", "hk$,hong kong dollar"),
        ("sgd", "s$,singapore dollar"),
        ("cny", "yuan,chinese yuan,renminbi"),
        ("inr", "indian rupee"),
        ("mxn", "mexican peso"),
        ("sek", "swedish krona,swedish kronor"),
        ("nok", "norwegian krone,norwegian kroner"),
        ("dkk", "danish krone,danish kroner"),
        ("thb", "baht"),
    )
    for name in names.split(",")
}
_MONEY_NAME = re.compile(
    r"[$\u20ac\u00a3\u00a5]|\b(?:euro|dollar|pound|franc|peso|rupee)s?\b"
    r"|\b(?:quid|yen|franken|yuan|renminbi|kron(?:a|or|er?)|baht)\b",
    re.IGNORECASE,
)
_WHOSE = re.compile(rf"\b(?:(?:{_OF}) |US|CA?|AU?|NZ|HK|S)\Z", re.IGNORECASE)
_LONGEST_WHOSE = 14


def plain_sums(run: Sequence[str]) -> Iterator[float]:
    """Numbers among the tokens of a text that may be sums, too: no years, and none that number
    something (`order 482`)."""
    for before, token in zip(("", *run), run, strict=False):
        if token.isdecimal() and len(token) <= _LONGEST_PLAIN and before not in _NUMBERED:
            yield float(token)


_LONGEST_PLAIN = 4
_NUMBERED = frozenset(
    """order orders invoice ticket customer client room issue item id account case request number
    no nr employee patient flight gate table page chapter version line pull task bug step day
    building floor apartment flat suite box""".split()  # noqa: SIM905 - one word a value reads better
)
"""What people number; with a `#`, a number is a token like any other."""


MINOR = frozenset("cent centime pence penny minor \u00f8re rappen".split())  # noqa: SIM905
"""Words in the name of an argument whose whole numbers are hundredths: `amount_cents`."""


_SMALL_UNIT = r"(?:(?:US|euro)[ -]?)?(?:cents?|ct|centimes?|pence|penn(?:y|ies)|\u00f8re|rappen)\b"
_SMALL_SUM = re.compile(
    rf"(?<![\d.])(\d{{1,12}}(?:\.\d{{1,6}})?)\s?{_SMALL_UNIT}"
    rf"|(?<![^\W_]){_SMALL_UNIT}[\s:=]{{1,3}}(\d{{1,12}}(?:\.\d{{1,6}})?)",
    re.IGNORECASE,
)


def small_sums_in(text: str) -> Iterator[float]:
    """Every number that a text says to be hundredths: `50 cents`, `amount_cents: 5000`."""
    for match in _SMALL_SUM.finditer(plain_numbers(text) if grouped(text) else text):
        yield float(match[1] or match[2])


def in_major(number: float, names: Iterable[str]) -> float:
    """A sum in the unit in which people write it, of an argument that is called so."""
    return number if MINOR.isdisjoint(names) else number / 100


def told_sum(value: str) -> str:
    """The number that a text is, with a currency or without; empty where it says anything else."""
    value = value.strip()
    match = _TOLD.fullmatch(plain_numbers(value)) if len(value) < _LONGEST else None
    return next(round_sums(value), match[1]) if match else ""


_LONGEST = 40
