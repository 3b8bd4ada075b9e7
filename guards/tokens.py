"""Texts and values as runs of tokens: the one form in which what was seen and what is sent compare.

A token is a word, an address, a link, a number as a whole: `evil.com` is no token of
`notevil.com`, `evil.com.org` or `me@evil.com`. Two values are the same where their tokens are.
Compatibility characters, letter case, quotes and brackets, `https://` and `www.`, a closing slash
or full stop, and the zeros of `12.00` make no difference. Everything is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from .folding import folded
from .identifiers import TOP_LABELS
from .numerals import CLOCKS, GROUPS, kinds_in
from .parts import sums_up
from .phones import phone, phones_in
from .scripts import apart, parted, weight
from .sums import grouped, plain_numbers, round_numbers, round_sums

MAX_TOKENS = 20_000
"""Tokens of one text that are looked at; what lies beyond was not seen."""

_SPACE = (
    "\t\r\n\v\f\"'`<>()[]{},;|*$\u00a3\u00a5\u20ac\u2018\u2019\u201c\u201d\u00ab\u00bb\u2013\u2014"
)
_SPACE += "\u2022\u2026\u3001\u3002\uff0c\uff1b\u00b7\u30fb\ufeff"
_SPACE += "\u3008\u3009\u300a\u300b\u300c\u300d\u300e\u300f\u3010\u3011\u3014\u3015"
_TO_SPACE = str.maketrans(dict.fromkeys(_SPACE, " "))
_EDGES = ".:!?/%\\\u00b0"
_DECIMAL = re.compile(r"[+-]?\d+\.\d+")
_VERSION = re.compile(r"v\d{1,6}(?:\.\d{1,6}){2}(?:[+-][\w.+-]*)?")
"""`v4.12.1` is 4.12.1; two numbers are left, for 4.10 is 4.1 only as a decimal."""
_EARLY = re.compile(r"0\d:\d\d")
"""`07:30` is 7:30."""
_CLOCK = re.compile(
    r"(?<![\w:.])(1[0-2]|0?[1-9])(?::([0-5]\d))?"
    r"(?: ?([ap])\.?m\b\.?| in the (after|even|morn)(?:noon|ing)\b)"
)
_HOURS = "one two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905
_HOUR = rf"({'|'.join(_HOURS)}|1[0-2]|[1-9])"
_SPOKEN_SIGN = re.compile("half past|quarter|o['\u2019]clock|noon|midday|midnight")
_SPOKEN_CLOCK = re.compile(
    rf"\b(?:(noon|midday|midnight)|(half|quarter) (past|to) {_HOUR}|{_HOUR} o['\u2019]clock)\b"
)
_KIND_OF_ADDRESS = re.compile(
    r"(?:user|group|member|e?mail|smtp|serviceaccount):(?=[^:/@]+@[^:/@]+\Z)"
)
"""`user:ann@corp.example`: who it is that has the address."""
_WORD = re.compile(r"\w+")
_WITH_MARKS = re.compile(
    r"[\w\u0591-\u05bd\u05bf-\u05c7\u064b-\u065f\u0900-\u0963\u0966-\u0dff"
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]+"
)
"""Words of any script: vowel signs are no `\\w`, and no end of a word."""
_SPACES = bytes(32 if chr(n) in _SPACE else ord(chr(n).lower()) & 127 for n in range(256))
_NO_SIGNS = bytes(ord(c.lower()) if _WORD.match(c) else 32 for c in map(chr, range(128))) * 2
"""Both for ASCII: letter case and signs in one step."""
_GROUPS = re.compile(
    r"(?<![\w.-])(?:[a-z]{2}\d{2}(?:[ -][a-z0-9]{2,4}){2,8}|\d{2,6}(?:[ -]\d{2,6}){2,8}"
    r"|97[89](?:[ -]\d{1,7}){3}[ -]\d)(?![\w-])"
)
"""Account, card and telephone numbers that are written in groups, and those of books."""

_BETWEEN = frozenset(" -/().")
_RUN_ON = re.compile(r"(?<!\S)(\S{4,200}?[a-z0-9])\.([A-Z][a-z]+)(?!\S)")
"""A sentence that begins without a space: `www.a.example.They said`."""

_LONGEST_NUMBER = 60
_SHORTEST_ACCOUNT = 15
_SHORTEST = 3
_SHORTEST_CODE = 2
"""Letters of a code like `4B`: it has a digit and is no number."""
_SHORTEST_NUMBER = 4
_SHORTEST_PHONE = 7


def tokens(text: str) -> list[str]:
    """The text as its run of tokens."""
    found = []
    for word in _cut(text, _SPACES, _TO_SPACE, MAX_TOKENS)[:MAX_TOKENS]:
        token = word if word.isalpha() else _token(word)
        if token:
            found.append(token)
    return found


def _cut(text: str, ascii_table: bytes, table: dict[int, str], most: int = -1) -> list[str]:
    """The words between what the tables make blanks, in lower case; what follows `most` is one."""
    if text.isascii():  # bytes: several times faster, and most text
        text = plain_numbers(text) if grouped(text) else text
        text = text.encode().translate(ascii_table).decode()
    else:
        text = apart(_plain(text).translate(table))
    if ("am" in text or "pm" in text or ".m" in text or " in the " in text) and (
        CLOCKS in kinds_in(text)
    ):
        text = _CLOCK.sub(_of_24_hours, text)
    return text.split(None, most)


def _of_24_hours(match: re.Match[str]) -> str:
    """15:30 for `3:30 pm` and `3:30 in the afternoon`: it is no 3:30."""
    half = match[3] or match[4]
    hour = int(match[1]) % 12 + (0 if half[0] == "m" or half == "a" else 12)
    return f"{hour}:{match[2] or '00'}"


def _plain(text: str) -> str:
    if not text.isascii():
        text = folded(text)
    text = text.casefold()
    return plain_numbers(text) if grouped(text) else text


def _token(word: str) -> str:
    word = word.rstrip(_EDGES).lstrip("#@:!?")
    if word[:1] == "+" and len(word) > _SHORTEST_PHONE:
        word = word[1:]
    if "." in word:
        if word[:4] == "http":
            word = word.removeprefix("http://").removeprefix("https://")
        word = word.removeprefix("mailto:").removeprefix("www.")
        if "@" in word and ":" in word:
            word = _KIND_OF_ADDRESS.sub("", word)
        if _VERSION.fullmatch(word):
            word = word[1:]
        elif _DECIMAL.fullmatch(word):
            word = word.rstrip("0").rstrip(".")
    elif word[2:3] == ":" and _EARLY.fullmatch(word):
        word = word[1:]
    return word


def other_spellings(text: str) -> Iterator[str]:
    """Values of a text that are no tokens of it: `iban:DE89…`, numbers written in groups."""
    plain = _plain(text)
    if ":" in plain or "=" in plain:
        for word in _cut(plain, _SPACES, _TO_SPACE, MAX_TOKENS)[:MAX_TOKENS]:
            for sign in ":=" if ":" in word or "=" in word else "":
                name, _, value = word.partition(sign)
                if value and name.replace("_", "").isalpha() and value[:2] != "//":
                    token = _token(value)
                    if token:
                        yield token
    for match in _GROUPS.finditer(plain) if GROUPS in kinds_in(plain) else ():
        yield from _ungrouped(match[0])
    yield from phones_in(plain)
    for match in _SPOKEN_CLOCK.finditer(plain) if _SPOKEN_SIGN.search(plain) else ():
        yield from _hands(match)
    yield from round_sums(plain)
    yield from round_numbers(plain)
    for match in _RUN_ON.finditer(text) if "." in text else ():
        if match[2].casefold() not in TOP_LABELS:
            yield from tokens(match[1])


def _hands(match: re.Match[str]) -> Iterator[str]:
    """What a clock shows: of `half past nine` in the morning and in the evening."""
    if match[1]:
        yield {"noon": "12:00", "midday": "12:00", "midnight": "0:00"}[match[1]]
        return
    said = match[4] or match[5]
    hour = int(said) if said.isdecimal() else _HOURS.index(said) + 1
    minute = {"half": 30, "quarter": 15, None: 0}[match[2]]
    minutes = hour * 60 + (minute if match[3] == "past" else -minute)
    for shown in (minutes % 720, minutes % 720 + 720):
        yield f"{shown // 60}:{shown % 60:02}"


def _ungrouped(text: str) -> Iterator[str]:
    """A number in groups as one; of an account's also without the words behind it (`00 by ...`)."""
    yield _joined(text)
    while text[0].isalpha():
        text = text[: max(text.rfind(" "), text.rfind("-"), 0)]
        number = _joined(text)
        if len(number) < _SHORTEST_ACCOUNT:
            return
        if sums_up(number):
            yield number


