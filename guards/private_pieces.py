"""Private pieces that were seen, and whether a text holds one, in whatever disguise.

Nearly no text does: that is told in a few steps, on the words of the text and of all that it says
decoded; only where something could be a piece is each reading looked at by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from .dates import Day, day_of, days_in
from .disguises import MAX_CHARS, coded_runs, roughly_said, undisguised
from .parts import Parts
from .spoken import SPOKEN, plain_digits, signs_said, spelt_out
from .sums import grouped
from .tokens import words

LONGEST_CODE = 40
SHORTEST_CODE = 6
_GROUP = 3
"""Digits of a group of thousands."""
_EVER = 1 << 60
MAX_CODED = 200
"""Characters of a word in which codes are looked for."""

_KEPT = 300
"""Characters up to which a text without private pieces is kept."""
_MOST_AT_ONCE = 5_000
"""Characters of values that are looked through at once: no bound on one text is hit by them."""
_MOST_KEPT = 256

_DIGIT = re.compile(r"\d")
_MIRRORED = re.compile(
    "[\x00-\x7f\u00c0-\u012f\u0131\u0134-\u013e\u0141-\u0148\u014a-\u017e\u0391-\u03a1"
    "\u03a3-\u03ce\u0410-\u044f\u2013\u2014\u2018\u2019\u201c\u201d\u2022\u2026\u20ac\u2192]*"
)
"""Texts that folding leaves as they are; their words backwards are those of the text backwards."""
_NOTHING: Mapping[str, int] = {}


@dataclass(slots=True)
class PrivatePieces:
    """The index of a ledger's private pieces; a place in it is the number of an entry."""

    by_word: dict[str, dict[str, int]] = field(default_factory=dict)
    """All of them by the word that tells most, each with the entry in which it stands first."""
    spans: dict[str, set[tuple[int, int]]] = field(default_factory=dict)
    """Where that word stands in a piece, and how many words the piece has: few pairs, however many
    pieces there are."""
    backwards: set[str] = field(default_factory=set)
    """Their telling words, backwards."""
    watched: set[str] = field(default_factory=lambda: set(SPOKEN))
    """Words without which no piece stands in a text, if it has no digits and no long words."""
    shortest: int = MAX_CHARS
    """Characters of the shortest of them."""
    heads: set[str] = field(default_factory=set)
    """How private pieces of one word begin: their first one, two and three characters."""
    tails: set[str] = field(default_factory=set)
    """The same, backwards."""
    code_sizes: set[int] = field(default_factory=set)
    """The lengths of those that are one word."""
    fewest_digits: int = LONGEST_CODE
    """Digits of the piece of one word that has the fewest."""
    wide: bool = False
    """Whether one of them holds more than ASCII."""
    days: dict[Day, int] = field(default_factory=dict)
    """Days that are private, each with the entry in which it stands first."""
    parts: Parts = field(default_factory=Parts)
    """What counts as much as the whole of some of them."""
    grouped: dict[str, str] = field(default_factory=dict)
    """Private pieces of several words, by what they are without the blanks."""
    added: int = 0
    """How often one was added."""
    free: dict[str, int] = field(default_factory=dict)
    """Short texts in which there was none, each with `added` of that time: what an argument says
    that has a handful of values is looked through once."""

    def add(self, piece: str, number: int) -> None:
        """Index one piece of an entry."""
        day = day_of(piece) if "-" in piece else None
        if day is not None:
            self.days.setdefault(day, number)
            self.added += 1
            return
        run = piece.split(" ")
        # Prose is full of `the`; a number or a long word stands in few texts.
        at = max(range(len(run)), key=lambda n: (not run[n].isalpha(), len(run[n])))
        word = run[at]
        self.by_word.setdefault(word, {}).setdefault(piece, number)
        self.spans.setdefault(word, set()).add((at, len(run)))
        self.backwards.add(word[::-1])
        self.watched.update((word, word[::-1]))
        self.shortest = min(self.shortest, len(piece))
        self.wide = self.wide or not piece.isascii()
        if len(run) > 1:
            self.grouped.setdefault("".join(run), piece)
        else:
            heads = piece[:1], piece[:2], piece[:3]
            self.heads.update(heads)
            self.tails.update(head[::-1] for head in heads)
            self.code_sizes.add(len(piece))
            self.parts.add(piece, number)
            self.fewest_digits = min(self.fewest_digits, count_digits(piece.encode()))
        self.added += 1  # last: a text that is looked through meanwhile is looked through again

    def found_in(self, text: str, end: int) -> Iterable[str]:
        """Private pieces in `text`, in any disguise, that were observed before the entry `end`."""
        added = self.added
        if not added or self.free.get(text) == added:
            return ()
        # A `_` may stand for a blank or a hyphen of a code.
        plain = text.replace("_", " ") if "_" in text else ""
        more = tuple(self.found_in(plain, end)) if plain else ()
        found = words(text)
        # Nearly always there is none; that is told in a few steps.
        if self._is_free(found, text):
            # Where there is none before this end, there may be one before another.
            if not plain or self.free.get(plain) == added:
                self._keep(text, added)
            return more
        others = undisguised(text, least=self.shortest)
        if not text.isascii():
            others.insert(0, plain_digits(text[:MAX_CHARS]))
        spelt = spelt_out(found) if self.heads else ()
        rest = self._each_piece((text[:MAX_CHARS][::-1], *others, *spelt), end, text, found)
        return (*more, *rest) if more else rest

    def has_none(self, text: str) -> bool:
        """Whether there is none in a text, whenever it was observed, as far as that is easily told.

        Then there is none in any line of it, either: of many values at once it is told in one step.
        """
        added = self.added
        if not added or self.free.get(text) == added:
            return True
        if len(text) > _MOST_AT_ONCE or not self._is_free(words(text), text):
            return False
        if "_" in text and not self.has_none(text.replace("_", " ")):
            return False
        self._keep(text, added)
        return True

    def _keep(self, text: str, added: int) -> None:
        """Note that there was none in the text when so many had been added."""
        if len(text) <= _KEPT:
            if len(self.free) >= _MOST_KEPT:
                self.free.clear()
            self.free[text] = added

    def _is_free(self, found: list[str], text: str) -> bool:
        """Whether there is none, in any disguise, as far as that is easily told."""
        if text.isascii():
            raw = text.encode()
        elif self.wide or _MIRRORED.fullmatch(text) is None:
            return False
        else:
            raw = text.encode("ascii", "replace")
        digits = count_digits(raw)
        if not self._has_no_code(found, digits, self.heads, self.tails):
            return False
        if self.days and digits and next(self._days_in(text, _EVER), None) is not None:
            return False
        if digits >= self.parts.fewest_digits:
            whole = "".join(found)
            if any(self.parts.may_be_in([w], digits) for w in (whole, whole[::-1])):
                return False
        hits = self.watched.intersection(found)
        if hits:
            if not (self.by_word.keys().isdisjoint(hits) and self.backwards.isdisjoint(hits)):
                return False
            if self.heads and not self._spells_none(found, hits, digits):
                return False
        if digits and grouped(text):  # backwards its numbers may be others
            mirrored = words(text[:MAX_CHARS][::-1])
            if not self.by_word.keys().isdisjoint(mirrored):
                return False
            if not self._has_no_code(mirrored, digits, self.heads):
                return False
        runs = coded_runs(raw[:MAX_CHARS], least=self.shortest)
        return not runs or self._is_harmless(roughly_said(runs))

    def _spells_none(self, found: list[str], hits: set[str], digits: int) -> bool:
        """Whether no piece is among the words once those that are spoken signs are read as such."""
        signs = signs_said(found, hits)
        if signs is None or not self.by_word.keys().isdisjoint(signs):
            return False
        more = sum([len(sign) * count for sign, count in signs.items()])
        if more and self.parts.first and digits + more >= self.parts.fewest_digits:
            readings = map(str.split, spelt_out(found))
            if any(self.parts.may_be_in(reading, digits + more) for reading in readings):
                return False
        if digits + more < self.fewest_digits:
            return True
        # A code begins at a sign, or at a word: that is known only where there are many digits.
        begins = [word[:3] for word in found] if digits < self.fewest_digits else []
        return self.heads.isdisjoint(signs) and self.heads.isdisjoint(begins)

    def _is_harmless(self, said: str) -> bool:
        """Whether nothing in what coded runs say is private."""
        if self.wide:
            return False
        found, digits = words(said), count_digits(said.encode())
        if not self.by_word.keys().isdisjoint(found) or self.parts.may_be_in(found, digits):
            return False
        return self._has_no_code(found, digits, self.heads)

    def _has_no_code(self, found: list[str], digits: int, *edges: set[str]) -> bool:
        """Whether no word begins (or, for the second set, ends) or goes on like a code."""
        if not digits or digits < self.fewest_digits:
            return True
        heads, *tails = edges
        distinct = set(found)
        if not heads.isdisjoint([word[:3] for word in distinct]):
            return False
        if tails and not tails[0].isdisjoint([word[-3:] for word in distinct]):
            return False
        inner = {
            word[n : n + 3]
            for word in distinct
            if SHORTEST_CODE < len(word) <= MAX_CODED and not word.isalpha()
            for n in range(len(word))
        }
        return not inner or all(known.isdisjoint(inner) for known in edges)

    def _each_piece(
        self, texts: Iterable[str], end: int, first: str, found: list[str]
    ) -> Iterator[str]:
        yield from self._pieces_in(first, found, end)
        for text in texts:
            yield from self._pieces_in(text, words(text), end)

    def _pieces_in(self, text: str, found: list[str], end: int) -> Iterator[str]:
        """Those in a text as it stands, whose words were `found`."""
        if not self.by_word.keys().isdisjoint(found):
            for number, word in enumerate(found):
                pieces = self.by_word.get(word, _NOTHING)
                for before, size in tuple(self.spans.get(word, ())):
                    start = max(number - before, 0)
                    piece = " ".join(found[start : start + size])
                    if pieces.get(piece, end) < end:
                        yield piece
        if has_digit(text):
            if self.days:
                yield from self._days_in(text, end)
            yield from self.split_codes(found, end)
            yield from self._inside(found, end)
            yield from self.parts.found_in(found, end)

    def _days_in(self, text: str, end: int) -> Iterator[str]:
        """Private days in a text, however they are written; of a year in two digits, too."""
        for year, month, number in days_in(text):
            for day in ((year, month, number), (year - 100, month, number)):
                if self.days.get(day, end) < end:
                    yield f"{day[0]:04}-{month:02}-{number:02}"

    def split_codes(self, found: list[str], end: int) -> Iterator[str]:
        """Codes that are written in other groups than they were seen in."""
        for first, word in enumerate(found):
            if word[:3] not in self.heads:
                continue  # no code begins like this: nearly every word of prose
            built = word
            thousands = spelt = True
            for follower in found[first + 1 : first + LONGEST_CODE]:
                built += follower
                if len(built) > LONGEST_CODE:
                    break
                thousands = thousands and len(word) <= _GROUP == len(follower)
                spelt = spelt and len(word) == len(follower) == 1
                # `12:15` is no 1215.
                if (len(built) >= SHORTEST_CODE or thousands or spelt) and self._is_code(
                    built, end
                ):
                    yield built

    def around(self, piece: str, text: str) -> list[str]:
        """The words of the text in which a part of a code stands; none for whole pieces."""
        if piece not in self.parts.first or piece in self.by_word:
            return []
        return [word for word in dict.fromkeys(words(text)) if piece in word]

    def stands_in(self, piece: str, texts: Sequence[str]) -> bool:
        """Whether one of these pieces stands in one of the texts (as words with one space between
        and around), in one of its groupings."""
        bare = piece.replace(" ", "")
        forms = {piece, bare, self.grouped.get(bare, piece)}
        if bare in self.parts.first and any(bare in text.replace(" ", "") for text in texts):
            return True
        if any(f" {form} " in text for form in forms for text in texts):
            return True
        # `HGK137803`, of which the number alone is private, too.
        lettered = re.compile(f" [a-z]{{1,4}}{piece} ") if piece.isdecimal() else None
        return lettered is not None and any(map(lettered.search, texts))

    def codes_over(self, found: list[str], end: int) -> set[str]:
        """Codes, and parts of secret ones, that words make together."""
        return {*self.split_codes(found, end), *self.parts.found_in(found, end)}

    def _inside(self, found: list[str], end: int) -> Iterator[str]:
        """Codes within a longer word: `key1a7b3d`, `id_463820`."""
        for word in found:
            if not SHORTEST_CODE < len(word) <= MAX_CODED or not has_digit(word):
                continue
            for start in range(len(word)):
                if word[start : start + 3] not in self.heads:
                    continue  # no code begins here: nearly everywhere
                for size in tuple(self.code_sizes):
                    if size < SHORTEST_CODE:
                        continue
                    piece = word[start : start + size]
                    if self._is_code(piece, end) and not _in_a_number(word, start, size):
                        yield piece

    def _is_code(self, word: str, end: int) -> bool:
        entry = self.by_word.get(word, _NOTHING).get(word)
        return entry is not None and entry < end


def _in_a_number(word: str, start: int, size: int) -> bool:
    """Whether the piece is cut out of a longer number."""
    before, after = word[start - 1 : start], word[start + size : start + size + 1]
    return (before.isdigit() and word[start].isdigit()) or (
        after.isdigit() and word[start + size - 1].isdigit()
    )


def count_digits(raw: bytes) -> int:
    """How many decimal digits of ASCII there are."""
    return len(raw) - len(raw.translate(None, b"0123456789"))


def has_digit(text: str) -> bool:
    """Whether a decimal digit of any script stands in the text."""
    if text.isascii():  # several times faster than a search
        raw = text.encode()
        return len(raw.translate(None, b"0123456789")) < len(raw)
    return _DIGIT.search(text) is not None
