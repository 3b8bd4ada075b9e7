"""Private pieces that were seen, and whether a text holds one, in whatever disguise.

Nearly no text does: that is told in a few steps, on the words of the text and of all that it says
decoded; only where something could be a piece is each reading looked at by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from .disguises import MAX_CHARS, undisguised
from .spoken import plain_digits, spelt_out
from .tokens import words

LONGEST_CODE = 40
SHORTEST_CODE = 6
MAX_CODED = 200
"""Characters of a word in which codes are looked for."""

_DIGIT = re.compile(r"\d")
_NOTHING: Mapping[str, int] = {}


@dataclass(slots=True)
class PrivatePieces:
    """The index of a ledger's private pieces; a place in it is the number of an entry."""

    by_word: dict[str, dict[str, int]] = field(default_factory=dict)
    """All of them by their first word, each with the entry in which it stands first."""
    sizes: dict[str, set[int]] = field(default_factory=dict)
    """How many words those have that begin with a word: few numbers, however many they are."""
    backwards: set[str] = field(default_factory=set)
    """Their first words, backwards."""
    shortest: int = MAX_CHARS
    """Characters of the shortest of them."""
    heads: set[str] = field(default_factory=set)
    """How private pieces of one word begin: their first one, two and three characters."""
    code_sizes: set[int] = field(default_factory=set)
    """The lengths of those that are one word."""
    grouped: dict[str, str] = field(default_factory=dict)
    """Private pieces of several words, by what they are without the blanks."""

    def __bool__(self) -> bool:
        return bool(self.by_word)

    def add(self, piece: str, number: int) -> None:
        """Index one piece of an entry."""
        first = piece.partition(" ")[0]
        self.by_word.setdefault(first, {}).setdefault(piece, number)
        self.sizes.setdefault(first, set()).add(piece.count(" ") + 1)
        self.backwards.add(first[::-1])
        self.shortest = min(self.shortest, len(piece))
        if first != piece:
            self.grouped.setdefault(piece.replace(" ", ""), piece)
        else:
            self.heads.update((piece[:1], piece[:2], piece[:3]))
            self.code_sizes.add(len(piece))

    def found_in(self, text: str, end: int) -> Iterable[str]:
        """Private pieces in `text`, in any disguise, that were observed before the entry `end`."""
        if not self.by_word:
            return ()
        found = words(text)
        backwards = text[:MAX_CHARS][::-1]
        others = undisguised(text, least=self.shortest)
        if not text.isascii():
            others.insert(0, plain_digits(text[:MAX_CHARS]))
        spelt = list(spelt_out(found)) if self.heads else []
        # Nearly always there is none; that is told in a few steps, of all disguises in one.
        if self._is_free(found, text, others, backwards) and (
            not spelt or self._has_none(words(" ".join(spelt)), digits=True)
        ):
            return ()
        return self._each_piece((text, backwards, *others, *spelt), end)

    def _is_free(self, found: list[str], text: str, others: list[str], backwards: str) -> bool:
        """Whether there is none in the text (its words), backwards, and in other readings."""
        digits = has_digit(text)
        if not self._has_none(found, digits=digits):
            return False
        if digits or not text.isascii():
            others = [backwards, *others]
        elif not self.backwards.isdisjoint(found):
            return False
        whole = "\n".join(others)
        return not others or self._has_none(words(whole), digits=has_digit(whole))

    def _has_none(self, found: list[str], *, digits: bool) -> bool:
        """Whether none of the words begins a private piece, or holds one; may be too strict."""
        if not self.by_word.keys().isdisjoint(found):
            return False
        if not digits:
            return True
        if not self.heads.isdisjoint([word[:3] for word in found]):
            return False
        long = [word for word in found if len(word) > SHORTEST_CODE and not word.isalpha()]
        return not long or not has_digit(" ".join(long))

    def _each_piece(self, texts: Iterable[str], end: int) -> Iterator[str]:
        for text in texts:
            yield from self._pieces_in(text, end)

    def _pieces_in(self, text: str, end: int) -> Iterator[str]:
        found = words(text)
        if not self.by_word.keys().isdisjoint(found):
            for number, word in enumerate(found):
                pieces = self.by_word.get(word, _NOTHING)
                for size in tuple(self.sizes.get(word, ())):
                    piece = " ".join(found[number : number + size])
                    if pieces.get(piece, end) < end:
                        yield piece
        if has_digit(text):
            yield from self.split_codes(found, end)
            yield from self._inside(found, end)

    def split_codes(self, found: list[str], end: int) -> Iterator[str]:
        """Codes that are written in other groups than they were seen in."""
        for first, word in enumerate(found):
            if word[:3] not in self.heads:
                continue  # no code begins like this: nearly every word of prose
            built = word
            for follower in found[first + 1 : first + LONGEST_CODE]:
                built += follower
                if len(built) > LONGEST_CODE:
                    break
                if self._is_code(built, end):
                    yield built

    def _inside(self, found: list[str], end: int) -> Iterator[str]:
        """Codes within a longer word: `key1a7b3d`, `id_463820`."""
        for word in found:
            if not SHORTEST_CODE < len(word) <= MAX_CODED or not has_digit(word):
                continue
            for start in range(len(word)):
                if word[start : start + 3] not in self.heads:
                    continue  # no code begins here: nearly everywhere
                for size in tuple(self.code_sizes):
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


def has_digit(text: str) -> bool:
    """Whether a decimal digit of any script stands in the text."""
    if text.isascii():  # several times faster than a search
        raw = text.encode()
        return len(raw.translate(None, b"0123456789")) < len(raw)
    return _DIGIT.search(text) is not None
