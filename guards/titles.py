"""How people refer to a thing by less than its whole title: by its words in another order (`the
Weiss expert report`), by most of them (`the ski trip`), by what it is (`the petition`).

It names a record only where no other name of the same output would do as well: of two reports,
`the report` is neither for sure. Single words name nothing without an article before them, for
they stand in many messages by accident.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, islice, pairwise
from typing import Any, NamedTuple

from .folding import without_accents
from .groups import groups_in, said_of, stem
from .naming import bare_title, own_names
from .numerals import MONTHS
from .tokens import words

MOST = 200
"""Records of an output of which it is told."""
_MOST_BESIDE = 2_000
_MOST_WORDS = 8
"""Words of a title: of a longer one, nobody can say which are the telling ones."""
_SHORTEST_HEAD = 4
_LONGEST = 120
_DATES = re.compile(r"\b\d{4}-\d{1,2}(?:-\d{1,2})?\b|\b\d{1,2}\.\d{1,2}\.(?:\d{2,4})?")
_SIZES = re.compile(
    r"\b\d+(?:[.,]\d+)? ?(?:g|kg|mg|ml|cl|l|mm|cm|m|oz|lbs?|pcs|pack|inch)\b", re.IGNORECASE
)
_BREAK = re.compile(r"[(\[,:;|/\u2013\u2014]| - ")
_BETWEEN = frozenset(
    """for of to with in on at by from about v vs versus fur von zu mit im am uber de du des pour
    per""".split()  # noqa: SIM905 - one word a value reads better
)
"""Words behind which a title says more of what it names."""
_MONTHS = frozenset(map(without_accents, MONTHS))
_ADDRESSING = frozenset("mr mrs ms miss dr prof herr herrn frau".split())  # noqa: SIM905
_OF_COMPANIES = frozenset("ltd inc llc plc gmbh ag co corp sa bv ab oy kg".split())  # noqa: SIM905
_TELLS_NOTHING = frozenset("a an the my our your his her its their and".split()).union(  # noqa: SIM905
    _BETWEEN, _ADDRESSING, _OF_COMPANIES
)
ARTICLES = frozenset(
    "the this that these those my our your his her their its der die das den dem des".split()  # noqa: SIM905
)
"""Words that say that one certain thing is meant."""

_NO_HEAD = frozenset(
    """day week month year time morning evening night weekend today end moment hour minute thing way
    case rest same following next last first other""".split()  # noqa: SIM905 - reads better
)
"""What has an article in many messages that mean nothing of the kind."""

Ways = tuple[list[str], list[str]]
"""Words of which a message must have all near each other, and words with an article."""


def referred(
    rows: Sequence[tuple[object, Sequence[str]]], all_rows: Iterable[Mapping[str, Any]]
) -> list[Ways]:
    """For each row (with its names) how a message may refer to it; `all_rows`: those beside them.

    Parts of a row have no say in what names it.
    """
    beside = list(islice(all_rows, _MOST_BESIDE + 1))
    if len(rows) > MOST or len(beside) > _MOST_BESIDE:
        return [([], []) for _ in rows]
    bearers: dict[str, set[int]] = {}
    others = ((row, own_names(row, frozenset())) for row in beside)
    for one, names in chain[tuple[object, Iterable[str]]](rows, others):
        for word in chain.from_iterable(map(_telling, filter(_is_short, names))):
            bearers.setdefault(word, set()).add(id(one))
    bearing = _Bearing(bearers)
    return [_ways(row, names, bearing) for row, names in rows]


@dataclass(slots=True)
class _Bearing:
    """What bears each word in a title: records and their parts, by their `id`."""

    of: Mapping[str, set[int]]
    counts: dict[frozenset[str], int] = field(default_factory=dict)
    """How many bear all of some words: told once, for the same titles stand in many rows."""

    def only(self, some: Iterable[str], own: set[int]) -> bool:
        """Whether nothing but these bears all of the words."""
        words = frozenset(some)
        if self.counts.get(words, 0) > len(own):
            return False
        found = set.intersection(*(self.of[word] for word in words))
        self.counts[words] = len(found)
        return found <= own


def _ways(row: object, names: Sequence[str], bearing: _Bearing) -> Ways:
    own = {id(row), *_parts(row)}
    near: dict[tuple[str, ...], None] = {}
    heads: dict[str, None] = {}
    for name in filter(_is_short, names):
        telling = _telling(name)
        for some in _most_of(telling):
            if bearing.only(some, own):
                near.setdefault(some)
        head = _head(name)
        if head and bearing.of.get(head, own) <= own:
            heads.setdefault(head)
    return list(map(" ".join, near)), list(heads)


def _parts(row: object, depth: int = 6) -> Iterator[int]:
    """What stands below a row."""
    inner = row.values() if isinstance(row, dict) else row if isinstance(row, list) else ()
    for item in inner if depth else ():
        if isinstance(item, dict | list):
            yield id(item)
            yield from _parts(item, depth - 1)


def _is_short(name: str) -> bool:
    """Whether it is a title; a longer text is kept in no cache."""
    return len(name) <= _LONGEST


@lru_cache(maxsize=2_048)
def _telling(name: str) -> tuple[str, ...]:
    """The words of a title that tell it from others; none where they are too many."""
    found = [word for word in words(_bare(name)) if word not in _TELLS_NOTHING]
    if any(word in _MONTHS for word in found):  # `Museum trip on 9 December`
        found = [w for w in found if w not in _MONTHS and not w.isdecimal()]
    return tuple(dict.fromkeys(map(stem, found))) if len(found) <= _MOST_WORDS else ()


def _most_of(telling: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """All of its words, and each run of more than half of them: two at least."""
    size = len(telling)
    for count in range(size, max(size // 2, 1), -1):
        for start in range(size - count + 1):
            yield tuple(telling[start : start + count])


@lru_cache(maxsize=2_048)
def _head(name: str) -> str:
    """What a title says that it is: `petition` of `Petition for probate`; in English and German the
    last word before more is said of it."""
    head = ""
    begun = _BREAK.split(_bare(name), maxsplit=1)[0]
    for word in words(begun):
        if word in _BETWEEN or (head and word in _ADDRESSING):  # `Dentist Dr. Wolf`
            break
        if word.isalpha() and word not in _TELLS_NOTHING and word not in _MONTHS:
            head = stem(word)
    return head if len(head) >= _SHORTEST_HEAD and head not in _NO_HEAD else ""


def _bare(name: str) -> str:
    """A title without days, sizes and accents."""
    return without_accents(_SIZES.sub(" ", _DATES.sub(" ", bare_title(name))))


class Referred(NamedTuple):
    """The ways in which a message may refer to one record."""

    near: Sequence[frozenset[str]]
    the: Sequence[str]
    kinds: frozenset[str]
    """Values of its own, of which a message may mean all."""


@dataclass(slots=True)
class Heard:
    """The words of the user's messages, in which references are looked for."""

    runs: list[tuple[int, list[str]]] = field(default_factory=list)
    """Each message's entry and its words, without a plural's s."""
    at: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    """Where a word stands: in which of them, and behind how many others."""
    certain: dict[str, list[int]] = field(default_factory=dict)
    """Words behind an article: the entries of the messages where each stands so."""
    groups: list[tuple[int, frozenset[str]]] = field(default_factory=list)
    """What those messages say all of that say so."""

    def listen(self, messages: Sequence[tuple[int, str]]) -> None:
        """Take in those that are new."""
        for entry, text in messages[len(self.runs) :]:
            run = list(map(stem, text.split()))
            for place, word in enumerate(run):
                self.at.setdefault(word, []).append((len(self.runs), place))
            for before, word in pairwise(run):
                if before in ARTICLES:
                    self.certain.setdefault(word, []).append(entry)
            self.runs.append((entry, run))
            if said := groups_in(run):
                self.groups.append((entry, said))

    def referring(self, to: Referred, beside: Set[str]) -> Iterator[int]:
        """The messages that refer to what has these ways to do so; `beside`: the values of all
        records that came with it."""
        for word in to.the:
            yield from self.certain.get(word, ())
        for some in to.near:
            if some <= self.at.keys():
                yield from self._with(some)
        if to.kinds and self.groups:
            yield from said_of(self.groups, to.kinds, beside)

    def _with(self, some: frozenset[str]) -> Iterator[int]:
        """The messages in which all of these words stand near each other."""
        span = len(some) + (_LOOSE if len(some) > _PAIR else 1)
        rarest = min((self.at[word] for word in some), key=len)
        for number, place in rarest[:_MOST_PLACES]:
            entry, run = self.runs[number]
            starts = range(max(place - span, -1) + 1, place + 1)
            if any(some.issubset(run[n : n + span]) for n in starts):
                yield entry


_PAIR, _LOOSE = 2, 4
_MOST_PLACES = 100
