"""What the user's last message chooses of what a policy leaves open.

A range or a list says what may be, and a number that nothing names may be anything. Where the user
wrote which it is to be (`6 replicas`, `20 degrees`, `to degraded`, `19.90 EUR`), another one is
not what they asked for, though the policy lets it be: a person is asked.

Only what is plainly a choice counts: nothing in `at most 6`, `2 more` or `half of it`. Linear in
the text, and read once for each message.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from .counted import RATES, in_digits, placed
from .dates import days_in, months_in
from .sums import currencies_in, in_major, sums_in
from .tokens import inflected, tokens, wishes, words

_LONGEST = 4_000
"""Characters of a message that are looked at."""

_COMPUTED = re.compile(
    r"\b(?:half|double|twice|triple|halve|(?:fewer|less)(?! than)|by"
    r"|plus|minus|each|per|total|split|share|rest|remaining|difference|doppelt|halb|hälfte"
    r"|weniger|um|je|jeweils)\b(?! (?:an hour|e-?mail|mail|text|sms|phone|post))",
    re.IGNORECASE,
)
"""Words of a text from whose numbers another may be computed."""
_MORE = re.compile(
    r"\b(?:more(?! than)|another|extra|additional|further|mehr|weitere)\b", re.IGNORECASE
)
"""The same, but for a tool that adds: `two extra bags` are two."""
_EACH = re.compile(
    r"(?:[$£€¥]|[$£€¥] ?[\d.,]{1,12}|\b(?:EUR|USD|GBP|CHF|euros?|dollars?|pounds?)) each\b",
    re.IGNORECASE,
)
"""`two workshops at 480 EUR each`: there are two all the same."""
_OF_SUMS = re.compile(r"%|\b(?:percent|pct|prozent)\b", re.IGNORECASE)
_NO_CHOICE = re.compile(
    r"(?:\b(?:most|least|up to|under|below|over|above|than|max|maximum|min|minimum|within|about"
    r"|around|roughly|limit|budget|until|last|first|next|every|the|has|have|had|are|were|currently"
    r"|now|already|höchstens|mindestens|bis zu|unter|über|maximal|etwa|rund|derzeit)\b|[<>~])"
    r"[\s.:=]{0,3}(?:of )?(?:EUR |USD |GBP |CHF )?[$£€¥]?\Z",
    re.IGNORECASE,
)
"""What stands before a number that is a bound, or tells how things are."""
_CAPPED_SUM = re.compile(
    r"\b(?:most|up ?to|under|below|max|maximum|within|limit|budget"
    r"|(?:less|cheaper|lower|(?:no|not|never|\w{1,6}['\u2019]t)(?: \w+)? more) than"
    r"|höchstens|bis zu|unter|maximal)\b[\s.:=]{0,3}(?:(?:of|is) )?(?:EUR |USD |GBP |CHF )?"
    r"[$£€¥]?\d",
    re.IGNORECASE,
)
"""`at most 250`, `no more than 250`"""
_BOUNDED_SUM = re.compile(_NO_CHOICE.pattern.removesuffix(r"\Z") + r"\d", re.IGNORECASE)
_RELATIVE = re.compile(
    r"\b(?:before|after|later|earlier|until|by|within|following|due|ago|since|deadline|vor|nach"
    r"|bis|später|früher|seit|ab)\b",
    re.IGNORECASE,
)
_SHORT_DAY = re.compile(r"(?<![\d./-])\d{1,2}[./-]\d{1,2}(?![./-]?\d)")
"""`4.12` and `4/12` may be anything."""
_WIDE = 20
_FEWEST_LETTERS = 5
_SHORTEST_CODE = 4
_BY_ACCIDENT = frozenset(
    """normal medium standard regular default other general small large short simple basic active
    first second third""".split()  # noqa: SIM905 - one word a value reads better
)
"""Values that may stand in any text, whatever is chosen."""
_NOT = (
    r"\b(?:(?:not|no|nicht|kein|keine|n['\u2019]t)\s(?:an?\s|very\s)?"
    r"|(?:exclud(?:e|ing)|except|without)\s(?:(?:any|all|the|those)\s)?(?:that\sare\s)?)"
    r"([^\W\d_]{3,30})"
)
_DENIED = re.compile(_NOT, re.IGNORECASE)
_QUANTITIES = frozenset({"quantity", "qty", "piece", "unit", "copie", "copy"})


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """What one message lays down."""

    numbers: Mapping[str, frozenset[float]]
    """Short numbers by the words beside them."""
    sums: frozenset[float]
    cap: float
    """The largest sum of a message that bounds one from above."""
    days: frozenset[tuple[int, int]]
    """Months and days."""
    months: frozenset[int]
    """Months that are named, of a day or without one."""
    words: frozenset[str]
    denied: frozenset[str]
    """Words behind a `not`."""
    text: str
    """Its words with one space between, and around."""

    def others(self, number: float, names: Collection[str], *, money: bool) -> bool:
        """Whether the message says a number for what has one of these names, and not this one."""
        said = self.said_of(names)
        if RATES.intersection(names):
            said |= {100 - n for n in said}  # `10 percent of the traffic`: and 90 stay
        elif number == 1 and _QUANTITIES.intersection(names):
            return False  # `and butter`
        if not said and money:
            number = in_major(number, names)
            said |= self.sums
            if number > self.cap:
                return True
        return bool(said) and number not in said

    def said_of(self, names: Collection[str]) -> frozenset[float]:
        """The numbers that stand beside one of the names."""
        return _NONE.union(*(self.numbers[name] for name in names if name in self.numbers))

    def says(self, option: Option) -> bool:
        """Whether the message names a listed value."""
        if option.phrase and f" {option.phrase} " in self.text:
            return True
        return not (self.words - self.denied).isdisjoint(option.forms)


_NONE: frozenset[float] = frozenset()


@lru_cache(maxsize=64)
def chosen_in(message: str, *, adds: bool = False) -> Chosen:
    """What a message of the user's chooses; `adds`: for a tool that makes or adds something."""
    text = message[:_LONGEST]
    numbers: dict[str, set[float]] = {}
    loosely = not adds and _MORE.search(text) is not None
    plain = not loosely and _COMPUTED.search(text) is None
    simple = plain or not (loosely or _COMPUTED.search(_EACH.sub("", text)))
    digits = in_digits(text) if simple else ""
    for number, beside, at in placed(digits):
        if _NO_CHOICE.search(digits[max(0, at - _WIDE) : at]) is None:
            for word in beside:
                numbers.setdefault(word, set()).add(float(number))
    sums = frozenset(map(float, sums_in(text))) if plain else _NONE
    loose = _OF_SUMS.search(text) is not None or _BOUNDED_SUM.search(text) is not None
    capped = bool(sums) and _CAPPED_SUM.search(text) is not None
    plainly_dated = _RELATIVE.search(text) is None
    return Chosen(
        {word: frozenset(found) for word, found in numbers.items()},
        _NONE if loose else sums,
        max(sums) if capped else math.inf,
        frozenset(day[1:] for day in days_in(_SHORT_DAY.sub(" ", text)) if plainly_dated),
        frozenset(months_in(text)) if plainly_dated else frozenset(),
        frozenset({*wishes(tokens(text)), *currencies_in(text)}),
        frozenset(word.lower() for word in _DENIED.findall(text)),
        f" {' '.join(words(text))} ",
    )


