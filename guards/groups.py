"""All of a kind: `all invitations from Dana Okafor`, `everybody in Elm Court`, `everything due on
3 December`.

Where a look-up gives several records, such words name those of them that have the value in a field
of their own; where they say more that only some of the records have (`from Dana on 3 December`),
those that have all of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import lru_cache

from .dates import day_of, days_in
from .folding import without_accents
from .tokens import words

_ALL = frozenset(
    """all every everybody everyone everything each both alle allen aller jede jeden jedem jeder
    tous toute toutes todo toda tutti tutte""".split()  # noqa: SIM905 - one word a value reads better
)
_WHOSE = frozenset(
    """from of in at on with for due about under von vom aus in im am bei mit fur de du des da di
    del""".split()  # noqa: SIM905 - one word a value reads better
)
"""Words behind which a message says of which kind."""
_ARTICLES = frozenset("the a an our my der die das dem den le la el il".split())  # noqa: SIM905
_FAR = 8
"""Words between `all` and what it is all of."""
_LONGEST = 4
"""Words of a value."""
_MOST_CHARS = 60
_MOST_VALUES = 12
_MOST_PLACES = 50
_SHORTEST = 3


def stem(word: str) -> str:
    """A word without a plural's s."""
    plural = word[-1:] == "s" != word[-2:-1] and len(word) > _SHORTEST + 1
    return word[:-1] if plural else word


def kinds_of(row: Mapping[str, object]) -> list[str]:
    """The short values of a record's own fields, as `groups_in` gives them."""
    found: dict[str, None] = {}
    for value in row.values():
        for item in value.values() if isinstance(value, dict) else (value,):
            if isinstance(item, str) and len(item) <= _MOST_CHARS and (kind := _kind(item)):
                found.setdefault(kind)
    return list(found)[:_MOST_VALUES]


@lru_cache(maxsize=2_048)
def _kind(value: str) -> str:
    day = day_of(value) if value[:1].isdigit() else None
    if day is not None:
        return _dated(day[1], day[2])
    run = [stem(word) for word in words(without_accents(value))]
    text = " ".join(run)
    telling = len(run) <= _LONGEST and len(text) >= _SHORTEST and any(map(str.isalpha, text))
    return text if telling else ""


def groups_in(run: Sequence[str]) -> frozenset[str]:
    """What a message (its words, without a plural's s) says all of: values that may be meant."""
    starts = [n for n, word in enumerate(run) if word in _ALL][:_MOST_PLACES]
    return frozenset(kind for n in starts for kind in _behind(run[n + 1 : n + 1 + _FAR + _LONGEST]))


def _behind(run: Sequence[str]) -> Iterator[str]:
    for place, word in enumerate(run[:_FAR]):
        if word in _WHOSE:
            said = run[place + 1 :]
            said = said[1:] if said and said[0] in _ARTICLES else said
            yield from (" ".join(said[:size]) for size in range(1, min(len(said), _LONGEST) + 1))
            yield from (_dated(month, day) for _, month, day in days_in(" ".join(said[:3])))


def _dated(month: int, day: int) -> str:
    return f"--{month:02}-{day:02}"


def said_of(
    said: Iterable[tuple[int, frozenset[str]]], own: frozenset[str], beside: Set[str]
) -> Iterator[int]:
    """The messages (each with what it says all of) that mean a record with these values; `beside`:
    those of all the records that came with it."""
    for entry, groups in said:
        meant = groups & beside
        if meant and meant <= own:
            yield entry