def joined(value: str) -> str:
    """A value that is written in groups as one token; empty where it is none."""
    if len(value) > _LONGEST_NUMBER or value.isalpha() or not _BETWEEN.intersection(value):
        return ""
    value = value.strip()
    match = _GROUPS.fullmatch(value.removeprefix("+").casefold())
    return _joined(match[0]) if match else phone(value)


def _joined(text: str) -> str:
    return text.replace(" ", "").replace("-", "")


def telling(run: Sequence[str]) -> bool:
    """Whether a run is long enough not to stand in a text by accident."""
    if len(run) > 1:
        return sum(map(weight, run)) >= _SHORTEST
    if not run:
        return False
    if run[0].count(".") > 1:
        return True  # a version, an address: no number by accident
    if len(run[0]) == _SHORTEST_CODE:
        code = run[0].isalnum() and not run[0].isalpha() and not run[0].isdecimal()
        return code or (run[0][0].isalnum() and run[0][1] in "+-*")  # a mark: B+
    digits = run[0].replace(".", "").lstrip("+-")
    return len(run[0]) >= _SHORTEST and not (digits.isdecimal() and len(digits) < _SHORTEST_NUMBER)


class Run(NamedTuple):
    """A value in the forms in which an index is asked for it."""

    tokens: tuple[str, ...]
    key: str
    """The tokens with one space between."""
    telling: bool
    joined: str
    """As one token, where it is written in groups; otherwise empty."""


