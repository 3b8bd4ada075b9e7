"""What the user asked for, in which message, and which calls carried it out: by its words."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field

from .assent import only_agrees
from .tokens import wishes


@dataclass(slots=True)
class Wishes:
    """Tables from a word to the entries of a ledger, which are told by their numbers."""

    said: dict[str, int] = field(default_factory=dict)
    """Words with which the user can have asked for something: the first entry of each."""
    said_again: dict[str, list[int]] = field(default_factory=dict)
    """The later entries in which they stand."""
    done: dict[str, list[int]] = field(default_factory=dict)
    """Words of wishes (as a policy writes them): the calls that carried them out."""
    acts: list[int] = field(default_factory=list)
    """All of these calls."""
    spoke: list[int] = field(default_factory=list)
    """The messages that say more than a yes."""
    agreed: list[int] = field(default_factory=list)
    """Those that say nothing else."""

    def hear(self, text: str, run: list[str], entry: int) -> None:
        """Take in a message of the user's, and its tokens."""
        (self.agreed if only_agrees(text) else self.spoke).append(entry)
        for word in wishes(run):
            if self.said.setdefault(word, entry) != entry:
                self.said_again.setdefault(word, []).append(entry)

    def carry_out(self, words: Iterable[str], entry: int) -> None:
        """Note that a call carried out what is asked for with these words."""
        for word in words:
            if self.acts[-1:] != [entry]:
                self.acts.append(entry)
            self.done.setdefault(word, []).append(entry)

    def carried_out(self, words: Iterable[str], end: int) -> int:
        """The entry before `end` that last carried out one of these wishes; -1 where none did, or
        the user wrote nothing since but a yes, to which no other call came after it."""
        last = max((_last(self.done.get(word, ()), end) for word in words), default=-1)
        over = last < _last(self.spoke, end)
        used = last < _last(self.agreed, end) < _last(self.acts, end)
        return last if over or used else -1

    def said_between(self, words: Set[str], since: int, end: int) -> bool:
        """Whether one of the words stands in a message of the user between two entries."""
        return any(
            since < self.said[word] < end or since < _last(self.said_again.get(word, ()), end)
            for word in self.said.keys() & words
        )


def _last(entries: Sequence[int], end: int) -> int:
    """The last of rising entries that is before `end`; -1 where none is."""
    at = bisect_left(entries, end)
    return entries[at - 1] if at else -1
