"""Parts of secret numbers: half of a card's number is no more for others than the whole of it.

Which codes are secret is told by what they are: numbers of cards and bank accounts by their check
digits, keys by letters and digits that take turns. Half of such a code, at least eight characters
of it in a row, is looked for like the whole. Numbers that are counted up (orders, invoices) have no
parts: their beginnings stand in all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

SHORTEST = 8
"""Characters of the shortest part: the last four digits of a card may be named."""

_FEWEST_TURNS = 4
_SHORTEST_KEY = 12
_CARD = re.compile(r"[2-6][0-9]{12,18}")
_ACCOUNT = re.compile(r"[a-z]{2}[0-9]{2}[a-z0-9]{11,30}")
_TURN = re.compile(r"(?<=[0-9])[a-z]|(?<=[a-z])[0-9]")
_DIGITS = re.compile("[0-9]+")
_LONG_NUMBER = re.compile(rf"[0-9]{{{SHORTEST},}}")
_EVER = 1 << 60


def size_of_parts(code: str) -> int:
    """How many characters in a row of a code (lower case) are as secret as all; 0: only all are."""
    if _CARD.fullmatch(code):
        secret = _is_card(code)
    elif _ACCOUNT.fullmatch(code):
        secret = sums_up(code) or _is_key(code)
    else:
        secret = code.isascii() and code.isalnum() and _is_key(code)
    return max(SHORTEST, -(-len(code) // 2)) if secret else 0


def parts_of(code: str) -> list[str]:
    """Of a secret code every part of that size; of an account only those of digits alone.

    What stands before those names the country and the bank.
    """
    size = size_of_parts(code)
    if not size:
        return []
    texts = _DIGITS.findall(code) if _ACCOUNT.fullmatch(code) and not _is_key(code) else [code]
    return [text[at : at + size] for text in texts for at in range(len(text) - size + 1)]


def _is_key(code: str) -> bool:
    return len(code) >= _SHORTEST_KEY and len(_TURN.findall(code)) >= _FEWEST_TURNS


def _is_card(number: str) -> bool:
    """The check digit of cards (Luhn, ISO/IEC 7812-1)."""
    total = 0
    for place, digit in enumerate(map(int, reversed(number))):
        doubled = digit * 2 if place % 2 else digit
        total += doubled - 9 if doubled > 9 else doubled
    return total % 10 == 0


def sums_up(code: str) -> bool:
    """Whether the check digits of an account are right of an IBAN (ISO 7064, MOD 97-10)."""
    return int("".join(str(int(char, 36)) for char in code[4:] + code[:4])) % 97 == 1


@dataclass(slots=True)
class Parts:
    """The parts of a ledger's private codes; a place in it is the number of an entry."""

    first: dict[str, int] = field(default_factory=dict)
    """Each with the entry in which its code stands first."""
    sizes: set[int] = field(default_factory=set)
    fewest_digits: int = 100
    _starts: set[str] = field(default_factory=set)
    """How those begin that have letters: their first three characters."""

    def add(self, code: str, number: int) -> None:
        """Index the parts of a code of an entry, if it is a secret one."""
        for part in parts_of(code):
            self.first.setdefault(part, number)
            self.sizes.add(len(part))
            self.fewest_digits = min(self.fewest_digits, sum(map(str.isdecimal, part)))
            if not part.isdecimal():
                self._starts.add(part[:3])

    def found_in(self, words: Sequence[str], end: int) -> Iterator[str]:
        """Parts in a text (its words, in lower case), in whatever groups they are written, of codes
        that were observed before the entry `end`."""
        whole = "".join(words)
        for run in _LONG_NUMBER.findall(whole):
            for at in range(len(run) - SHORTEST + 1):
                yield from self._at(run, at, end)
        for at in range(len(whole) if self._starts else 0):
            if whole[at : at + 3] in self._starts:
                yield from self._at(whole, at, end)

    def _at(self, text: str, at: int, end: int) -> Iterator[str]:
        for size in tuple(self.sizes):
            part = text[at : at + size]
            if self.first.get(part, end) < end:
                yield part

    def may_be_in(self, words: Sequence[str], digits: int) -> bool:
        """Whether there is one, whenever observed, in words with so many digits."""
        if not self.first or digits < self.fewest_digits:
            return False
        return next(self.found_in(words, _EVER), None) is not None
