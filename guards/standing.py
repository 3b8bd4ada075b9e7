"""Where a value stands in a thread, and whether that place is trusted.

The user's messages are, and the records that a policy's `trust` believes, as far as the user named
what they want to be named. Look-ups only: what was read is indexed in `seen.py`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from .dates import Day, day_of
from .folding import without_accents
from .identifiers import identifiers
from .seen import LONGEST_KEPT, RECORD_BITS, Index, Seen
from .sums import told_sum
from .tokens import Run, run_of, tokens, words

_SHORTEST_PLURAL = 4
"""Letters of a word whose plural is the same word; `new` and `news` are not."""
_SHORTEST_NAME = 4
_SHORT_WORD = 2
_FEWEST_WORDS = 4
"""Words of a text that is no name: there accents make no difference."""


def parts_of(value: str) -> set[float]:
    """The whole numbers that a value is made of: 10482 of `ORD-10482`."""
    return set(map(float, _GROUP.findall(value[:_LONGEST_ID])))


_GROUP = re.compile(r"(?<![0-9])[0-9]{3,12}(?![0-9])")
_LONGEST_ID = 100


@dataclass(slots=True)
class _Asked:
    """What so many entries say of names, ids and short values: many records want to be named by the
    same ones, and one value may stand in a call again and again."""

    entries: int
    stated: dict[Run, bool] = field(default_factory=dict)
    places: dict[tuple[Run, bool, bool], frozenset[int]] = field(default_factory=dict)
    unknown: set[tuple[Run, bool, tuple[frozenset[str], ...]]] = field(default_factory=set)
    """Runs that are not known, with whether doubts counted and what was spoken of."""
    counts: dict[tuple[int, int], bool] = field(default_factory=dict)
    """Whether a record that wants to be named counts, by its place and the hops that are left."""
    named: dict[tuple[str, frozenset[str]], bool] = field(default_factory=dict)
    in_text: dict[Run, bool] = field(default_factory=dict)
    texts: dict[int, bool] = field(default_factory=dict)
    """Whether the user named the record whose text stands at a place."""
    givers: dict[tuple[Run, int], Set[int]] = field(default_factory=dict)
    by_user: dict[Run, frozenset[int]] = field(default_factory=dict)
    """The messages of the user in which a name stands."""


class Standing(list[dict[str, Any]]):
    """The entries of a ledger, of which it is told what stands where."""

    __slots__ = ("_asked", "_seen", "gap")

    _seen: Seen
    _asked: _Asked | None
    gap: str
    """What of the thread was not seen, in words; then any text may hold private data."""

    @property
    def _index(self) -> Index:
        index = self._seen.index
        return self._seen.ready() if index is None or index.known < len(self) else index

    def stated(self, value: str) -> bool:
        """Whether the user wrote `value`, whole, in this thread; too short a value never counts."""
        run = run_of(value)
        if not run.telling:
            return False
        known = self._asked_now.stated if len(value) <= LONGEST_KEPT else {}
        if run not in known:
            known[run] = not self._index.of_user.isdisjoint(self._occurrences(run))
        return known[run]

    def places(self, value: str, *, doubts: bool = False) -> frozenset[int]:
        """The messages of the user and trusted records that hold `value`, however short it is.

        Of a record that the user's request has to name also the message that names it: `Ann` stands
        there for the number of her account, though not for a sum.
        """
        run, money = run_of(value), bool(told_sum(value))
        known = self._asked_now.places if len(value) <= LONGEST_KEPT else {}
        if (run, money, doubts) not in known:
            known[run, money, doubts] = self._places(run, money, doubts)
        return known[run, money, doubts]

    def _places(self, run: Run, money: bool, doubts: bool) -> frozenset[int]:
        found = self._occurrences(run) if run.tokens else ()
        counted = frozenset(place for place in found if self._counts(place, doubts))
        if money:
            return counted
        index, wanting = self._index, self._index.wanting
        # Many records are named by the same messages: each of these sets is put in once.
        return counted.union(
            *{self._naming(names) for p in counted & wanting.keys() for names in wanting[p]},
            *(index.referring(p, len(self)) for p in counted & index.loosely.keys()),
        )

    def _naming(self, names: Sequence[str]) -> frozenset[int]:
        """The messages of the user in which all of these names stand."""
        each = [self._messages(run_of(name)) for name in names]
        return each[0].intersection(*each[1:]) if each else frozenset()

    def _messages(self, run: Run) -> frozenset[int]:
        known = self._asked_now.by_user
        if run not in known:
            known[run] = frozenset(self._index.of_user.intersection(self._occurrences(run)))
        return known[run]

    def stated_number(self, value: str, *, about: Sequence[Set[str]] = ()) -> bool:
        """Whether the user wrote a short number with a `#`, or beside what the call speaks of."""
        value = value.strip().removeprefix("#")
        if value[-1:] == "0" and "." in value:  # `395.00`
            value = value.rstrip("0").rstrip(".")
        beside, end = self._index.numbered.get(value, {}), len(self)
        return any(beside.get(word, end) < end for word in chain("#", *about if beside else ()))

    def stated_plainly(self, value: str) -> bool:
        """Whether the user wrote a text of several words, in which nothing points anywhere, but
        for its accents and signs."""
        if len(run_of(value).tokens) < _FEWEST_WORDS or any(identifiers(value)):
            return False
        return self._wrote_plainly(value)

    def stated_code(self, value: str) -> bool:
        """Whether the user wrote a code of two capital letters (`NY`)."""
        return self._index.codes.get(value.casefold(), len(self)) < len(self)

    def stated_amount(self, number: float) -> bool:
        """Whether the user wrote the number as a sum of money, however short it is."""
        return self._index.amounts.get(" ".join(tokens(f"{number:.10g}")), len(self)) < len(self)

    def priced(self, value: str) -> frozenset[int]:
        """The messages of the user that hold `value` and a sum of money: what it may cost is said
        there, and what other records say of it is not asked."""
        sums = self._index.sums
        return self.places(value).intersection(sums) if sums else frozenset()

    def tells_sum(self, place: int, numbers: Set[float]) -> bool:
        """Whether one of the numbers is a sum that stands at a place; so it is where none does."""
        sums = self._index.sums.get(place)
        return not sums or not numbers or not sums.isdisjoint(numbers)

    def ceiling(self, value: str, *, doubts: bool = False, small: bool = False) -> float:
        """The largest number in a message of the user or trusted record that holds `value`; of a
        message with sums of money the largest of these.

        Minus infinity where none does. Whole numbers that may be a year are left out, and those
        that the value itself is made of. `small`: in hundredths, as an argument takes them that is
        called so; whole numbers of a record may be hundredths already, as what a user calls so is.
        """
        index = self._index
        places, parts = self.places(value, doubts=doubts), parts_of(value)
        found = (
            n * 100 if small and (n % 1 if p not in index.small else n not in index.small[p]) else n
            for p in places
            for n in index.sums.get(p) or index.numbers.get(p) or ()
            if n not in parts
        )
        return max(found, default=-math.inf)

    def places_of_sum(self, number: float) -> frozenset[int]:
        """Where a sum of so many hundredths stands: as people write it in messages of the user, and
        as it is in a trusted record and in what the user says to be hundredths."""
        major, small = number / 100, self._index.small
        said = self.places(f"{major:.10g}", doubts=True) & small.keys()
        told = self.places(f"{number:.10g}", doubts=True)
        return frozenset(p for p in said if major not in small[p]).union(
            p for p in told if p not in small or number in small[p]
        )

    def dated(self, day: Day, *, doubts: bool = False) -> bool:
        """Whether the user or something trusted wrote the day, in the year if one is with it."""
        return self._any(self._index.places_of(day), doubts)

    def knows_word(self, word: str, *, doubts: bool = False) -> bool:
        """Whether one word (lower case, no signs) stands in something trusted, in the singular or
        the plural, with its accents or without."""
        table = self._index.words
        if self._any(table.get(word), doubts):
            return True
        if not word.isascii():
            word = without_accents(word)
            if self._any(table.get(word), doubts):
                return True
        other = word[:-1] if word[-1:] == "s" else word + "s"
        short = min(len(word), len(other)) < _SHORTEST_PLURAL or not word.isalpha()
        return not short and self._any(table.get(other), doubts)

    def names_host(self, host: str, *, doubts: bool = False) -> bool:
        """Whether the user or a trusted text names the host (as `host_of` gives it)."""
        return self._any(self._index.hosts.get(host), doubts)

    def _occurrences(self, run: Run) -> Iterable[int]:
        seen, end = self._index, len(self) << RECORD_BITS
        found = seen.occurrences(run.tokens, run.key, end)
        if not run.joined:
            return found
        return chain(found, seen.occurrences((run.joined,), run.joined, end))

    def _any(self, places: list[int] | None, doubts: bool) -> bool:
        end = len(self) << RECORD_BITS
        return places is not None and any(p < end and self._counts(p, doubts) for p in places)

    def _counts(self, place: int, doubts: bool, hops: int = 2) -> bool:
        """Whether the place is trusted: what its record wants the user to have named was named, or
        it was looked up by an id that another trusted record gave."""
        seen = self._index
        if not doubts and place in seen.doubtful:
            return False
        wanted = seen.wanting.get(place)
        if wanted is None:
            return True
        known = self._asked_now.counts
        if (place, hops) not in known:
            known[place, hops] = self._is_named(place, wanted, hops)
        return known[place, hops]

    def _is_named(self, place: int, wanted: Iterable[Sequence[str]], hops: int) -> bool:
        seen, entry = self._index, place >> RECORD_BITS
        about = seen.about[entry]
        if any(self._all_named(names, about) for names in wanted if names):
            return True
        if place in seen.loosely and any(True for _ in seen.referring(place, len(self))):
            return True
        ids = seen.looked_up.get(place, ()) if hops > 0 else ()
        return any(not self._givers(run_of(value), hops - 1) <= {entry} for value in ids)

    def _all_named(self, names: Sequence[str], about: frozenset[str]) -> bool:
        """Whether the user wrote all that names a record; a word that is too short to tell anything
        alone (`Li`) counts where it stands, beside one that tells."""
        short = [name for name in names if not self._named(name, about)]
        return len(short) < len(names) and all(map(self._stands, short))

    def _stands(self, name: str) -> bool:
        run = run_of(name)
        return len(run.key) == _SHORT_WORD and run.key.isalpha() and bool(self._messages(run))

    def _givers(self, run: Run, hops: int) -> Set[int]:
        """Entries with a trusted record that gives an id: at most two, for one may be who asks."""
        known = self._asked_now.givers
        if (run, hops) not in known:
            found: set[int] = set()
            for place in self._occurrences(run) if run.telling else ():
                entry = place >> RECORD_BITS
                if entry not in found and self._counts(place, False, hops):
                    found.add(entry)
                    if len(found) == 2:
                        break
            known[run, hops] = found
        return known[run, hops]

    @property
    def _asked_now(self) -> _Asked:
        asked = self._asked
        if asked is None or asked.entries != len(self):
            asked = self._asked = _Asked(len(self))
        return asked

    def _named(self, name: str, about: frozenset[str]) -> bool:
        """Whether the user wrote the name (with accents or without), or it stands in a text of
        which the same holds; a short number beside what its source speaks of."""
        known = self._asked_now.named
        if (name, about) not in known:
            known[name, about] = (
                self.stated(name)
                or self.stated_number(name, about=(about,))
                or self._wrote_plainly(name)
                or self._wrote_day(name)
                or self._in_named_text(run_of(name))
            )
        return known[name, about]

    def _wrote_day(self, name: str) -> bool:
        """Whether a name is a day that the user wrote: of an entry of a diary."""
        day = day_of(name) if name[:1].isdigit() else None
        if day is None:
            return False
        index, end = self._index, len(self) << RECORD_BITS
        return any(p < end and p in index.of_user for p in index.places_of(day))

    def _in_named_text(self, run: Run) -> bool:
        known = self._asked_now.in_text
        if run not in known:
            known[run] = any(map(self._is_named_text, self._occurrences(run)))
        return known[run]

    def _is_named_text(self, place: int) -> bool:
        known, seen = self._asked_now.texts, self._index
        if place not in seen.texted or place in seen.doubtful:
            return False
        if place not in known:
            wanted = seen.wanting.get(place, ())
            known[place] = any(all(map(self.stated, names)) for names in wanted if names)
        return known[place]

    def _wrote_plainly(self, name: str) -> bool:
        """Whether a name stands in a message of the user's, if accents make no difference: they
        are left out in names, and whoever can name a record can name it exactly so, too."""
        index, end = self._index, len(self)
        if name.isascii() and not index.accents:
            return False
        run = " ".join(words(without_accents(name)))
        return len(run) >= _SHORTEST_NAME and any(
            f" {run} " in text for entry, text in index.user_plainly if entry < end
        )
