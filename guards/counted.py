"""Short numbers in what the user writes, and the words that say what they count.

`issue 12`, `order no. 7`, `#3`, `10 %`, `6 replicas`, `two workshops`, `the stock of mugs to 40`,
`half an hour`, `1.5h`, `the 4th period`, `drops under 110`.
A number of up to three digits stands in many texts by accident; it is the user's for an argument
that speaks of what stands beside it. Linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from itertools import islice

from .identifiers import is_account
from .numerals import lowered

_SHORT_NUMBER = (
    r"(?<![^\W\u2e80-\uffff])(?<!\d\.)(\d{1,3}(?:\.\d{1,4})?)(?![^\W\u2e80-\uffff]|[.,]\w)"
)
"""Up to three digits and some decimals; a sign of Chinese may stand behind."""
_NUMBERED = re.compile(
    r"(?:\b([^\W\d_]{2,30})[ :]{1,2}(?:(?:no|nr|number|id)\b[. :]{1,2})?)?"
    rf"(#?){_SHORT_NUMBER}(?:[ -]{{0,2}}['\"]?(%|km/h|\u00b0 ?[CF]?|[^\W\d_]{{2,30}}))?",
    re.IGNORECASE,
)
_BOUND = (
    r"(?:at least|at most|above|over|below|under|exactly|(?:higher|lower|more|less|better) than) "
)
_SET_TO = re.compile(
    r"\b([^\W\d_]{3,30})(?: of(?: the)? [\w-]{1,40}| level| score)?"
    rf"(?:(?:(?<=level)|(?<=score)) | ?= ?| (?:to|at|is|as|of) (?:{_BOUND})?| {_BOUND})"
    rf"{_SHORT_NUMBER}(?: ([a-z]{{3,7}})\b)?",
    re.IGNORECASE,
)
"""`the stock of mug-01 to 40`, `a timeout of 5 minutes`, `a rating of at least 4.5`"""
_WITH_ID = re.compile(
    r"\b([^\W\d_]{3,30}) (?:with|has|having|by)(?: the| an?| its)? (?:u?uid|id)"
    rf"(?: of| is| number)?(?: ?[:=] ?| )['\"]?{_SHORT_NUMBER}",
    re.IGNORECASE,
)
"""`the ticket with the ID 12`"""
_LISTED = re.compile(
    r"(?<![\w.,])((?:\d{1,3}(?:\.\d{1,4})?(?:, |,? (?:and|or|to) )){1,10})"
    r"\d{1,3}(?:\.\d{1,4})? ([^\W\d_]{3,30})"
)
"""`for 10, 20 and 30 years`"""
_NUMBERS = re.compile(r"\d{1,3}(?:\.\d{1,4})?")
_GLUED = re.compile(
    r"(?<![\w.,])(\d{1,3}(?:\.\d{1,4})?)"
    r"([kcm]?m|mi|ft|m?g|kg|lbs?|m?l|oz|[kmgt]b|[kmg]?hz|k?wh?|ms|px|pt)\b",
    re.IGNORECASE,
)
"""`50km`"""
_ASSIGNED = re.compile(
    r"\b([a-z]) ?= ?([-\u2212]?\d{1,3}(?:\.\d{1,4})?)(?![\w^*]|[.,]\w)", re.IGNORECASE
)
"""`a = 2`"""
_ONE = re.compile(r"\bone[ -]([^\W\d_]{4,30})", re.IGNORECASE)
_AGE = re.compile(r"\b(\d{1,3})[ -]years?[ -]old\b|\baged?[,:]? (\d{1,3})\b", re.IGNORECASE)
_PARTY = re.compile(
    r"\b(?:table|room|house|dinner|lunch|breakfast|brunch|family|party|group|booking|reservation)"
    r" (?:for|of) (\d{1,3})\b(?=\s?(?:[.,;!?)]|\Z"
    r"|(?:at|in|on|by|is|and|with|near|from|tonight|this)\b))",
    re.IGNORECASE,
)
"""`a table for four`"""
_LETTERED = re.compile(
    r"\b([^\W\d_]{3,30}):? "
    r"(['\"]?[A-Z]['\"]?(?:(?:,|,? and|,? or) ['\"]?[A-Z]['\"]?){0,5})(?![\w'\u2019])"
)
"""`sizes M and L`, `option B`"""
_CAPITAL = re.compile("[A-Z]")
_LONE_CAPITAL = re.compile(r"[A-Z](?<!\w.)(?!\w)")
_DIGIT = re.compile(r"\d")
_PER_PAGE = re.compile(rf"{_SHORT_NUMBER} (?:[a-z]{{3,20}} )?(?:per|a|each) page\b", re.IGNORECASE)
_ORDINAL = re.compile(
    r"(\bon )?(?:\bthe )?\b(\d{1,3})(?:st|nd|rd|th)\b(?! of\b)(?: ([^\W\d_]{3,30}))?",
    re.IGNORECASE,
)
_PRICED_AT = re.compile(
    r"\b(?:at|under|below|above|over|beyond) (\d{1,3}(?:\.\d{1,4})?)"
    r"(?![\w:%]|[.,]\w| ?[ap]\.?m\b| [%\u00b0]| [^\W\d_])",
    re.IGNORECASE,
)
"""`drops under 110`, `at 105`: with nothing behind it that it counts."""
PRICES = frozenset("price limit threshold trigger".split())  # noqa: SIM905
_LASTING = re.compile(
    r"(?<![\w.,:])(\d{1,3}(?:[.,]\d{1,2})?|\d{1,2}:[0-5]\d) ?(h|hrs?|hours?|std|stunden?"
    r"|mins?|minutes?|minuten)(?: ?(?:and |und )?([0-5]?\d) ?(?:m|mins?|minutes?|minuten)?)?\b",
    re.IGNORECASE,
)
"""`1.5h`, `1h30`, `2 hours and 15 minutes`, `1:30 h`"""
_ISO_TIME = re.compile(
    r"P(?=[\dT])(?:(\d{1,4})W)?(?:(\d{1,4})D)?"
    r"(?:T(?=\d)(?:(\d{1,4})H)?(?:(\d{1,4})M)?(?:(\d{1,5})S)?)?"
)
_SHORT_TIME = re.compile(r"(?=\d)()()(?:(\d{1,4})h)?(?:(\d{1,4})m(?:in)?)?(?:(\d{1,5})s)?")
_SMALL = """two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
sixteen seventeen eighteen nineteen""".split()  # noqa: SIM905 - one word a value reads better
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()  # noqa: SIM905
_SAID = re.compile(
    rf"\b(?:({'|'.join(_TENS)})(?:[ -]({'|'.join(['one', *_SMALL[:8]])}))?|({'|'.join(_SMALL)})"
    r"|(a dozen|(?:an|one) hour and a half|half an hour|a quarter of an hour|(?:an|one) hour"
    r"|one (?:minute|day|week)))\b",
    re.IGNORECASE,
)
_WHOLE = {
    "a dozen": "12",
    "an hour and a half": "90 minutes",
    "one hour and a half": "90 minutes",
    "half an hour": "30 minutes",
    "a quarter of an hour": "15 minutes",
    "an hour": "1 hour",
    "one hour": "1 hour",
    "one minute": "1 minute",
    "one day": "1 day",
    "one week": "1 week",
}
_PERCENT = frozenset({"%", "percent", "pct", "prozent"})
RATES = frozenset({"percent", "percentage", "pct"})
COUNTS = frozenset(
    {"quantity", "quantitie", "qty", "count", "piece", "unit", "copie", "copy", "delta"}
)
"""Names of arguments that say how many, of whatever it is."""
_NO_NOUN = frozenset(
    """january february march april june july august september october november december
    street road avenue lane today tomorrow with from that
    this then than into euros dollars pounds francs""".split()  # noqa: SIM905 - reads better
)
_TIMES = frozenset(
    "second seconds minute minutes hour hours day days week weeks month months year years".split()  # noqa: SIM905
)
_SECONDS = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400, "week": 604_800}
"""The units of time that are so long everywhere."""
UNITS = frozenset(_SECONDS)
_DEGREES = frozenset({"celsiu", "temperature", "temp", "fahrenheit"})
_SPEEDS = {"km/h": "kmh", "kmh": "kmh", "kph": "kmh", "mph": "mph"}
_PEOPLE = frozenset(
    "people person adult guest passenger traveler traveller men women".split()  # noqa: SIM905
)
_NAMES = (
    (_PEOPLE, _PEOPLE | {"party", "seat"}),
    (
        UNITS | {"night", "month", "year", "min", "hr", "sec"},
        frozenset("duration period time timeout interval delay".split()),  # noqa: SIM905
    ),
    (
        frozenset(
            """m meter metre km kilometer kilometre mile mi feet foot ft inche inch cm mm centimeter
            centimetre yard""".split()  # noqa: SIM905 - one word a value reads better
        ),
        frozenset("distance radiu length height width depth".split()),  # noqa: SIM905
    ),
    (frozenset({"star"}), frozenset({"rating", "score", "review"})),
    (frozenset("kg kilogram gram lb ounce".split()), frozenset({"weight", "mas"})),  # noqa: SIM905
)
"""Units, and arguments that are counted in them."""
_FRACTIONS = frozenset("rate ratio fraction probability proportion".split())  # noqa: SIM905
"""Names of arguments that may be a part of 1."""
_SHORTEST_NOUN = 4
_MOST_NOUNS = 20
"""Things numbered by ordinals of which one that stands alone may be another."""

Counted = tuple[str, set[str]]
"""A number, and what stands beside it: words without a plural's s, or `#`."""


