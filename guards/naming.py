"""How a person names a record of a tool's output: by its title, by its name, by its number.

A record is named by what is its own: `title`, `displayName`, `id`, of `list_invoices` also
`invoiceNumber`. What names another thing (`customer_id` of an invoice, `from_name` of a mail) names
it only where a policy says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from .tokens import subjects, telling, tokens

Steps = tuple[str, ...]
"""A field of a record, or the way to one below it."""

MAX_CHARS = 400
"""Characters of a name."""

_WORD = re.compile(r"[^\W\d_]+")
_HUMP = re.compile(r"(?<=[^\W\d_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NAMES = frozenset(
    """name title filename subject path summary headline
    titel betreff dateiname bezeichnung nom titre objet nombre titulo título asunto nome titolo
    oggetto assunto naam onderwerp namn navn""".split()  # noqa: SIM905 - one word a value reads better
)
"""Last words of the fields by which people name a record."""
_NUMBERS = frozenset(
    "id key number no nr code ref reference nummer uuid pnr sku isbn ean vin".split()  # noqa: SIM905
)
_OF_ITSELF = frozenset({"display", "full", "file", "short", "long", "common"})
"""Words before a name that leave it the record's own."""
_FIRST = frozenset({"first", "given", "vor", "vorname", "prénom", "prenom"})
_LAST = frozenset({"last", "family", "sur", "surname", "nach", "nachname", "nom"})
_ENDING = re.compile(r"\.\w{1,5}\Z")
_ADDRESSED = re.compile(
    r"\A(?:Mrs?|Ms|Miss|Dr|Prof|Herrn?|Frau|Mme|Sr|Sra)\.? (?=\S+ \S)", re.IGNORECASE
)
"""Before a given name and a family's: `Mr Emre Kaya`."""
_TURNED = re.compile(r"([^,\d]{2,60}), ?([^,\d]{2,60})")
_SHORTEST = 4
_MOST_PARTS = 20
_DEEPEST = 20
"""Lists within one another that are looked through."""


def names_of(row: object, tool: str, fields: Sequence[Steps] | None = None) -> list[str]:
    """How a person may name a record: `fields` says by what, otherwise all that is its own."""
    if not isinstance(row, dict):
        return []
    found: dict[str, None] = {}
    about = subjects(tool)
    given = own_names(row, about) if fields is None else _named_by(row, fields)
    for name in given:
        for text in _spellings(name):
            if fields is not None or len(" ".join(tokens(text))) >= _SHORTEST:
                found.setdefault(text)
    return list(found)


def wholes_of(row: object, fields: Sequence[Steps]) -> Iterator[list[str]]:
    """What a person says of a record that one of the fields describes in parts (`options`: a colour
    and a size): all of them, short ones behind what they are (`size M`)."""
    for steps in fields if isinstance(row, dict) else ():
        for value in values_in(row, steps):
            if isinstance(value, dict) and 0 < len(value) <= _MOST_PARTS:
                yield [_part(str(field), part) for field, part in value.items()]


def _part(field: str, part: object) -> str:
    if isinstance(part, bool) or not isinstance(part, str | int | float):
        return ""  # nobody can name it so
    text = str(part)[: MAX_CHARS + 1]
    return text if telling(tokens(text)) else f"{bare_title(field)} {text}"


def own_names(row: Mapping[str, Any], about: frozenset[str]) -> Iterator[str]:
    """The values of the fields that name a record; `about`: what its tool speaks of."""
    first = last = ""
    for words, value in _fields(row):
        rest = {word.removesuffix("s") for word in words[:-1]}
        if (words[-1] in _NAMES and rest <= _OF_ITSELF | about) or _is_number(words, about, value):
            yield str(value)
        if words[-1] in ("name", *_FIRST, *_LAST):
            first = first or (str(value) if _FIRST.intersection(words) else "")
            last = last or (str(value) if _LAST.intersection(words) else "")
    if first and last:
        yield f"{first} {last}"


def is_number_of(field: str) -> bool:
    """Whether a field is, by its name, the number of a thing, or of several: `order_id`,
    `invoiceNumbers`."""
    words = field_words(field)
    return bool(words) and (words[-1] in _NUMBERS or words[-1].removesuffix("s") in _NUMBERS)


def own_numbers(row: object, tool: str) -> set[str]:
    """The numbers of a record: `id`, of an order also `orderId`."""
    if not isinstance(row, dict):
        return set()
    about = subjects(tool)
    return {str(value) for words, value in _fields(row) if _is_number(words, about, value)}


def _is_number(words: Sequence[str], about: frozenset[str], value: str | int) -> bool:
    """Whether a field holds the record's own number; `reference: payment` is none."""
    own = words[-1] in _NUMBERS and {word.removesuffix("s") for word in words[:-1]} <= about
    return own and any(map(str.isdigit, str(value)))


def field_words(field: str) -> tuple[str, ...]:
    """The words of a field's name, in lower case."""
    return _field_words(field[:80])


@lru_cache(maxsize=1_024)
def _field_words(field: str) -> tuple[str, ...]:
    return tuple(word.lower() for word in _WORD.findall(_HUMP.sub(" ", field)))


def _fields(row: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], str | int]]:
    """The words of each field's name, and its value where that is a text or a whole number."""
    for field, value in row.items():
        words = field_words(str(field))
        if words and isinstance(value, str | int) and not isinstance(value, bool):
            yield words, value


def _named_by(row: Mapping[str, Any], fields: Sequence[Steps]) -> Iterator[str]:
    for steps in fields:
        for value in values_in(row, steps):
            if isinstance(value, str | int) and not isinstance(value, bool):
                yield str(value)


def _spellings(name: str) -> Iterator[str]:
    """The name, also without the ending of a file, and with the family's name behind."""
    if len(name) > MAX_CHARS:
        return
    yield from (name, _ENDING.sub("", name), bare_title(name), without_title(name))
    if other := turned(name):
        yield other


def turned(name: str) -> str:
    """`Stone, Mia` as `Mia Stone`; empty where a name is not written so."""
    found = _TURNED.fullmatch(name)
    return f"{found[2]} {found[1]}" if found is not None else ""


def without_title(name: str) -> str:
    """The name of a person without what stands before it: `Mr Emre Kaya`."""
    return _ADDRESSED.sub("", name)


def bare_title(name: str) -> str:
    """A title without the ending of a file, with blanks for what stands for them in file names."""
    return re.sub(r"[-_]+", " ", _ENDING.sub("", name))


def steps_to(field: str) -> Steps:
    """A field as a policy writes it (`organizer.email`), step by step."""
    return tuple(field.split("."))


def values_in(row: object, steps: Steps, depth: int = _DEEPEST) -> Iterator[object]:
    """What stands at a path below a record, through lists; a field may have dots in its name.

    A list that is within too many others counts as what stands there.
    """
    if isinstance(row, list) and depth:
        for item in row:
            yield from values_in(item, steps, depth - 1)
    elif not steps:
        yield row
    elif isinstance(row, dict):
        whole = ".".join(steps)
        if len(steps) > 1 and whole in row:
            yield row[whole]
        elif steps[0] in row:
            yield from values_in(row[steps[0]], steps[1:], depth)