@dataclass(frozen=True, slots=True)
class Option:
    """One value of a list, and how a message names it: `limitPrice` as the limit price, or as the
    limit where no other has the word."""

    value: str
    forms: frozenset[str] = frozenset()
    telling: tuple[str, ...] = ()
    """The words of it of which these are the forms."""
    phrase: str = ""
    binds: bool = False
    """Whether it is a choice where it is named: `low` may stand in a text by accident."""

    def without(self, subject: frozenset[str], verb: frozenset[str]) -> Option:
        """The same for a tool that speaks of this: who has an order cancelled does not choose
        `ordered by mistake`. Who says what the tool does (`approve`) does choose `approved`."""
        if self.forms.isdisjoint(subject):
            return self
        if not self.phrase:
            return replace(self, forms=(self.forms - (subject - verb)).union(self.telling))
        left = filter(subject.isdisjoint, map(_forms, self.telling))
        return replace(self, forms=frozenset[str]().union(*left))


def options(listed: Iterable[object]) -> tuple[Option, ...]:
    """The texts of a list of which a message may choose one; nothing for fewer than two."""
    texts = [v for v in listed if isinstance(v, str) and _ADDRESS.isdisjoint(v)]
    told = {text: _said_words(text) for text in texts}
    if len(told) < 2:
        return ()
    common = set[str].intersection(*map(set, told.values()))  # `roles/viewer`, `roles/editor`
    often = Counter(w for said in told.values() for w in {*said})
    shared = {word for word, times in often.items() if times > 1}
    return tuple(
        _option(text, [w for w in said if w not in common], shared) for text, said in told.items()
    )


_ADDRESS = frozenset("@.:$")
"""Signs of what is an address, a host or `$user`, and no word that chooses."""
_CURRENCIES = frozenset(
    "EUR USD GBP CHF JPY CNY SEK NOK DKK PLN CZK CAD AUD INR BRL".split()  # noqa: SIM905
)


def _said_words(text: str) -> list[str]:
    return words(_HUMP.sub(" ", text.replace("_", " ")))


_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


def _option(value: str, said: list[str], others: Collection[str]) -> Option:
    if len(said) != 1:
        telling = [w for w in said if _tells(w) and w not in others]
        forms = frozenset[str]().union(*map(_forms, telling))
        return Option(value, forms, tuple(telling), " ".join(said), binds=bool(said))
    word = said[0]
    code = value in _CURRENCIES or (len(word) >= _SHORTEST_CODE and word[-1].isdecimal())
    binds = code or _tells(word)
    return Option(value, _forms(word), (word,), binds=binds and not word.isdecimal())


def _tells(word: str) -> bool:
    """Whether a word hardly stands in a message but to choose."""
    return word.isalpha() and len(word) >= _FEWEST_LETTERS and word not in _BY_ACCIDENT


def _forms(word: str) -> frozenset[str]:
    """The word as a person may write it: `approve` for `approved`, `edit` for `editor`."""
    found = {*inflected(word), word + "ly"}
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            found |= inflected(word.removesuffix(ending) + instead)
    return frozenset(found)


_ENDINGS = (
    *(("d", ""), ("ed", ""), ("ied", "y"), ("ing", ""), ("ing", "e"), ("er", ""), ("or", "")),
    *(("ness", ""), ("ly", "")),
    *(("tted", "t"), ("tter", "t"), ("lled", "l"), ("s", "")),
)
