"""What a call really holds: its arguments parsed once, walked whole, seen through every encoding.

Rules never look at the text that a model typed, and never at a rendered string. They look at each
string, key and number of the parsed arguments (a leaf), as it stands and in its decoded views.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from .arguments import MAX_CHARS, MAX_DEPTH, parse_arguments
from .destinations import destinations, split_destinations
from .encodings import json_text, plain, views
from .fields import Kind, kind_below, kind_for_tool
from .hosts import Destination
from .patterns import PatternSet
from .shell import shell_views
from .verdict import ToolCall

__all__ = ["MAX_CHARS", "MAX_DEPTH", "Examined", "parse_arguments"]

MAX_LEAVES = 100_000
MAX_OPENED = 4
"""Levels of JSON text within JSON text that are opened."""

_LONG = 10_000
"""Length from which decoding is not put off: to look whether it could act costs as much."""

_FRAGMENT = 80
"""Length up to which a text with spaces can be a piece of something split over arguments."""
_ENDS = 256
"""Characters of a long fragment that are joined to its neighbours, at each end."""

_PROSE_DOTS = re.compile(r"[^./\\]\.+\Z")
_PARENT_DIR = re.compile(r"(?:^|[/\\])\.\.\s*\Z")
_SMALLEST_ADDRESS = 1 << 24
"""Numbers below it are ids and ports, not IPv4 addresses."""


class Examined:
    """A call as the rules see it. Everything is computed once, on first need.

    Leaves are numbered: every key and every string or number, in order; JSON text inside a string
    is opened and its leaves follow. `hits` names the patterns of the policy that may match.
    """

    def __init__(self, call: ToolCall, patterns: PatternSet | None = None) -> None:
        self.call = call
        self.name = call.name
        self.arguments = call.arguments
        self.leaves: list[str] = []
        self.kinds: list[int] = []
        self.views: dict[int, list[str]] = {}
        self.bounds: list[tuple[int, str]] = []
        """Limits that were hit: the number of the leaf (-1: the call as a whole), in words."""
        self.noise: list[tuple[int, str]] = []
        """Readable runs inside binary data: looked at for secrets only."""
        self._strings: list[int] = []
        self._json: set[int] = set()
        self._seen: int = Kind.TEXT
        """All kinds that occur."""
        self._pointless = False
        """There is nothing in the call that could name a destination."""
        self._lists: list[tuple[int, int]] = []
        self._pairs: list[str] = []
        self._opened: list[tuple[int, int, Any]] = []
        self.patterns = patterns if patterns is not None else PatternSet()
        tool = kind_for_tool(call.name)
        try:
            self._walk(call.arguments, Kind.TEXT, tool, MAX_DEPTH)
        except _TooMuch as limit:
            self.bounds.append((-1, str(limit)))
        self.joined = tuple(self._joined())
        self.hits = self._hits(tool)

    def _walk(self, value: Any, kind: int, tool: int, depth: int) -> None:
        """Number the leaves below `value`, whose field is of `kind`."""
        if type(value) is str:
            self._strings.append(len(self.leaves))
            self.leaves.append(value)
            self.kinds.append(kind | tool)
            self._seen |= kind | tool
        elif type(value) is dict:
            if not depth:
                raise _TooMuch("arguments are nested too deeply")
            for key, item in value.items():
                self.leaves.append(key)
                self.kinds.append(Kind.TEXT)
                below = kind_below(key, kind)
                if below & Kind.SECRET and type(item) is str:
                    self._pairs.append(f"{key}={item}")
                self._walk(item, below, tool, depth - 1)
        elif type(value) is list:
            if not depth:
                raise _TooMuch("arguments are nested too deeply")
            start = len(self.leaves)
            for item in value:
                self._walk(item, kind, tool, depth - 1)
            if len(value) > 1 and all(type(item) is str for item in value):
                self._lists.append((start, len(self.leaves)))
        elif type(value) in (int, float):
            if type(value) is int and value.bit_length() > 4_096:
                raise _TooMuch("arguments hold a number that is too long")
            self.leaves.append(str(value))
            kind = kind if value >= _SMALLEST_ADDRESS else Kind.TEXT
            self.kinds.append(kind)
            self._seen |= kind
        elif value is not None and type(value) is not bool:
            raise _TooMuch(f"arguments hold a {type(value).__name__}, which JSON cannot")
        if len(self.leaves) > MAX_LEAVES:
            raise _TooMuch(f"arguments hold more than {MAX_LEAVES} values")

    def _hits(self, tool: int) -> frozenset[int]:
        """Search all texts for all patterns; decode only where something could be encoded."""
        text = "\n".join(self.leaves)
        if len(text) > MAX_CHARS:
            self.bounds.append((-1, f"arguments are longer than {MAX_CHARS} characters"))
            return frozenset()
        hits = self.patterns.candidates(text)
        signal = self.patterns.signal
        encoded = signal in hits or not signal
        self._pointless = not (
            encoded
            or ":" in text
            or "@" in text
            or "//" in text
            or "\\" in text
            or self._seen & (Kind.POINTS | Kind.MAIL)
        )
        commands = self._commands()
        if self.joined:
            hits |= self.patterns.candidates("\n".join(self.joined))
        if not encoded and not commands:
            return hits
        known = len(self.leaves)
        if encoded:
            self._decode(tool)
        for index in commands:
            for seen in (self.leaves[index], *self.views.get(index, ())):
                self.views.setdefault(index, []).extend(shell_views(seen))
        more = [view for texts in self.views.values() for view in texts]
        more += self.leaves[known:]
        more += [text for _, text in self.noise]
        return hits | self.patterns.candidates("\n".join(more)) if more else hits

    def _commands(self) -> list[int]:
        if not self._seen & Kind.COMMAND:
            return []
        return [i for i, kind in enumerate(self.kinds) if kind & Kind.COMMAND]

    def _decode(self, tool: int) -> None:
        """Fill in `views`; open JSON text, whose leaves are decoded in turn."""
        index = 0
        levels: dict[int, int] = {}
        while index < len(self.leaves):
            text = self.leaves[index]
            inner = _as_json(text)
            source = text if inner is _NO_JSON else _without_escapes(text, inner)
            found: list[str] = []
            if source != text:
                found.append(source)  # stands for the text: an escape of JSON is no content
                self._json.add(index)
            if len(source) > _LONG or not plain(source):
                seen = views(source)
                found += seen.texts
                self.noise += [(index, run) for run in seen.noise]
                if seen.bound:
                    self.bounds.append((index, seen.bound))
            if _PARENT_DIR.search(text):
                found.append(text.rstrip() + "/")
            if found:
                self.views[index] = found
            for value in (inner, *map(_as_json, found[source != text :])):
                if value is not _NO_JSON:
                    self._open(index, value, levels, tool)
            index += 1

    def _open(self, index: int, value: Any, levels: dict[int, int], tool: int) -> None:
        level = levels.get(index, 0) + 1
        if level > MAX_OPENED or value is _TOO_DEEP:
            self.bounds.append((index, "JSON text is nested too deeply"))
            return
        start = len(self.leaves)
        self._opened.append((start, index, value))
        try:
            self._walk(value, self.kinds[index], tool, MAX_DEPTH)
        except _TooMuch as limit:
            self.bounds.append((index, str(limit)))
        levels.update((i, level) for i in range(start, len(self.leaves)))

    def _joined(self) -> Iterator[str]:
        """Neighbouring pieces put together: what was split over arguments is whole again."""
        pieces = [_ends(t) for t in map(self.leaves.__getitem__, self._strings) if _is_fragment(t)]
        if len(pieces) > 1:
            glued = [p + "\n" if _PROSE_DOTS.search(p) else p for p in pieces]
            if len(pieces) > 2:
                yield "".join(glued)
            for first, second in zip(glued, pieces[1:], strict=False):
                yield first + second
        yield from self._pairs
        for start, end in self._lists:
            yield " ".join(map(_ends, self.leaves[start:end]))

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
        """Where the call could send something: hosts in any text, with the leaf's number."""
        if self._pointless:
            return
        found: set[Destination] = set()
        for index, text in self.texts():
            kind = self.kinds[index]
            if not kind & Kind.POINTS and not _pointed(text):
                continue
            for destination in destinations(text, kind):
                if destination not in found:
                    found.add(destination)
                    yield index, destination
        yield from split_destinations(self.leaves, self.kinds, self._strings)

    @cached_property
    def _paths(self) -> list[str]:
        paths = list(_walk_paths(self.arguments, ""))
        for start, parent, value in self._opened:
            del paths[start:]
            paths += _walk_paths(value, paths[parent] if parent < len(paths) else "")
        return paths

    def path(self, index: int) -> str:
        """Where the leaf stands in the arguments: `cc[0].email`; empty for the call as a whole."""
        return self._paths[index] if 0 <= index < len(self._paths) else ""


class _TooMuch(ValueError):
    """A bound of the walk."""


_NO_JSON = object()
_TOO_DEEP = object()


def _as_json(text: str) -> Any:
    """The value of a text that is JSON (an object, a list, a string); `_NO_JSON` otherwise."""
    core = text.strip()
    if len(core) < 2 or core[0] + core[-1] not in ("{}", "[]", '""'):
        return _NO_JSON
    try:
        return json.loads(core, object_pairs_hook=_all_pairs)
    except RecursionError:
        return _TOO_DEEP
    except ValueError:
        return _NO_JSON


def _without_escapes(text: str, inner: Any) -> str:
    """JSON text as what it says: the string that it is, or itself with the escapes undone."""
    for _ in range(MAX_OPENED):
        if type(inner) is not str:
            break
        text, inner = inner, _as_json(inner)
    return text if inner is _NO_JSON else json_text(text)


def _all_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object that keeps every value of a repeated key."""
    found: dict[str, Any] = dict(pairs)
    if len(found) != len(pairs):
        found = {key: [] for key in found}
        for key, value in pairs:
            found[key].append(value)
    return found


def _pointed(text: str) -> bool:
    """Whether a text holds a sign without which it names no destination by itself."""
    return "@" in text or ":" in text or "//" in text or "\\" in text


def _is_fragment(text: str) -> bool:
    return bool(text) and (len(text) <= _FRAGMENT or not re.search(r"\s", text))


def _ends(text: str) -> str:
    return text if len(text) <= 2 * _ENDS else text[:_ENDS] + "\n" + text[-_ENDS:]


def _walk_paths(value: Any, path: str) -> Iterator[str]:
    """The path of every leaf, in the order in which `Examined` numbers them."""
    if isinstance(value, dict):
        for key, item in value.items():
            below = f"{path}.{key}" if path else key
            yield below
            yield from _walk_paths(item, below)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _walk_paths(item, f"{path}[{number}]")
    elif value is not None and not isinstance(value, bool):
        yield path
