"""What in private data tells: the pieces by which it is recognised when it leaves.

Codes, short values with a number in them, numbers and days of birth that a field holds, passwords,
and runs of words. A date or a small number by itself tells nothing: it stands in many texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .dates import days_in
from .identifiers import looks_dated
from .private_pieces import has_digit
from .sums import sums_in, told_sum
from .tokens import other_spellings, words

MAX_PIECES = 5_000
MAX_DEPTH = 20
LONGEST_VALUE = 6
"""Words of a value that is private as a whole."""
SHORTEST_NUMBER = 4
"""Digits of a number that is private where a field holds nothing else."""
_LONGEST_ADDRESS = 14
_COPIED = 8
_STRIDE = 4
"""Words in a row that are looked for; every fourth run is kept, so that eleven words never pass."""

_DATE = re.compile(r"(?:19|20)\d\d[01]\d[0-3]\d")
_LETTERED = re.compile(r"[a-z]{1,4}(\d{6,})")
_YEAR = re.compile(r"(?:19|20)\d\d")
_BIRTH = re.compile(
    r"birth|\bdob\b|\bborn\b|geb(?:urt|oren)|naissance|nacimiento|nascita|nascimento|geboorte",
    re.IGNORECASE,
)
_ADDRESS = re.compile(
    r"address|\bstreet\b|adress|anschrift|direcci|domicil|endere|indirizzo|\badres\b", re.IGNORECASE
)
_PASSWORD = re.compile(
    r"pass ?(?:word|phrase|code|wort)|\bpin\b|secret|kennwort|contrase\u00f1a|mot de passe"
    r"|\bsenha\b",
    re.IGNORECASE,
)
_SAID_CODE = re.compile(
    r"(?<!zip )(?<!postal )(?<!post )(?<!area )(?<!country )(?<!error )(?<!status )(?<!promo )"
    r"(?<!coupon )(?<!discount )\b(?:pin|[a-z]*code|passphrase|password|combination|kennwort"
    r"|passwort|geheimzahl|kombination|cvv|cvc|otp|tan)(?: (?:is|are|ist|lautet|no\.?|number))?"
    r"[ :=]{1,3}([\w-]{4,40})",
    re.IGNORECASE,
)
"""`Alarm code 4482-19, bank PIN 7713`: what stands behind its name in the middle of a text."""
_COUNTS = frozenset("id ids index page size count offset version year number no".split())  # noqa: SIM905
"""Last words of fields whose numbers say nothing of a person."""
_LABEL = re.compile(r"([^:\n]{1,60}): +(?=\S)")
_LONGEST_LABELLED = 300
"""Characters of a label and its value."""
_WORD = re.compile(r"[^\W\d_]+")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_SIGNS_INSIDE = re.compile(r"\w[#$!&*~^+]\w")
_DIAGNOSIS = re.compile(r"[A-Za-z]\d\d\.\d{1,2}")
_EDGES = ".,;:!?()[]{}<>\"'"


def private_pieces(data: object) -> list[str]:
    """The pieces of an output, each as words with one space between; a day as `1988-03-09`."""
    found: dict[str, None] = {}
    for name, leaf in _fields(data, "", MAX_DEPTH):
        for line in leaf.splitlines():
            for piece in _all_pieces(name, line):
                found.setdefault(piece)
                if len(found) >= MAX_PIECES:
                    return list(found)
    return list(found)


def _fields(value: object, name: str, depth: int) -> Iterator[tuple[str, str]]:
    """Every text and number, each with the name of its field in words."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, bool) or value is None:
        return
    elif isinstance(value, int | float):
        yield name, str(value)
    elif isinstance(value, dict) and depth:
        for key, item in value.items():
            yield from _fields(
                item, " ".join(_WORD.findall(_HUMP.sub(" ", str(key)[:80]))), depth - 1
            )
    elif isinstance(value, list) and depth:
        for item in value:
            yield from _fields(item, name, depth - 1)