def counted(text: str) -> Iterator[Counted]:
    """Every short number of a text with what it counts, and single letters behind what they are of
    (`size M`); a time in each unit in which it is whole (`two hours` are 120 minutes), and what
    percent are of 1 (`5 %` are a rate of 0.05)."""
    digits = in_digits(text)
    for match in _ONE.finditer(text):
        yield "1", _widened({match[1].lower()}) - _NO_NOUN
    for match in _LETTERED.finditer(text) if _LONE_CAPITAL.search(text) else ():
        word = match[1].lower().removesuffix("s")
        yield from ((letter, {word}) for letter in _CAPITAL.findall(match[2]))
    if _DIGIT.search(digits) is None:
        return
    digits = _GLUED.sub(r"\1 \2", digits)
    for number, words, at in placed(digits):
        as_written = digits.startswith(number.lstrip("-"), at)  # and in no other unit of time
        yield number, _widened(words) if as_written else words
        if "percent" in words:
            yield f"{float(number) / 100:.10g}", {*_FRACTIONS}
    yield from _called(digits)
    for match in _LASTING.finditer(digits):
        yield from _of_time(_seconds_of(match), set(_SECONDS))
    for match in _PRICED_AT.finditer(digits):
        yield f"{float(match[1]):.10g}", {*PRICES}


