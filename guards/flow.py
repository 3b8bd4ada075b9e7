"""Conditions on a value that need the past: who said it, and how far that is trusted.

Each is decided on the value's tokens, by look-ups in the ledger; none reads old text again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Literal

from .caller import NOBODY, Caller
from .counted import time_of
from .dates import day_of
from .hosts import host_of
from .identifiers import addresses_of, codes_of, identifiers, is_account
from .ledger import Ledger
from .outputs import key_of
from .sums import MINOR, in_major, told_sum
from .tokens import words as words_of

if TYPE_CHECKING:
    from .normalise import Examined

FlowWord = Literal["stated", "known", "created", "mine", "same_site", "dated", "words", "clean"]

WISHES: Mapping[str, str] = {
    "stated": "stated by the user",
    "known": "known (stated by the user, from a trusted source, or created here)",
    "created": "created by this agent in this thread",
    "mine": "one of the user's own values (me)",
    "same_site": "a link to a site that the user or a trusted text named",
    "dated": "a date, or a time on a day, that the user or a trusted source wrote",
    "words": "made of words that are known",
    "clean": "free of unknown addresses, links, accounts and paths, and of private data",
}
"""Each condition in words: what the value would have to be."""

MONEY = frozenset(
    """amount price total sum cost fee charge balance pay payment payout refund credit debit money
    salary wage bonus tip gross net budget fund invoice transfer deposit donation rent eur usd gbp
    chf euro dollar pound""".split()  # noqa: SIM905 - one word a value reads better
).union(MINOR)
"""Words in the name of a tool or an argument whose numbers are sums of money."""
_SECONDS = (frozenset({"second"}),)
_SHORT_WORD = 2
_CLEAN = ("", "")


LONG_NUMBER = 9
"""Digits from which a number may be a card's, an account's or a telephone's."""