def _all_pieces(name: str, line: str) -> Iterator[str]:
    """The pieces of a line of a field; what stands behind a label in it is a value, too."""
    yield from _of_field(name, line)
    yield from _pieces(line)
    # Only what is short tells: a line of labels alone must not be read again behind each of them.
    for match in _LABEL.finditer(line, max(len(line) - _LONGEST_LABELLED, 0)):
        value = line[match.end() :]
        yield from _of_field(match[1], value)
        if match.end() < len(line):
            yield from _short(words(value))


def _of_field(name: str, value: str) -> Iterator[str]:
    """What a value tells because of its field's name or label."""
    if _BIRTH.search(name) or _BIRTH.search(value):
        yield from (f"{y:04}-{m:02}-{d:02}" for y, m, d in days_in(value) if y)
    if _ADDRESS.search(name):
        yield from _of_address(value)
    if _PASSWORD.search(name):
        run = words(value)
        if run and len(run) <= LONGEST_VALUE and len("".join(run)) >= SHORTEST_NUMBER:
            yield " ".join(run)
    number = told_sum(value)
    if number and (not name or name.rsplit(" ", 1)[-1].lower() not in _COUNTS):
        yield from _digits(number)


def _of_address(value: str) -> Iterator[str]:
    """The house in its street, and the whole address: it has more words than other short values."""
    run = words(value)
    if not 1 < len(run) <= _LONGEST_ADDRESS:
        return
    if any(map(has_digit, run)):
        yield " ".join(run)
    for part in re.split("[,;]", value):
        if has_digit(part):
            yield from _short(words(part))
            return  # what comes behind it is a town, and others live there


def _digits(number: str) -> Iterator[str]:
    """A number that a field holds, also without its decimals."""
    whole, _, decimals = number.partition(".")
    whole = whole.lstrip("0")
    if decimals and len(whole) >= SHORTEST_NUMBER:
        yield from (whole + decimals, whole + decimals.ljust(2, "0"))
    if len(whole) >= SHORTEST_NUMBER and not _YEAR.fullmatch(whole):
        yield whole


def _pieces(text: str) -> Iterator[str]:
    if looks_dated(text) and sum(map(str.isdigit, text)) < 9:
        return
    run = words(text)
    for word in run:
        if _is_code(word):
            yield word
            lettered = _LETTERED.fullmatch(word)  # `TR8841207`: the number alone is as good
            if lettered is not None and _DATE.fullmatch(lettered[1]) is None:
                yield lettered[1]
    for number in sums_in(text) if len(run) > 1 else ():
        yield from _digits(number)
    for match in _SAID_CODE.finditer(text):
        code = words(match[1])
        if sum(map(str.isdecimal, "".join(code))) >= SHORTEST_NUMBER:
            yield from dict.fromkeys((" ".join(code), "".join(code)))
    for spelling in other_spellings(text):  # a card's number, however it is grouped
        if _is_code(spelling) and len(spelling) > 8 and _DATE.match(spelling) is None:
            yield spelling
    yield from _short(run)
    if len(run) > 1:
        yield from _with_signs(text)
    for start in range(0, len(run) - _COPIED + 1, _STRIDE):
        yield " ".join(run[start : start + _COPIED])


def _short(run: list[str]) -> Iterator[str]:
    """A short value with a number in it, as a whole."""
    joined = "".join(run)
    if 1 < len(run) <= LONGEST_VALUE and any(map(str.isdigit, joined)) and len(joined) >= _SHORTEST:
        yield " ".join(run)
        if _is_code(joined):
            yield joined


_SHORTEST = 5


def _with_signs(text: str) -> Iterator[str]:
    """Codes of which a sign is a part: `kornblume-77-Ost`, `7741#93`, `F32.1`."""
    for word in text.split():
        word = word.strip(_EDGES)
        if word.isalpha() or "@" in word or "/" in word or sum(map(str.isdigit, word)) < 2:
            continue
        run = words(word)
        letters = any(part.isalpha() for part in run)
        if len(run) > 1 and (
            _DIAGNOSIS.fullmatch(word) or _SIGNS_INSIDE.search(word) or (letters and len(run) > 2)
        ):
            yield " ".join(run)


def _is_code(word: str) -> bool:
    return 6 <= len(word) <= 40 and not word.isalpha() and sum(map(str.isdigit, word)) >= 3
