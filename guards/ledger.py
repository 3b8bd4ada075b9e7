"""The ledger: what was seen in this thread, where each value came from, how far it is trusted.

`decide` reads the past through `History` and through nothing else. Values are indexed once, when
they are observed; a decision never reads old text again, so its cost does not depend on how much
the agent has read. The ledger is kept apart from the messages: what compression or a summary does
to those cannot change where a value came from (I10).

Trusted are the user's messages and what a policy's `trust` says of tool outputs. Everything else
has an origin, and no more.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from .caller import NOBODY, Caller
from .dates import day_of
from .late import LateLedger
from .seen import LONGEST_KEPT, NEVER, RECORD_BITS, USER, Seen
from .standing import Standing
from .telling import LONGEST_VALUE
from .tokens import Run, run_of, words
from .values import values_in
from .verdict import Origin, canonical_json

__all__ = ["USER", "Entry", "History", "Ledger", "values_in"]

Entry = dict[str, Any]
"""One observation as plain data: `{"source": str, "call": str, "values": list[str]}`.

`values` are what can identify something, trusted or not. The user's message is there as `text`.
Of a tool's output a policy may add `records` (what it trusts: `values` that count whole, `texts`
of which every word counts, `when`: what the user must have stated for it, `ask`: that a person
has to agree), `judged` (by which policy), `created` (ids that a call of the agent returned), `made`
(names that it gave), `done` (words of `requested` that a call of its tool carries out) and
`private` (pieces that may not leave); with `receipts: history` there is `ran`, the whole result.
"""


def judge(policy: str, caller: Caller) -> str:
    """What stands in an entry whose records were believed because of who asked."""
    return canonical_json([policy, caller.user, caller.tenant])


class Ledger(Standing):
    """The observations of one thread, in order, with an index from value to where it stands.

    A list of plain dicts, so that any checkpointer can store it; the index is rebuilt after a
    reload. Versions share one index as long as one continues the other: each ignores what lies
    beyond its own length, so that appending costs the new entries only.
    """

    __slots__ = ("_judged",)

    def __init__(
        self, entries: Iterable[Entry] = (), *, seen: Seen | None = None, gap: str = ""
    ) -> None:
        super().__init__(entries)
        self.gap = gap
        """What of the thread was not seen, in words; then any text may hold private data."""
        self._judged: tuple[tuple[str, Caller, int], Ledger] | None = None
        self._asked = None
        self._seen = seen if seen is not None else Seen()
        if seen is None:
            for entry in self:
                self._seen.add(entry)

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(Ledger, gap=self.gap) if self.gap else Ledger, (list(self),)

    def appended(self, entries: Iterable[Entry]) -> Ledger:
        """A new version with `entries` at the end; this one stays as it was."""
        new = list(entries)
        ahead = self._seen.entries[len(self) : len(self) + len(new)]
        if any(a is not b and a != b for a, b in zip(ahead, new, strict=False)):
            # Another branch of the thread: an index of its own.
            return Ledger([*self, *new], gap=self.gap)
        for entry in new[len(ahead) :]:
            self._seen.add(entry)
        return Ledger([*self, *new], seen=self._seen, gap=self.gap)

    def with_gap(self, gap: str) -> Ledger:
        """The same, of which it is said that something is missing."""
        return Ledger(self, seen=self._seen, gap=gap)

    def judged_by(self, policy: str, caller: Caller) -> Ledger:
        """The ledger as this policy (by its digest) may believe it, for this caller.

        What an earlier policy of the thread believed, or believed because of who asked then, counts
        as seen and no more. Nearly always it is this ledger itself.
        """
        judged = self._seen.judged
        if not judged or (len(judged) == 1 and policy in judged):
            return self
        asked = (policy, caller, len(self))
        kept = self._judged  # once: another thread may put its own caller's there meanwhile
        if kept is None or kept[0] != asked:
            judges = frozenset((policy, judge(policy, caller)))
            if judged <= judges:
                return self
            kept = self._judged = (asked, Ledger(self, seen=self._seen.only(judges), gap=self.gap))
        return kept[1]  # a copy for each decision would cost what the thread is long

    def public(self) -> Ledger:
        """The same, of which nothing is private: for checks beside which `private` is in shadow."""
        return _Public(self, seen=self._seen)

    def grow(self, entry: Entry) -> None:
        """Put an entry at the end of this ledger itself, of which there is no other version."""
        self._seen.add(entry)
        self.append(entry)

    @property
    def told(self) -> tuple[int, str]:
        """How many of the entries stand in receipts, and the last receipt that says so."""
        return next((t for t in reversed(self._seen.told) if t[0] <= len(self)), (0, ""))

    def tell(self, entries: int, receipt: str) -> None:
        """Note that so many entries stand in receipts up to this one."""
        told = self._seen.told
        if told and told[-1][0] == entries:
            told[-1] = (entries, receipt)
        elif not told or told[-1][0] < entries:
            told.append((entries, receipt))

    def origin(self, value: str) -> Origin | None:
        """Where `value` (compared without case) was first seen: the user's word comes first."""
        key = value.casefold()
        for table in (self._seen.user, self._seen.tools):
            position = table.get(key)
            if position is not None and position < len(self):
                entry = self[position]
                return Origin(str(entry["source"]), str(entry["call"]))
        return None

    @property
    def last_message(self) -> str:
        """What the user wrote last, but for a yes; empty where they wrote nothing."""
        written = self._seen.by_user
        at = bisect_left(written, len(self))
        return str(self[written[at - 1]].get("text") or "") if at else ""

    def surely_known(self, value: str) -> bool:
        """Whether `value` was found to be known, whatever is asked: it stays so."""
        return self._seen.firm.get(value, NEVER) < len(self)

    def known(
        self, value: str, *, doubts: bool = False, about: tuple[frozenset[str], ...] = ()
    ) -> bool:
        """Whether the user stated `value`, a trusted source gave it, or the agent created it.

        With `doubts`, what a person has yet to agree to counts as well. `about`: what the call and
        the argument speak of; a short number that a source gave is known only to what speaks of
        the same, for file 5 is not event 5.
        """
        if self.surely_known(value):
            return True
        run = run_of(value)
        if not run.tokens:
            return False
        unknown, asked = self._asked_now.unknown, (run, doubts, about)
        if asked in unknown:
            return False
        if self._is_known(value, run, doubts, about):
            return True
        if len(value) <= LONGEST_KEPT:
            unknown.add(asked)
        return False

    def _is_known(
        self, value: str, run: Run, doubts: bool, about: tuple[frozenset[str], ...]
    ) -> bool:
        seen = self._index
        if (run.key in seen.created or run.key in seen.made) and self._created(run, about):
            return True
        for place in self._occurrences(run):
            if not self._counts(place, doubts):
                continue
            if run.telling:
                self._seen.hold(value, place)
                return True
            if place in seen.of_user:
                continue
            code = run.key.isalpha() and place not in seen.texted  # `NY` of a trusted record
            if code or seen.same_subject(place >> RECORD_BITS, about):
                return True
        return False

    def picked(self, value: str) -> bool:
        """Whether a known value stands in a field that the policy believes by its name, the user
        wrote it, or a call of this agent returned it."""
        seen, run = self._index, run_of(value)
        return self._created(run, ()) or any(
            place in seen.of_user or not (place in seen.texted or place in seen.wide)
            for place in self._occurrences(run)
            if self._counts(place, doubts=False)
        )

    def created(self, value: str, *, about: Sequence[Set[str]] = ()) -> bool:
        """Whether a call of this agent made or returned the id or name."""
        return self._created(run_of(value), about)

    def _created(self, run: Run, about: Sequence[Set[str]]) -> bool:
        """A returned id; a name that the model chose only for what speaks of the same thing."""
        seen, end = self._index, len(self)
        entry = seen.created.get(run.key, end)
        if entry < end and (run.telling or seen.same_subject(entry, about)):
            return True
        made = seen.made.get(run.key, ())
        return bool(made) and any(e < end and seen.same_subject(e, about) for e in made)

    def said(self, words: frozenset[str]) -> bool:
        """Whether one of these words (lower case, no signs) is among the user's own."""
        return self._seen.first_of(words) < len(self)

    def freely_said(self, words: frozenset[str]) -> bool:
        """The same while no wish at all was carried out: nearly always, and told in one step."""
        seen, end = self._seen, len(self)
        first, index = seen.asked_for.get(words, NEVER), seen.index
        return first < end and index is not None and end <= index.known and not index.wishes.done

    def carried_out(self, words: Iterable[str]) -> int:
        """The call (its entry) that last carried out a wish of these words; -1 where none did.

        Until the user writes again, what they asked for goes on: then it is none, too.
        """
        asked = self._index.wishes
        return asked.carried_out(words, len(self)) if asked.done else -1

    def said_since(self, words: Set[str], since: int) -> bool:
        """Whether one of the words stands in a message of the user after the entry `since`."""
        return self._index.wishes.said_between(words, since, len(self))

    def stated_since(self, value: str, since: int) -> bool:
        """Whether the user wrote the value in a message after the entry `since`."""
        run, of_user = run_of(value), self._index.of_user
        return run.telling and any(
            place in of_user and place >> RECORD_BITS > since for place in self._occurrences(run)
        )

    @property
    def holds_private(self) -> bool:
        """Whether anything private was seen."""
        return self._seen.private.added > 0

    def none_private(self, text: str) -> bool:
        """Whether nothing in `text` or a line of it is private, as far as that is easily told."""
        private = self._seen.private
        return private.free.get(text) == private.added or private.has_none(text)

    def private(self, text: str) -> str:
        """The first private piece in `text` that the user did not state; empty for none."""
        private = self._seen.private
        if not private.added:
            return ""
        free: set[str] = set()
        for piece in private.found_in(text, len(self)):
            if piece not in free and not self._is_free(piece, text):
                return piece
            free.add(piece)
        return ""

    def _is_free(self, piece: str, text: str) -> bool:
        """Whether the user wrote a private piece; or it is a part of a code and stands in longer
        words of the text that are known: numbers of one bank, ids of one service begin alike."""
        if self._user_wrote(piece):
            return True
        around = self._seen.private.around(piece, text)
        return bool(around) and all(map(self.known, around))

    def split_codes(self, pieces: Sequence[str]) -> set[str]:
        """Private codes that the user did not state and that neighbouring pieces make together."""
        codes = self._seen.private.codes_over(words(" ".join(pieces)), len(self))
        return {code for code in codes if not self._user_wrote(code)}

    def _user_wrote(self, piece: str) -> bool:
        """Whether the user wrote a private piece, however it is grouped, or all that tells in it:
        in a short value that is what has a number in it. Only hits come here."""
        day = day_of(piece) if "-" in piece else None
        if day is not None:
            end, of_user = len(self) << RECORD_BITS, self._index.of_user
            return any(p < end and p in of_user for p in self._index.days.get(day, ()))
        if piece.isdecimal() and any(
            self.stated(f"{piece[:-n]}.{piece[-n:]}") for n in (1, 2) if len(piece) > n
        ):
            return True  # a sum, whose point is none of the piece
        if self.stated(piece) or self._index.user_wrote(piece, self._seen.private, len(self)):
            return True
        told = self._seen.private.grouped.get(piece, piece).split(" ")
        numbers = [word for word in told if not word.isalpha()]
        return bool(numbers) and len(told) <= LONGEST_VALUE and all(map(self.stated, numbers))

    def observed(self, text: str, *, source: str, call_id: str = "") -> Entry | None:
        """The entry for a text just seen; None where it holds no value that is new here."""
        mine = source == USER
        table = self._seen.user if mine else self._seen.tools
        values = [v for v in values_in(text) if table.get(v, len(self)) >= len(self)]
        if mine:
            whole = {"source": source, "call": call_id, "values": values, "text": text}
            return whole if text.strip() else None
        return {"source": source, "call": call_id, "values": values} if values else None