def _called(digits: str) -> Iterator[Counted]:
    """Numbers in the ways in which people say an id, an age, a size of a party or of a page."""
    lower = digits.lower()
    for match in _LISTED.finditer(digits):
        words = _widened({match[2].lower().removesuffix("s")}) - _NO_NOUN
        yield from ((f"{float(number):.10g}", words) for number in _NUMBERS.findall(match[1]))
    for match in _ASSIGNED.finditer(digits) if "=" in digits else ():
        yield f"{float(match[2].replace(_MINUS[1], '-')):.10g}", {match[1].lower()}
    for match in _WITH_ID.finditer(digits) if "id" in lower else ():
        yield match[2], {match[1].lower().removesuffix("s")}
    for match in _PER_PAGE.finditer(digits) if " page" in lower else ():
        yield match[1], {"page"}
    for match in _AGE.finditer(digits) if "age" in lower or "old" in lower else ():
        yield match[1] or match[2], {"age"}
    for match in _PARTY.finditer(digits) if " for " in lower or " of " in lower else ():
        yield match[1], _widened({"people"})


def _widened(words: set[str]) -> set[str]:
    """What stands beside a number, with what an argument may call it: of `two people` the guests,
    of `3 nights` the duration, of `5 km` the distance."""
    found = words.union(word[:-4] for word in words if word[:-4] and word.endswith("room"))
    for units, names in _NAMES:
        if not units.isdisjoint(words):
            found |= names
    return found


def time_of(value: str) -> str:
    """The seconds of a length of time as a tool takes it (`PT1H30M`, `90m`); empty for another
    text."""
    match = _ISO_TIME.fullmatch(value) or _SHORT_TIME.fullmatch(value)
    lengths = (604_800, 86_400, 3_600, 60, 1)
    if match is None:
        return ""
    return str(sum(int(n) * s for n, s in zip(match.groups(), lengths, strict=True) if n))


def in_digits(text: str) -> str:
    """The text with its numbers in digits: `forty mugs`, `half an hour`."""
    return _SAID.sub(_digits, text)


