"""The ledger: which values were seen in this thread, and where each came from first.

`decide` reads the past through `History` and through nothing else. Values are indexed once, when
they are observed; a decision never reads old text again, so its cost does not depend on how much
the agent has read. The ledger is kept apart from the messages: what compression or a summary does
to those cannot change where a value came from (I10).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from .verdict import Origin

USER = "user"
"""The source of what the user wrote; every other source is a tool's name, a document, a memory."""

MAX_VALUES_AN_OBSERVATION = 2_000
MAX_VALUE_CHARS = 300

_SEPARATORS = str.maketrans(dict.fromkeys("\t\r\n\"'`<>()[]{},;|=*", " "))
_ENDS = ".:!?"
_TELLING = frozenset("@./\\_:-0123456789")

Entry = dict[str, object]
"""One observation as plain data: `{"source": str, "call": str, "values": list[str]}`."""


def values_in(text: str) -> list[str]:
    """The values that can identify something: addresses, links, hosts, paths, numbers, names.

    Linear in the text, in order of appearance, lower case, without repeats; at most
    `MAX_VALUES_AN_OBSERVATION`. Plain words are left out.
    """
    found: dict[str, None] = {}
    for word in text.translate(_SEPARATORS).split():
        if not 3 <= len(word) <= MAX_VALUE_CHARS or _TELLING.isdisjoint(word):
            continue
        for value in _spellings(word.rstrip(_ENDS).casefold()):
            found.setdefault(value)
        if len(found) >= MAX_VALUES_AN_OBSERVATION:
            break
    return list(found)


def _spellings(word: str) -> Iterable[str]:
    """The word itself and, for a link or a mail address, its host."""
    if len(word) < 3:
        return
    yield word
    _, scheme, rest = word.partition("://")
    if scheme:
        host = rest.partition("/")[0].partition("?")[0].rpartition("@")[2]
        yield host.partition(":")[0]
    elif "@" in word:
        yield word.rpartition("@")[2]


class Ledger(list[Entry]):
    """The observations of one thread, in order, with an index from value to first origin.

    A list of plain dicts, so that any checkpointer can store it; the index is rebuilt after a
    reload. Versions share one index as long as one continues the other: each ignores what lies
    beyond its own length, so that appending costs the new entries only.
    """

    __slots__ = ("_index",)

    def __init__(self, entries: Iterable[Entry] = (), *, index: _Index | None = None) -> None:
        super().__init__(entries)
        self._index = index if index is not None else _Index()
        if index is None:
            for entry in self:
                self._index.add(entry)

    def __reduce__(self) -> tuple[type[Ledger], tuple[list[Entry]]]:
        return Ledger, (list(self),)

    def appended(self, entries: Iterable[Entry]) -> Ledger:
        """A new version with `entries` at the end; this one stays as it was."""
        new = list(entries)
        index = self._index
        ahead = index.entries[len(self) : len(self) + len(new)]
        if any(a is not b and a != b for a, b in zip(ahead, new, strict=False)):
            return Ledger([*self, *new])  # another branch of the thread: an index of its own
        for entry in new[len(ahead) :]:
            index.add(entry)
        return Ledger([*self, *new], index=index)

    def origin(self, value: str) -> Origin | None:
        """Where `value` (compared without case) was first seen: the user's word comes first."""
        key = value.casefold()
        for table in (self._index.user, self._index.tools):
            position = table.get(key)
            if position is not None and position < len(self):
                entry = self[position]
                return Origin(str(entry["source"]), str(entry["call"]))
        return None

    def observed(self, text: str, *, source: str, call_id: str = "") -> Entry | None:
        """The entry for a text just seen; None where it holds no value that is new here."""
        table = self._index.user if source == USER else self._index.tools
        values = [v for v in values_in(text) if table.get(v, len(self)) >= len(self)]
        return {"source": source, "call": call_id, "values": values} if values else None


@dataclass(slots=True)
class _Index:
    """First position of each value, by who said it, over `entries`."""

    entries: list[Entry] = field(default_factory=list)
    user: dict[str, int] = field(default_factory=dict)
    tools: dict[str, int] = field(default_factory=dict)

    def add(self, entry: Entry) -> None:
        table = self.user if entry["source"] == USER else self.tools
        values = entry["values"]
        for value in values if isinstance(values, list) else ():
            table.setdefault(str(value), len(self.entries))
        self.entries.append(entry)


@dataclass(frozen=True, slots=True)
class History:
    """All that a decision may know of the past of its thread."""

    ledger: Ledger = field(default_factory=Ledger)
    thread: str = ""
    calls: Mapping[str, int] = field(default_factory=dict)
    """How often each tool was let through in this run."""
    tokens_used: int = 0
    """Tokens that this thread's model calls have used."""

    def origin(self, value: str) -> Origin | None:
        """Where `value` was first seen in this thread, or None."""
        return self.ledger.origin(value)