def run_of(value: str) -> Run:
    """The value as it is looked up; short ones come up again and again."""
    return _kept_run(value) if len(value) <= _KEPT else _run_of(value)


def _run_of(value: str) -> Run:
    found = tuple(tokens(value))
    return Run(found, " ".join(found), telling(found), joined(value))


_KEPT = 300
"""Characters up to which a value's run is kept."""
_kept_run = lru_cache(maxsize=1_024)(_run_of)


def words(text: str) -> list[str]:
    """The words and numbers of the text, without any signs."""
    if text.isascii():
        if grouped(text):
            text = plain_numbers(text)
        return text.encode().translate(_NO_SIGNS).decode().split()
    return parted(_WITH_MARKS.findall(_plain(text)))


def wishes(run: list[str]) -> set[str]:
    """The words with which somebody can ask for something: `e-mail` is also `email`.

    What stands inside an address, a link or a file name asks for nothing.
    """
    found = set()
    for token in run:
        if token.isalpha():
            found.add(token)
        elif not any(sign in token for sign in "@./\\_"):
            parts = _WORD.findall(token)
            found.update(parts)
            found.add("".join(parts))
    return found


def inflected(word: str) -> frozenset[str]:
    """The word and its regular English forms: send, sends, sending; remove, removed, removing."""
    word = "".join(_WORD.findall(_plain(word)))
    forms = {word, word + "s", word + "es", word + "ed", word + "ing"}
    if word.endswith("e"):
        forms |= {word + "d", word[:-1] + "ing"}
    elif word.endswith("y"):
        forms |= {word[:-1] + "ies", word[:-1] + "ied"}
    elif word:
        forms |= {word + word[-1] + "ed", word + word[-1] + "ing"}
    return frozenset(forms)


_NAME_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_NO_SUBJECT = frozenset(
    """get list search read find show view fetch lookup query all by id ids name number key most my
    in for to from of and or with recent current data value item items create new make add insert
    upload draft generate clone copy fork register delete remove update cancel send share append
    move set edit close open""".split()  # noqa: SIM905 - one word a value reads better
)


@lru_cache(maxsize=4_096)
def subjects(name: str) -> frozenset[str]:
    """What a tool or an argument speaks of, by its name: `search_files_by_id`: file."""
    found = {word.lower() for word in _NAME_WORD.findall(name[:200])} - _NO_SUBJECT
    return frozenset(word.removesuffix("s") for word in found)