def placed(digits: str) -> Iterator[tuple[str, set[str], int]]:
    """The same of a text whose numbers are in digits, each with the place where it stands."""
    for match in _NUMBERED.finditer(digits):
        before, sign, number, after = match[1], match[2], match[3], (match[4] or "").lower()
        found = {word.lower().removesuffix("s") for word in (before, sign, after) if word}
        if "." in number:
            number = f"{float(number):.10g}"
        if _is_below_zero(digits, match.start(3)):
            number = f"-{number}"
        if after in _PERCENT:
            found |= RATES
        elif after[:1] == "\u00b0" or after in ("degrees", "grad"):
            found |= _DEGREES
        elif after in _SPEEDS:
            found |= {"speed", _SPEEDS[after]}
        elif after in _TIMES:
            if digits.startswith((" of ", " at "), match.end()):  # `3 hours of work at 95`
                found |= COUNTS
            for unit, so_many in _in_units(number, after):
                yield so_many, {unit}, match.start(3)
        elif len(after) >= _SHORTEST_NOUN and after not in _NO_NOUN:
            found |= COUNTS
        yield number, found, match.start(3)
    ordinals = list(_ORDINAL.finditer(digits))
    named = (match[3].lower().removesuffix("s") for match in ordinals if match[3])
    nouns = {*islice(dict.fromkeys(named), _MOST_NOUNS)} - _NO_NOUN
    for match in ordinals:
        if match[1]:
            yield match[2], {"day"}, match.start()
        elif match[3]:  # before the article: it is a choice with one, too
            yield match[2], {match[3].lower().removesuffix("s")} - _NO_NOUN, match.start()
        else:  # `the 4th period to the 6th`
            yield match[2], set(nouns), match.start()
    for match in _SET_TO.finditer(digits):
        word = {match[1].lower().removesuffix("s")}
        yield match[2], word, match.start(2)
        for _, so_many in _in_units(match[2], (match[3] or "").lower()):
            yield so_many, word, match.start(2)


def _is_below_zero(text: str, at: int) -> bool:
    """Whether a minus stands before the number at a place, and not the dash of a range."""
    if text[at - 1 : at] in _MINUS:
        return at < 2 or text[at - 2] in " \t\n("
    minus = text[max(0, at - 6) : at].lower() == "minus "
    return minus and not text[max(0, at - 7) : at - 6].isalpha()  # `terminus 18`


_MINUS = ("-", "\u2212")


def _in_units(number: str, unit: str) -> Iterator[tuple[str, str]]:
    """The other units in which a time is a whole number, and how many of them it is."""
    unit = unit.removesuffix("s")
    for words in _of_time(float(number) * _SECONDS.get(unit, 0), _SECONDS.keys() - {unit}):
        yield words[1].pop(), words[0]


def _of_time(seconds: float, units: Set[str]) -> Iterator[Counted]:
    """How many of each unit a time is, where that is a whole number; of hours also a half."""
    for unit in units if seconds else ():
        if not seconds % _SECONDS[unit] or (unit == "hour" and not seconds % 36):
            yield f"{seconds / _SECONDS[unit]:.10g}", {unit}


def _seconds_of(match: re.Match[str]) -> float:
    number, unit, more = match[1], match[2][0].lower(), int(match[3] or 0)
    if ":" in number:
        hours, _, minutes = number.partition(":")
        return int(hours) * 3_600 + int(minutes) * 60 if unit != "m" and not more else 0
    if unit == "m":
        return float(number.replace(",", ".")) * 60 if not more else 0
    return float(number.replace(",", ".")) * 3_600 + more * 60


def numbered_by(text: str) -> Iterator[Counted]:
    """What a link that the user writes numbers, with what stands before it: of
    `https://git.example/shop/pull/34` 34, a pull; of `?order=10482` 10482, an order."""
    for match in _LINKED.finditer(text):
        words = {word.lower().removesuffix("s") for word in _WORD.findall(match[1])}
        # Whoever made the link chose what stands in it: it may number things, and no money.
        if _PAID.isdisjoint(words) and not is_account(match[2]):
            yield match[2], words


_LINKED = re.compile(
    r"(?<=[/?&])([A-Za-z][A-Za-z_-]{2,30})(?:/d)?[/=]([A-Za-z0-9_-]{0,40}\d[A-Za-z0-9_-]{0,40})(?=[/?&#\s)>\"'.,;]|\Z)"
)
_WORD = re.compile("[A-Za-z]+")
_PAID = frozenset(
    """amount sum total price value account acct iban to recipient payee pay payment
    currency percent quantity""".split()  # noqa: SIM905 - one word a value reads better
)


def _digits(match: re.Match[str]) -> str:
    if match[4]:
        return _WHOLE[lowered(match[4])]
    if match[3]:
        return str(_SMALL.index(lowered(match[3])) + 2)
    ones = ["one", *_SMALL].index(lowered(match[2])) + 1 if match[2] else 0
    return str((_TENS.index(lowered(match[1])) + 2) * 10 + ones)
