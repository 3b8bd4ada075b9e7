"""The index of a ledger: every value that was seen, and the places where it stands.

Built entry by entry as things are observed; a lookup costs what the value asked for costs, however
much was read before. Places are numbers that rise with the order of observation, so that a version
of the ledger that ends earlier ignores what lies beyond it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, TypeVar

from .assent import only_agrees
from .counted import counted, numbered_by
from .dates import Day, days_in
from .folding import without_accents
from .forms import forms_of, hosts_in, letter_codes_in, numbers_in
from .private_pieces import PrivatePieces, has_digit
from .sums import currencies_in, plain_sums, round_sums, small_sums_in, sums_in
from .titles import Heard, Referred
from .tokens import MAX_TOKENS, other_spellings, subjects, tokens, words
from .wishes import Wishes

USER = "user"
"""The source of what the user wrote; every other source is a tool's name, a document, a memory."""

RECORD_BITS = 16
"""Records of one observation have numbers of so many bits."""

MAX_PLACES = 1_000
"""Places that are looked at for one value: what stands more often is known by its first ones."""

MAX_RUN = 1_000
"""Tokens of a value: a longer text is no value that could be recognised."""

Places = dict[str, list[int]]
_Key = TypeVar("_Key", str, Day)

NEVER = 1 << 60
"""An entry that no ledger has."""

_MOST_KEPT = 1_024
LONGEST_KEPT = 300
"""Characters of a value of which it is kept what was found."""

_ONE_AT_A_TIME = Lock()
_NONE = PrivatePieces()
"""Nothing private: it stays empty."""