class _Public(Ledger):
    """A ledger of which nothing is private, nor might be."""

    __slots__ = ()

    @property
    def holds_private(self) -> bool:
        return False

    def none_private(self, text: str) -> bool:
        return True

    def private(self, text: str) -> str:
        return ""

    def split_codes(self, pieces: Sequence[str]) -> set[str]:
        return set()


@dataclass(frozen=True, slots=True)
class History(LateLedger):
    """All that a decision may know of the past of its thread."""

    ledger: Ledger = field(default_factory=Ledger)
    thread: str = ""
    calls: Mapping[str, int] = field(default_factory=dict)
    """How often each tool was let through in this run."""
    tokens_used: int = 0
    """Tokens that this thread's model calls have used."""
    caller: Caller = NOBODY
    """Who is asking, as the program says that runs this."""
    sent: tuple[str, ...] = ()
    """Pieces of the calls before this one and beside it: see `pieces.py`."""
    order: tuple[int, ...] | None = None
    """How the gates of `sequence` stand; None where nobody keeps the order of the calls."""
    granted: frozenset[str] = frozenset()
    """Tools that need no entry: they give only what this caller's calls in the thread gave."""
    used: Mapping[str, Mapping[str, float]] | None = None
    """What run, thread and caller have used, for `limits`; None: only tokens and calls are kept."""

    def let_through(self, *names: str) -> History:
        """The history with one more call of each of these tools in it."""
        if not names:
            return self
        calls = dict(self.calls)
        for name in names:
            calls[name] = calls.get(name, 0) + 1
        used = self.used and {
            scope: {**amounts, "calls": amounts.get("calls", 0) + len(names)}
            for scope, amounts in self.used.items()
        }
        return self.but(calls=calls, used=used)

    def after(self, *pieces: str) -> History:
        """The history in which these pieces were sent as well."""
        return self.but(sent=(*self.sent, *pieces)) if pieces else self

    def origin(self, value: str) -> Origin | None:
        """Where `value` was first seen in this thread, or None."""
        return self.ledger.origin(value)
