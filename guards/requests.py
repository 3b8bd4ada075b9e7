"""What the user has to have asked for (`requested`), and whether that is still wished."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from .flow import Facts
from .normalise import Examined
from .outputs import leaves
from .tokens import inflected, tokens
from .verbs import contrary, takes_away

_READ = 2_000
_NAMED = 100
"""Values of a call of which one may be what the user's last words name."""


@dataclass(frozen=True, slots=True)
class Requested:
    """The user's own words must contain one of these words or phrases."""

    words: tuple[str, ...]
    forms: frozenset[str]
    phrases: tuple[str, ...]
    single: tuple[tuple[str, frozenset[str]], ...] = ()
    """The words that are no phrases, each with its forms."""

    def is_open(self, call: Examined, facts: Facts) -> bool:
        """Whether the user asked for it, and the wish is still open."""
        if facts.ledger.freely_said(self.forms):
            return True
        return self.holds(facts) and self.lasts(call, facts)

    def for_verb(self, tool: str) -> Requested:
        """Those of the words that do not ask for the contrary of what the tool's name says."""
        return _for_verb(self, takes_away(tool))

    def holds(self, facts: Facts) -> bool:
        """Whether the user asked for it."""
        ledger = facts.ledger
        return ledger.said(self.forms) or any(ledger.stated(text) for text in self.phrases)

    def lasts(self, call: Examined, facts: Facts) -> bool:
        """Whether the wish is still open: not carried out, said again, or about this call.

        Once it was carried out and the user wrote something else, that has to repeat the wish or
        name a value of the call (`and to Carol, too`).
        """
        ledger = facts.ledger
        since = ledger.carried_out(self.words)
        return (
            since < 0
            or any(ledger.said_since(f, ledger.carried_out([word])) for word, f in self.single)
            or any(ledger.stated_since(text, ledger.carried_out([text])) for text in self.phrases)
            or any(
                ledger.stated_since(text, since)
                for text in islice(leaves(call.arguments, keys=False), _NAMED)
                if len(text) <= _READ
            )
        )


def requested(words: Iterable[str]) -> Requested:
    """The compiled list: single words count in every regular form, phrases as they stand."""
    listed = tuple(words)
    phrases = tuple(word for word in listed if len(tokens(word)) > 1)
    single = tuple((word, inflected(word)) for word in listed if word not in phrases)
    forms = frozenset[str]().union(*(found for _, found in single))
    return Requested(listed, forms, phrases, single)


@lru_cache(maxsize=256)
def _for_verb(wish: Requested, taking: bool | None) -> Requested:
    if taking is None:
        return wish
    fitting = [word for word in wish.words if not contrary(word, taking=taking)]
    return requested(fitting) if fitting else wish