@dataclass(slots=True)  # not frozen: one is made for every decision, and that is slow to make
class Facts:
    """What a condition may know of the past, and whose values are the user's own."""

    ledger: Ledger = field(default_factory=Ledger)
    me: frozenset[str] = frozenset()
    """As tokens."""
    doubts: bool = False
    """Whether what a person has yet to agree to counts as known."""
    about: tuple[frozenset[str], ...] = ()
    """What the call and the argument speak of."""
    caller: Caller = NOBODY
    encoded: bool = True
    """Whether something in the call may be encoded."""
    nothing_private: bool = False
    """Whether the call whose values these are is known to hold nothing private at all."""
    beside: Examined | None = None
    """The call without ids by which it only refers to something, where it has some and may hold
    something private."""

    def holds(self, word: str, value: str) -> bool:
        """Whether the condition `word` holds for the value."""
        return not value or HOLDS[word](self, value)

    @property
    def unseen(self) -> str:
        """What of the past is missing, in brackets; empty where all of it was seen."""
        return f" ({self.ledger.gap})" if self.ledger.gap else ""

    def stain(self, text: str) -> tuple[str, str]:
        """Why a text is not clean (in words), and the piece that makes it so; empty where it is."""
        ledger = self.ledger
        for found in identifiers(text):
            if not self._known(found):
                return "holds an address, link, account or path that is not known", found
            if is_account(found) and not self._own(found):
                # A payee of the list may be paid; in a text his number tells others of him.
                return "holds an account number that the user did not write", found
        if self.nothing_private:
            return _CLEAN
        if ledger.gap and text.strip() and not ledger.stated(text):
            return f"may hold private data{self.unseen}", ""
        piece = ledger.private(text)
        return ("holds private data", piece) if piece else _CLEAN

    def private_number(self, text: str) -> tuple[str, str]:
        """The same of a number, which is no address and no account: only whether it is private."""
        piece = self.ledger.private(text)
        if piece:
            return "holds private data", piece
        if self.ledger.gap and len(text) >= LONG_NUMBER and not self.ledger.stated(text):
            return f"may hold private data{self.unseen}", ""
        return _CLEAN

    def _known(self, value: str) -> bool:
        ledger, about = self.ledger, self.about
        if ledger.known(value, doubts=self.doubts, about=about) or self._mine(value):
            return True
        return self._stated_otherwise(value)

    def _stated(self, value: str) -> bool:
        return self.ledger.stated(value) or self._stated_otherwise(value)

    def _stated_otherwise(self, value: str) -> bool:
        """Whether the user wrote a short number beside what the call speaks of, a sum of money that
        the value is as well (`500.00`, `500 EUR`, 500 for an amount), or a longer text that only
        its accents and signs tell apart: of names, these tell one from another."""
        ledger = self.ledger
        if ledger.stated_number(value, about=self.about) or ledger.stated_plainly(value):
            return True
        if len(value) == _SHORT_WORD and ledger.stated_code(value):
            return True
        if seconds := time_of(value):
            return ledger.stated_number(seconds, about=_SECONDS)
        told = told_sum(value)
        if not told or (value.isdecimal() and not any(map(MONEY.intersection, self.about))):
            return False
        names = chain.from_iterable(self.about if value.isdecimal() else ())
        return ledger.stated_amount(in_major(float(told), names))

    def _own(self, value: str) -> bool:
        """Whether the user wrote the value, it is one of `me`, or the agent created it."""
        return (
            self.ledger.stated(value)
            or self._mine(value)
            or self.ledger.created(value, about=self.about)
        )

    def _mine(self, value: str) -> bool:
        return key_of(value) in self.me

    def _all_known(self, value: str) -> bool:
        return self._known(value) or _each_listed(value, self._known)

    def _all_stated(self, value: str) -> bool:
        return self._stated(value) or _each_listed(value, self._stated)

    def _all_mine(self, value: str) -> bool:
        return self._mine(value) or _each_listed(value, self._mine)

    def _created(self, value: str) -> bool:
        return self.ledger.created(value, about=self.about)

    def _clean(self, value: str) -> bool:
        return not self.stain(value)[0]

    def _same_site(self, value: str) -> bool:
        if self._known(value):
            return True
        host = host_of(value)
        extra = set("?@\\ \t\r\n").intersection(value)
        return bool(host) and not extra and self.ledger.names_host(host, doubts=self.doubts)

    def _dated(self, value: str) -> bool:
        day = day_of(value)
        return day is not None and self.ledger.dated(day, doubts=self.doubts)

    def _words(self, value: str) -> bool:
        found = words_of(value)
        counted = [
            word
            for word in found
            if len(word) > _SHORT_WORD or (word.isdecimal() and len(word) > 1) or not word.isascii()
        ]
        knows = self.ledger.knows_word
        known = all(knows(word, doubts=self.doubts) for word in counted or found)
        return known and not self.stain(value)[0]


def _each_listed(value: str, test: Callable[[str], bool]) -> bool:
    """Whether the test holds for each address or id of a text that lists some."""
    bare = addresses_of(value) or codes_of(value)
    return bare != [value] and bool(bare) and all(map(test, bare))


def holds_nothing_private(call: Examined, ledger: Ledger) -> bool:
    """Whether no value of a call is private, nor what several make together, as far as that is
    easily told: nearly always it is, in one look-up for all of them."""
    if ledger.gap or call.decoded or call.bounds or not ledger.none_private(call.searched):
        return False
    # One number is a line of what was looked through; several are also read side by side.
    return not call.numbers or ledger.none_private(_numbers(call))


def _numbers(call: Examined) -> str:
    return " ".join(leaf for leaf in call.leaves if leaf.isdecimal())


def private_over(call: Examined, ledger: Ledger) -> str:
    """A private piece that several values of a call make together, and none alone; or nothing."""
    for text in (*call.joined, _numbers(call)):
        piece = ledger.private(text) if text else ""
        if piece and not any(map(ledger.private, call.leaves)):
            return piece
    return ""


HOLDS: Mapping[str, Callable[[Facts, str], bool]] = {
    "stated": Facts._all_stated,
    "known": Facts._all_known,
    "created": Facts._created,
    "mine": Facts._all_mine,
    "same_site": Facts._same_site,
    "dated": Facts._dated,
    "words": Facts._words,
    "clean": Facts._clean,
}
"""Each condition as it is asked of a text; for an empty one all of them hold."""