@dataclass(slots=True)
class Index:
    """Tables from a value to its places. A place names an entry and a record of it."""

    known: int = 0
    """Entries that stand in it."""
    whole: Places = field(default_factory=dict)
    """Values that were trusted as a whole."""
    run: list[str] = field(default_factory=list)
    """The tokens of all trusted texts, one text after the other."""
    places: list[int] = field(default_factory=list)
    """The place of each token of `run`."""
    at: dict[str, list[int]] = field(default_factory=dict)
    """Where in `run` each token stands."""
    words: Places = field(default_factory=dict)
    hosts: Places = field(default_factory=dict)
    wishes: Wishes = field(default_factory=Wishes)
    created: dict[str, int] = field(default_factory=dict)
    made: Places = field(default_factory=dict)
    """Names that the agent's own calls gave: the entries of each."""
    about: list[frozenset[str]] = field(default_factory=list)
    """What the source of each entry speaks of."""
    numbers: dict[int, set[float]] = field(default_factory=dict)
    """The numbers of each place; of very many the largest."""
    numbered: dict[str, dict[str, int]] = field(default_factory=dict)
    """Short numbers that the user wrote: the words (or `#`) beside each, with first entries."""
    amounts: dict[str, int] = field(default_factory=dict)
    """Sums that the user wrote as such (`12.50`, `$10`): the entry where each stands first."""
    codes: dict[str, int] = field(default_factory=dict)
    """Two capital letters that the user wrote (`Austin, TX`): the entry where each stands first."""
    sums: dict[int, set[float]] = field(default_factory=dict)
    """Such sums of each message of the user's that holds some."""
    small: dict[int, frozenset[float]] = field(default_factory=dict)
    """What each message of the user's says in hundredths."""
    days: dict[Day, list[int]] = field(default_factory=dict)
    """Days (year 0: none is with it): the places where they stand."""
    texted: set[int] = field(default_factory=set)
    """Places of whole texts."""
    wide: set[int] = field(default_factory=set)
    """Records of which no field in particular is believed."""
    user_words: list[tuple[int, str]] = field(default_factory=list)
    """The user's messages as words with one space between, each with its entry."""
    user_plainly: list[tuple[int, str]] = field(default_factory=list)
    """The same without accents."""
    accents: bool = False
    """Whether one of them has some."""
    wanting: dict[int, list[list[str]]] = field(default_factory=dict)
    """Places that count only if the user named them: of one of the lists, all must be stated."""
    looked_up: dict[int, list[str]] = field(default_factory=dict)
    """Of some of these the ids of their own by which they were looked up: one that is known in its
    turn, as the order of whom the user named is, names them, too."""
    loosely: dict[int, Referred] = field(default_factory=dict)
    """Of some of these: how a message may refer to them without their name."""
    kinds: dict[int, set[str]] = field(default_factory=dict)
    """The values of all such records of an entry."""
    heard: Heard = field(default_factory=Heard)
    """The user's messages, once such a record is there."""
    doubtful: set[int] = field(default_factory=set)
    """Places whose values may be used once a person has agreed."""
    of_user: set[int] = field(default_factory=set)

    def add(self, entry: Mapping[str, object]) -> None:
        """Index the next entry."""
        number = self.known
        place = number << RECORD_BITS
        if entry.get("source") == USER:
            self.of_user.add(place)
            self._add_user(str(entry.get("text") or ""), place)
        for offset, record in enumerate(_records(entry.get("records")), start=1):
            if offset >> RECORD_BITS:
                break
            self._add_record(record, place + offset)
        self.wishes.carry_out(_texts(entry.get("done")), number)
        for value in _texts(entry.get("created")):
            self.created.setdefault(" ".join(tokens(value)), number)
        for value in _texts(entry.get("made")):
            self._put(self.made, " ".join(tokens(value)), number)
        self.about.append(subjects(str(entry.get("source")).removeprefix("tool ")))
        self.known += 1

    def _add_user(self, text: str, place: int) -> None:
        run = self._add_text(text, place)
        for amount in sums_in(text) if has_digit(text) else ():
            self.sums.setdefault(place, set()).add(float(amount))
            self.amounts.setdefault(" ".join(tokens(amount)), place >> RECORD_BITS)
        for code in letter_codes_in(text):
            self.codes.setdefault(code, place >> RECORD_BITS)
        self.small[place] = frozenset(small_sums_in(text) if has_digit(text) else ())
        if place in self.sums:  # `Ann 50 and Bob 20.50`
            self.sums[place].update(plain_sums(run))
        for currency in currencies_in(text):
            self._put(self.whole, currency, place)
        for counts, beside in (*counted(text), *numbered_by(text)):
            its_first = self.numbered.setdefault(counts, {})
            for word in beside:
                its_first.setdefault(word, place >> RECORD_BITS)
        said = f" {' '.join(words(text))} "
        plainly = without_accents(said)
        self.accents = self.accents or plainly is not said
        self.user_words.append((place >> RECORD_BITS, said))
        self.user_plainly.append((place >> RECORD_BITS, plainly))
        if self.loosely:
            self.heard.listen(self.user_plainly)
        self.wishes.hear(text, run, place >> RECORD_BITS)

    def _add_record(self, record: Mapping[str, Any], place: int) -> None:
        wanted = record.get("when")
        if isinstance(wanted, list):
            self.wanting[place] = [_texts(names) for names in wanted]
            if ids := _texts(record.get("of")):
                self.looked_up[place] = ids
            self._add_ways(record, place)
        if record.get("ask"):
            self.doubtful.add(place)
        if record.get("wide"):
            self.wide.add(place)
        for text in _texts(record.get("texts")):
            self._add_text(text, place)
        for value in _texts(record.get("values")):
            forms = forms_of(value)
            for spelling in forms.whole:
                self._put(self.whole, spelling, place)
            for word in forms.words:
                self._put(self.words, word, place)
            for host in forms.hosts:
                self._put(self.hosts, host, place)
            for day in forms.days:
                self._put(self.days, day, place)
            self._add_numbers(forms.numbers, place)

    def _add_ways(self, record: Mapping[str, Any], place: int) -> None:
        near, the, kinds = (_texts(record.get(name)) for name in ("near", "the", "kinds"))
        if near or the or kinds:
            sets = [frozenset(some.split()) for some in near if some.strip()]
            self.loosely[place] = Referred(sets, the, frozenset(kinds))
            self.kinds.setdefault(place >> RECORD_BITS, set()).update(kinds)
            self.heard.listen(self.user_plainly)

    def _add_text(self, text: str, place: int) -> list[str]:
        self.texted.add(place)
        for day in days_in(text):
            self._put(self.days, day, place)
        run = tokens(text)
        self._add_numbers(numbers_in([*run, *round_sums(text)]), place)
        start = len(self.run)
        # Another thread may look things up meanwhile: it must not find a position without a place.
        self.places += [place] * (len(run) + 1)
        self.run += [*run, ""]  # no value reaches from one text into the next
        for position, token in enumerate(run, start=start):
            self.at.setdefault(token, []).append(position)
        for spelling in other_spellings(text):
            self._put(self.whole, spelling, place)
        said = words(text)[:MAX_TOKENS]
        for word in dict.fromkeys(said):
            self._put(self.words, word, place)
        if not text.isascii():
            for word in dict.fromkeys(said):
                self._put(self.words, without_accents(word), place)
        for host in hosts_in(text):
            self._put(self.hosts, host, place)
        return run

    def _add_numbers(self, found: Set[float], place: int) -> None:
        if found:
            found = found | self.numbers.get(place, frozenset())
            self.numbers[place] = set(sorted(found)[-_MOST_NUMBERS:])

    @staticmethod
    def _put(table: dict[_Key, list[int]], value: _Key, place: int) -> None:
        if value:
            known = table.get(value)
            if known is None:
                table[value] = [place]
            elif known[-1] != place and len(known) < MAX_PLACES:
                known.append(place)

    def occurrences(self, run: Sequence[str], key: str, end: int) -> Iterator[int]:
        """The places before `end` where `run` stands, whole and in this order.

        `key` is the run with one space between its tokens.
        """
        if len(run) > MAX_RUN:
            return
        for place in self.whole.get(key, ()):
            if place >= end:
                break
            yield place
        if len(run) > 1:
            yield from self._in_a_row(list(run), end)
            return
        for position in self.at.get(key, ())[:MAX_PLACES]:
            if self.places[position] >= end:
                break
            yield self.places[position]

    def _in_a_row(self, run: list[str], end: int) -> Iterator[int]:
        rarest: Sequence[int] = ()
        offset = -1
        for number, token in enumerate(run):
            found = self.at.get(token)
            if found is None:
                return
            if offset < 0 or len(found) < len(rarest):
                rarest, offset = found, number
        for position in rarest[:MAX_PLACES]:
            place = self.places[position]
            if place >= end:
                break
            start = position - offset
            if start >= 0 and self.run[start : start + len(run)] == run:
                yield place

    def same_subject(self, entry: int, about: Sequence[Set[str]]) -> bool:
        """Whether the source of an entry speaks of what one of these does, if both are told."""
        source = self.about[entry]
        named = [words for words in about if words]
        return not source or not named or any(source & words for words in named)

    def places_of(self, day: Day) -> list[int]:
        """Where a day is written, in its year or without one."""
        return [*self.days.get(day, ()), *self.days.get((0, *day[1:]), ())]

    def referring(self, place: int, end: int) -> Iterator[int]:
        """The messages of the user before the entry `end` that refer to a record."""
        beside = self.kinds[place >> RECORD_BITS]
        said = self.heard.referring(self.loosely[place], beside)
        return (entry << RECORD_BITS for entry in said if entry < end)

    def user_wrote(self, piece: str, private: PrivatePieces, end: int) -> bool:
        """Whether a private piece stands in a message of the user's, in one of its groupings."""
        return private.stands_in(piece, [text for entry, text in self.user_words if entry < end])


