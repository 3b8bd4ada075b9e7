"""How people are called for short: by the given name (`Mia`), or as `Mrs Stone`.

It names a person's record only where no other name of the same output has the word in it: of two
called Mia, neither is meant for sure.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from .naming import field_words, own_names, turned, without_title

MOST = 200
"""Records of an output of which it is told: in a long list, many are called alike."""

_MOST_BESIDE = 2_000

_REACHED = frozenset(
    "mail email phone mobile tel telephone cell telefon handy sms".split()  # noqa: SIM905
)
"""Words of fields that a record has of people, and not of things."""
_SMALL = r"(?:(?i:de|del|della|da|di|van|von|der|den|la|le|el|al|bin|zu)\s)*"
_WORD = r"[^\W\d_a-z][^\W\d_]*(?:['\u2019-][^\W\d_]+)*"
_PERSON = re.compile(rf"({_WORD})(?:\s{_WORD}\.?)??\s({_SMALL}{_WORD})")
_LONGEST = 80
_TITLES = ("Mr", "Mrs", "Ms", "Dr", "Herr", "Herrn", "Frau", "Monsieur", "Madame")
_SHORTEST = 3
_WORDS_TOO = frozenset(
    """will mark bill may art grace rose hope faith joy june april august summer dawn ivy lily jack
    rob pat sue drew chase grant frank penny rich ray gene dean guy max van new can the all team
    general main support info office""".split()  # noqa: SIM905 - one word a value reads better
)
"""Given names that are other words as well, and words with which no person's name begins."""


def called(rows: Sequence[object], all_rows: Iterable[object]) -> list[list[str]]:
    """Of each row what its person is called for short; `all_rows` are those beside them."""
    beside_them = list(islice(all_rows, _MOST_BESIDE + 1))
    if len(rows) > MOST or len(beside_them) > _MOST_BESIDE:
        return [[] for _ in rows]
    beside = Counter(
        word
        for row in beside_them
        for word in {w for name in _names(row) for w in name.casefold().replace(",", " ").split()}
    )
    return [_called(row, beside) for row in rows]


def _called(row: object, beside: Mapping[str, int]) -> list[str]:
    if not isinstance(row, dict) or not any(_REACHED & set(field_words(f)) for f in row):
        return []
    found: dict[str, None] = {}
    for name in _names(row):
        match = _PERSON.fullmatch(turned(name) or without_title(name))
        if match is None:
            continue
        given, family = match[1], match[2]
        word = given.casefold()
        if len(given) >= _SHORTEST and word not in _WORDS_TOO and beside[word] == 1:
            found.setdefault(given)
        if beside[family.casefold().split()[-1]] == 1:
            found.update(dict.fromkeys(f"{title} {family}" for title in _TITLES))
    return list(found)


def _names(row: object) -> list[str]:
    if not isinstance(row, dict):
        return []
    fields: dict[str, Any] = {str(f): v for f, v in row.items() if isinstance(v, str)}
    return [name.strip() for name in own_names(fields, frozenset()) if len(name) <= _LONGEST]
