"""Codes that are spelt out: `one ay seven bee`, `alpha bravo`, `vier acht zwei`, `double four`,
`one million one hundred thousand`.

Only for comparing with codes that were seen: what comes out here is looked up and never judged by
itself, so that a word that is also a letter (`are`, `you`) does no harm. Linear in the text.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache

MAX_WORDS = 5_000
"""Words of a text that are looked at."""

_FEWEST = 3
"""Words that have to be signs: a code has at least three digits."""

_MOST_SIGNS = 12
"""Words that are counted one by one."""

_DIGITS = """zero one two three four five six seven eight nine
null eins zwei drei vier fünf sechs sieben acht neun
zéro un deux trois quatre cinq six sept huit neuf
cero uno dos tres cuatro cinco seis siete ocho nueve
zero uno due tre quattro cinque sei sette otto nove
zero um dois três quatro cinco seis sete oito nove
nul een twee drie vier vijf zes zeven acht negen
nought wun too tree fower fife sixer seffen ait niner
nil ein zwo dry for fuenf siks seben eit nein"""
_TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_LETTERS = """alpha bravo charlie delta echo foxtrot golf hotel india juliett kilo lima mike
november oscar papa quebec romeo sierra tango uniform victor whiskey xray yankee zulu
ay bee cee dee ee eff gee aitch eye jay kay el em en oh pee cue ar ess tee yu vee
doubleyou ex wye zee
alfa bravo see dee ee ef gee haitch aye juliet kay ell mike en oh pee queue are es tea you vee
doubleu ecks why zed"""
_NO_SIGN = """and then dash hyphen minus underscore dot point slash space comma capital upper lower
case uppercase lowercase letter letters digit digits number figure followed by"""


def _signs() -> dict[str, str]:
    found = dict.fromkeys(_NO_SIGN.split(), "")
    for line in _DIGITS.splitlines():
        found |= {word: str(number) for number, word in enumerate(line.split())}
    found |= {word: str(number) for number, word in enumerate(_TEENS.split(), start=10)}
    letters = _LETTERS.split()
    found |= {word: chr(97 + number % 26) for number, word in enumerate(letters)}
    return found


_SIGN: Mapping[str, str] = _signs()
_TEN: Mapping[str, str] = {word: str(n) for n, word in enumerate(_TENS.split(), start=2)}
_TIMES = {"double": 2, "triple": 3, "doppel": 2}
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_MOST = 10**9
"""More hundreds than this say no number."""
_COUNTING = frozenset((*_TEN, *_TIMES))
_UNSURE = frozenset((*_COUNTING, *_SCALES, "oh"))
"""Words that are read in more than one way, or with the next one."""
SPOKEN = frozenset((*_SIGN, *_UNSURE))
"""Words that stand for a sign, and those that change what stands for one."""


def spelt_out(words: Sequence[str]) -> Iterator[str]:
    """What words say sign by sign, with one space between; nothing where they hardly do.

    `words` are in lower case, without signs. `oh` is read as a letter and as a zero.
    """
    words = words[:MAX_WORDS]
    said = [word for word in words if word in SPOKEN]
    if not _SCALES.keys().isdisjoint(said):
        yield " ".join(_counted(words))
    if len(said) < _FEWEST:
        return
    if _COUNTING.isdisjoint(words):  # nearly always, and in one step
        yield " ".join([sign for word in words if (sign := _SIGN.get(word, word))])
    else:
        yield " ".join(_read(words))
    if "oh" in words:
        yield " ".join(_read(["0" if word == "oh" else word for word in words]))


def _counted(words: Sequence[str]) -> Iterator[str]:
    """The words with their numbers in digits: `one million one hundred and eighty thousand`."""
    total = part = 0
    counts = False
    for word in (*words, ""):
        sign = _SIGN.get(word, "")
        if counts and word == "and":
            continue
        if sign.isdecimal() or word in _TEN:
            part += int(sign or 0) + int(_TEN.get(word, 0)) * 10
        elif word == "hundred":
            part = min(max(part, 1) * _SCALES[word], _MOST)
        elif word in _SCALES:
            total, part = total + max(part, 1) * _SCALES[word], 0
        else:
            if counts:
                yield str(total + part)
            total, part, counts = 0, 0, False
            yield word
            continue
        counts = True


def signs_said(words: Sequence[str], hits: Collection[str]) -> dict[str, int] | None:
    """The signs that words may spell out, and how often each digit does; None where that is not
    easily told. `hits`: all of the words that are in `SPOKEN`, and perhaps others."""
    if len(hits) > _MOST_SIGNS or not _UNSURE.isdisjoint(hits):
        return None
    signs: dict[str, int] = {}
    for word in hits:
        sign = _SIGN.get(word, "")
        if sign:
            said = words.count(word) if sign.isdecimal() else 0
            signs[sign] = signs.get(sign, 0) + said
    return signs


def _read(words: Sequence[str]) -> Iterator[str]:
    times, ten = 1, ""
    for word in words:
        sign = _SIGN.get(word, word)
        if ten:  # forty eight is 48, and forty alone 40
            joined = len(sign) == 1 and sign.isdigit() and sign != "0"
            yield ten + (sign if joined else "0")
            ten = ""
            if joined:
                continue
        if word in _TEN:
            ten = _TEN[word]
        elif word in _TIMES:
            times = _TIMES[word]
        elif sign:
            yield sign * times if len(sign) == 1 else sign
            times = 1
    if ten:
        yield ten + "0"


def plain_digits(text: str) -> str:
    """The text with the digits of other scripts (`٤`, `四`, `④`) as those of this one."""
    signs = {ord(s): digit for s in set(text) if not s.isascii() and (digit := _digit(s))}
    return text.translate(signs) if signs else text


@lru_cache(maxsize=4_096)
def _digit(sign: str) -> str:
    value = unicodedata.numeric(sign, -1)
    return str(int(value)) if value in _ONE_DIGIT else ""


_ONE_DIGIT = frozenset(map(float, range(10)))