@dataclass(slots=True)
class Seen:
    """The entries of a ledger, and what can be looked up in them."""

    entries: list[Mapping[str, object]] = field(default_factory=list)
    user: dict[str, int] = field(default_factory=dict)
    """Telling values of the user's messages: the entry where each stands first."""
    tools: dict[str, int] = field(default_factory=dict)
    """The same for what tools gave, trusted or not."""
    by_user: list[int] = field(default_factory=list)
    """The entries in which the user wrote more than a yes, rising."""
    private: PrivatePieces = field(default_factory=lambda: _NONE)
    judged: set[str] = field(default_factory=set)
    """By what the records of all entries were believed: see `Ledger.judged_by`."""
    strict: dict[frozenset[str], Seen] = field(default_factory=dict)
    """The same in which only records stand that were believed by one of these."""
    told: list[tuple[int, str]] = field(default_factory=list)
    """How many entries stand in receipts, and the last receipt that says so; rising."""
    index: Index | None = None
    """All else; None until somebody asks, for most policies never do."""
    firm: dict[str, int] = field(default_factory=dict)
    """Short values that are known whatever is asked and whoever asks, each with an entry from which
    they are: what a call holds was nearly always said before, and is looked up in one step."""
    asked_for: dict[Set[str], int] = field(default_factory=dict)
    """Words of wishes, each list with the first entry in which the user wrote one of them."""

    def add(self, entry: Mapping[str, object]) -> None:
        """Keep one entry."""
        number = len(self.entries)
        table = self.tools
        if entry.get("source") == USER:
            table = self.user
            if not only_agrees(str(entry.get("text") or "")):
                self.by_user.append(number)
        for value in _texts(entry.get("values")):
            table.setdefault(value, number)
        if entry.get("records"):
            self.judged.add(str(entry.get("judged") or ""))
        for piece in _texts(entry.get("private")):
            if self.private is _NONE:
                self.private = PrivatePieces()
            self.private.add(piece, number)
        self.entries.append(entry)

    def hold(self, value: str, place: int) -> None:
        """Note that a telling value is known at a place; not where that hangs on something."""
        index = self.ready()
        if len(value) > LONGEST_KEPT or place in index.doubtful or place in index.wanting:
            return
        if len(self.firm) >= _MOST_KEPT:
            self.firm.clear()
        self.firm[value] = place >> RECORD_BITS

    def first_of(self, words: frozenset[str]) -> int:
        """The first entry in which the user asked with one of the words; beyond all for none."""
        known = self.asked_for.get(words)
        if known is not None:
            return known
        table = self.ready().wishes.said
        first = min((table[word] for word in words if word in table), default=NEVER)
        if first != NEVER:  # later entries have higher numbers: it stays the first
            if len(self.asked_for) >= _MOST_KEPT:
                self.asked_for.clear()
            self.asked_for[words] = first
        return first

    def ready(self) -> Index:
        """The index, in which every entry stands."""
        index = self.index
        if index is None or index.known < len(self.entries):
            with _ONE_AT_A_TIME:
                index = self.index = self.index or Index()
                while index.known < len(self.entries):
                    index.add(self.entries[index.known])
        return index

    def only(self, judges: frozenset[str]) -> Seen:
        """The index without records that somebody else believed; it grows as this one does."""
        with _ONE_AT_A_TIME:  # an entry that is added twice would move all that come after it
            seen = self.strict.setdefault(judges, Seen())
            for entry in self.entries[len(seen.entries) :]:
                if entry.get("records") and str(entry.get("judged") or "") not in judges:
                    entry = {name: value for name, value in entry.items() if name != "records"}
                seen.add(entry)
        return seen


_MOST_NUMBERS = 100


def _texts(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _records(value: object) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []
