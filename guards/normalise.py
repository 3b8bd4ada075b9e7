"""What a call really holds: its arguments parsed once, walked whole, seen through every encoding.

Rules never look at the text that a model typed, and never at a rendered string. They look at each
string, key and number of the parsed arguments (a leaf), as it stands and in its decoded views.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from math import isfinite
from typing import Any

from .arguments import MAX_CHARS, MAX_DEPTH, parse_arguments
from .beside import Beside, Rows, in_list, in_mapping, in_rows, in_table
from .connected import connected
from .destinations import BASES, LONGEST_HEAD, destinations_of, is_head, split_destinations
from .encodings import ALL_SIGNALS, ESCAPES, FOLDS, QUOTES, plain, views
from .fields import LISTED_NAMES, MAX_NAME, Kind, kind_below, kind_for_tool, kind_named, kind_of
from .hosts import Destination
from .json_leaves import MAX_OPENED, NO_JSON, TOO_DEEP, as_json, leaf_paths, without_escapes
from .patterns import SIGNS, PatternSet
from .shell import shell_views
from .verdict import Arguments, ToolCall

__all__ = ["MAX_CHARS", "MAX_DEPTH", "Examined", "parse_arguments"]

MAX_SEARCHED = 500_000
"""Bytes (UTF-8) of a call that are searched: more than any model writes in one call."""

MAX_LEAVES = 50_000
_FRAGMENT = 80
"""Length up to which a text with spaces can be a piece of something split over arguments."""
_ENDS = 256
"""Characters of a long fragment that are joined to its neighbours, at each end."""

_TAILS = frozenset(".:/\\@ \t\n")
"""Signs with which a piece ends that another goes on with, or that a full stop parts from it."""
_PROSE_DOTS = re.compile(r"[^./\\]\.+\Z")
_PARENT_DIR = re.compile(r"(?:^|[/\\])\.\.\s*\Z")
_TEXT, _SECRET, _POINTS, _COMMAND = Kind.TEXT, Kind.SECRET, Kind.POINTS, Kind.COMMAND
_POINTS_OR_RUNS = _POINTS | _COMMAND
_KEYED = _POINTS & ~Kind.LABELLED
_NAME, _VALUE = Kind.NAME, Kind.VALUE
_SPEAKS = _NAME | _SECRET
_SMALLEST_ADDRESS = 1 << 24
"""Numbers below it are ids and ports, not IPv4 addresses."""


@dataclass(init=False, repr=False, eq=False, slots=True)  # slots are read faster, each time
class Examined:
    """A call as the rules see it. Everything is computed once.

    Leaves are numbered: every key and every string or number, in order; JSON text inside a string
    is opened and its leaves follow.
    """

    call: ToolCall
    name: str
    arguments: Arguments
    patterns: PatternSet
    leaves: list[str]
    kinds: list[int]
    views: dict[int, list[str]]
    opened: list[tuple[int, int, Any]]
    """JSON text that was opened: its first leaf's number, that of the text, its value."""
    noise: list[tuple[int, str]]
    """Readable runs inside binary data: looked at for secrets only."""
    decoded: bool
    """Whether there is more to see than what stands there: decoded views, JSON that was opened."""
    joined: tuple[str, ...]
    searched: str
    """The leaves of the arguments as they stand and what they say together, each on a line."""
    hits: frozenset[int]
    """Which patterns of the policy may match."""
    numbers: bool
    """Whether a leaf may be a whole number."""
    bounds: list[tuple[int, str]]
    """Limits that were hit: the number of the leaf (-1: the call as a whole), in words."""
    too_long: bool
    """More than is searched: `hits` says nothing, and the call can only be blocked."""
    _cut: bool
    """Whether a value may be the beginning of a destination that another goes on with."""
    _signs: tuple[str, ...] | None
    """Those signs of destinations that are in the call; None where nothing can be one."""
    _commands: bool
    _every_kind: int
    _strings: list[int]
    _json: set[int]
    _lists: list[tuple[int, int]]
    _pairs: list[str]
    _rows: Rows
    """The last list of lists that was walked."""
    _all_paths: list[str] | None

    def __init__(self, call: ToolCall, patterns: PatternSet | None = None) -> None:
        self.call = call
        self.name = call.name
        self.arguments = call.arguments
        self.patterns = patterns if patterns is not None else PatternSet()
        self.leaves, self.kinds, self._strings = [], [], []
        self.views, self.opened, self.noise = {}, [], []
        self.bounds, self._lists, self._pairs = [], [], []
        self.decoded = self.too_long = self._cut = self._commands = False
        self.numbers = True
        self._signs = self._all_paths = None
        self._every_kind = tool = kind_for_tool(call.name)
        try:
            self._walk(call.arguments, _TEXT, tool, MAX_DEPTH)
        except _TooMuch as limit:
            self.bounds.append((-1, str(limit)))
        text = "\n".join(self.leaves)
        if len(text) > MAX_SEARCHED or (
            not text.isascii() and len(text.encode("utf-8", "surrogatepass")) > MAX_SEARCHED
        ):
            self.bounds.append((-1, f"arguments are longer than {MAX_SEARCHED} bytes"))
            self.too_long = True
            self.joined, self.searched, self.hits = (), "", frozenset()
        else:
            self.joined = joined = self._joined()
            self.searched = "\n".join((text, *joined)) if joined else text
            self.hits = self._hits(text, tool)

    def _walk(self, value: Any, kind: int, tool: int, depth: int) -> None:
        """Number the leaves below `value`, whose field is of `kind`."""
        leaves, kinds = self.leaves, self.kinds
        if type(value) is str:
            self._strings.append(len(leaves))
            leaves.append(value)
            kinds.append(kind | tool)
        elif type(value) is dict:
            if not depth or len(value) > MAX_LEAVES:
                raise _too_much(depth)
            keyed = Kind.PLACE if kind & _KEYED else _TEXT  # `hosts: {evil.test: 80}`
            strings = self._strings
            told, named = _TEXT, False
            places: list[int] | None = None
            tables: list[Rows] | None = None
            for key, item in value.items():
                if len(key) <= MAX_NAME:
                    below = kind_below(key, kind) if kind else kind_of(key)
                else:
                    below = _TEXT
                if below:
                    told |= below
                    if below & _VALUE:
                        (places := places or []).append(len(leaves) + 1)
                    if below & _SPEAKS and type(item) is str:
                        if below & _SECRET:
                            self._pairs.append(f"{key}={item}")
                        if below & _NAME and kind_named(item):
                            named = True
                if type(item) is str:  # by far the most common, and here without a call
                    strings.append(len(leaves) + 1)
                    leaves += (key, item)
                    kinds += (keyed, below | tool)
                else:
                    leaves.append(key)
                    kinds.append(keyed)
                    self._walk(item, below, tool, depth - 1)
                    if type(item) is list and item and type(item[0]) is list:
                        (tables := tables or []).append(self._rows)
            self._every_kind |= told
            if places and named:
                self._name(in_mapping(value, places))
            if tables:
                self._name(in_table(value, tables))
        elif type(value) is list:
            if not depth or len(value) > MAX_LEAVES:
                raise _too_much(depth)
            start = len(leaves)
            starts: list[int] = []
            for item in value:
                starts.append(len(leaves))
                self._walk(item, kind, tool, depth - 1)
            if len(value) > 1 and all(type(item) is str for item in value):
                self._lists.append((start, len(leaves)))
                if not LISTED_NAMES.isdisjoint(value):
                    self._name(in_list(value, start))
            elif value and type(value[0]) is list:
                self._rows = value, starts
                self._name(in_rows(value, starts))
        elif type(value) in (int, float):
            if type(value) is int and value.bit_length() > 4_096:
                raise _TooMuch("arguments hold a number that is too long")
            if type(value) is float and not isfinite(value):
                raise _TooMuch("arguments hold a number that JSON cannot")
            leaves.append(str(value))
            kinds.append(kind if value >= _SMALLEST_ADDRESS else Kind.TEXT)
        elif value is not None and type(value) is not bool:
            raise _TooMuch(f"arguments hold a {type(value).__name__}, which JSON cannot")
        if len(leaves) > MAX_LEAVES:
            raise _TooMuch(_TOO_MANY)

    def _name(self, beside: Iterable[Beside]) -> None:
        """Take values for those of fields whose names stand beside them."""
        for number, kind, name in beside:
            self.kinds[number] |= kind
            self._every_kind |= kind
            if kind & _SECRET:
                self._pairs.append(f"{name}={self.leaves[number]}")

    def _hits(self, text: str, tool: int) -> frozenset[int]:
        """Search all texts for all patterns; decode only where something could be encoded."""
        patterns, kinds = self.patterns, self._every_kind
        seen = patterns.search(self.searched)
        hits, signals, self.numbers = seen.hits, seen.signals, seen.numbers
        # What the joined texts hold makes no signal: they are searched apart only if one is there.
        if signals and self.joined:
            signals &= patterns.search(text).signals
        if seen.signs or signals or kinds & _POINTS_OR_RUNS:
            self._signs = SIGNS if signals else seen.signs
        if not signals and not kinds & _COMMAND:
            return hits
        known, self._json = len(self.leaves), set()
        if signals:
            self._decode(tool, signals)
        self._commands = bool(self._every_kind & _COMMAND)
        commands = [i for i, kind in enumerate(self.kinds) if kind & _COMMAND]
        for index in commands:
            for view in (self.leaves[index], *self.views.get(index, ())):
                self.views.setdefault(index, []).extend(shell_views(view))
        self.decoded = self._cut = bool(self.views or self.opened) or self._cut
        more = [view for texts in self.views.values() for view in texts]
        more += self.leaves[known:]
        more += [text for _, text in self.noise]
        return hits | patterns.candidates("\n".join(more)) if more else hits

    def _decode(self, tool: int, signals: Set[int]) -> None:
        """Fill in `views`; open JSON text, whose leaves are decoded in turn.

        `signals` were found somewhere in the leaves. What is decoded can hold any of them.
        """
        if ESCAPES in signals:
            signals = ALL_SIGNALS
        opened = QUOTES in signals or FOLDS in signals
        index = 0
        levels: dict[int, int] = {}
        while index < len(self.leaves):
            text = self.leaves[index]
            inner = as_json(text) if opened else NO_JSON
            source = text if inner is NO_JSON else without_escapes(text, inner)
            found: list[str] = []
            if source != text:
                found.append(source)  # stands for the text: an escape of JSON is no content
                self._json.add(index)
            if not plain(source, signals):
                seen = views(source)
                found += seen.texts
                self.noise += [(index, run) for run in seen.noise]
                if seen.bound:
                    self.bounds.append((index, seen.bound))
                if seen.texts:
                    signals, opened = ALL_SIGNALS, True
            if ".." in text and _PARENT_DIR.search(text):
                found.append(text.rstrip() + "/")
            if found:
                self.views[index] = found
            for value in (inner, *map(as_json, found[source != text :])):
                if value is not NO_JSON:
                    self._open(index, value, levels, tool)
            index += 1

    def _open(self, index: int, value: Any, levels: dict[int, int], tool: int) -> None:
        level = levels.get(index, 0) + 1
        if level > MAX_OPENED or value is TOO_DEEP:
            self.bounds.append((index, "JSON text is nested too deeply"))
            return
        start = len(self.leaves)
        self.opened.append((start, index, value))
        try:
            self._walk(value, self.kinds[index], tool, MAX_DEPTH)
        except _TooMuch as limit:
            self.bounds.append((index, str(limit)))
        levels.update((i, level) for i in range(start, len(self.leaves)))

    def _joined(self) -> tuple[str, ...]:
        """Neighbouring pieces put together: what was split over arguments is whole again."""
        pieces: list[str] = []
        leaves = self.leaves
        tails = False
        for index in self._strings:
            text = leaves[index]
            if len(text) > _FRAGMENT:
                if " " in text or text.split(None, 1) != [text]:
                    if text[-1] in _TAILS and len(text.strip()) <= LONGEST_HEAD:
                        self._cut = True
                    continue  # prose is no piece of anything
                text = _ends(text)
            if text:
                pieces.append(text)
                if text[-1] in _TAILS:
                    tails = True
        glued = pieces
        if tails:
            self._cut = True
            glued = [_glued(text) for text in pieces]
        found = self._pairs
        if len(pieces) == 2:
            found = [glued[0] + pieces[1], *found]
        elif len(pieces) > 2:
            found = ["".join(glued), *map(str.__add__, glued, pieces[1:]), *found]
        for start, end in self._lists:
            found.append(" ".join(map(_ends, leaves[start:end])))
        return tuple(found)

    def texts(self) -> Iterator[tuple[int, str]]:
        """Every leaf and every view, each with the leaf's number."""
        for index, text in enumerate(self.leaves):
            found = self.views.get(index)
            if found is None:
                yield index, text
                continue
            if index not in self._json:
                yield index, text
            for view in found:
                yield index, view

    def destinations(self) -> Iterator[tuple[int, Destination]]:
        """Where the call could send something: hosts in any text, with the leaf's number.

        May repeat itself, and is found as it is asked for: who has seen enough can stop.
        """
        signs, kinds = self._signs, self.kinds
        if signs is None:
            return
        if self.views:
            for index, text in self.texts():
                if kinds[index] & _POINTS or any(map(text.__contains__, signs)):
                    yield from self._leads(index, text)
        else:
            for index in self.pointing():
                yield from self._leads(index, self.leaves[index])
        if self._commands:
            yield from connected(self.leaves, kinds, self._strings, self._lists, self.path)
        if self._cut or self._every_kind & BASES or "//" in signs:
            yield from split_destinations(self.leaves, kinds, self._strings)

    def _leads(self, index: int, text: str) -> Iterator[tuple[int, Destination]]:
        if self._cut and is_head(text) and index < (self._strings or (0,))[-1]:
            return  # `split_destinations` says where it leads with what follows
        for destination in destinations_of(text, self.kinds[index]):
            yield index, destination

    def pointing(self) -> list[int]:
        """The leaves that may say by themselves, as they stand, where something is sent."""
        found: list[int] = []
        signs, kinds = self._signs, self.kinds
        if signs is None:
            return found
        for index, text in enumerate(self.leaves):
            if kinds[index] & _POINTS:
                found.append(index)
                continue
            for sign in signs:
                if sign in text:
                    found.append(index)
                    break
        return found

    @property
    def only_points(self) -> bool:
        """Whether nothing is sent anywhere but where the `pointing` leaves say."""
        joined = self._cut or self._every_kind & BASES or "//" in (self._signs or ())
        return not (self.decoded or self._commands or joined)

    def _paths(self) -> list[str]:
        paths = list(leaf_paths(self.arguments, ""))
        for start, parent, value in self.opened:
            del paths[start:]
            paths += leaf_paths(value, paths[parent] if parent < len(paths) else "")
        return paths

    def path(self, index: int) -> str:
        """Where the leaf stands in the arguments: `cc[0].email`; empty for the call as a whole."""
        if self._all_paths is None:
            self._all_paths = self._paths()
        return self._all_paths[index] if 0 <= index < len(self._all_paths) else ""


class _TooMuch(ValueError):
    """A bound of the walk."""


_TOO_MANY = f"arguments hold more than {MAX_LEAVES} values"


def _too_much(depth: int) -> _TooMuch:
    return _TooMuch(_TOO_MANY if depth else "arguments are nested too deeply")


def _glued(text: str) -> str:
    """A piece as it is put before another; what ends a sentence is no part of what follows."""
    return text + "\n" if text[-1] == "." and _PROSE_DOTS.search(text) else text


def _ends(text: str) -> str:
    return text if len(text) <= 2 * _ENDS else text[:_ENDS] + "\n" + text[-_ENDS:]
