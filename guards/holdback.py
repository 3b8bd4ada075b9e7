"""Streamed text, masked (I8): what could still become part of a secret waits until it is decided.

    held = Holdback(policy.redactor)
    for piece in stream: show(held.feed(piece))
    show(held.close())

However the text is cut, what comes out is together what `redactor.all` makes of the whole. Text
goes on as soon as no rule can match its end any more: with the shipped patterns, a word later. What
waits has no bound but the stream's own length, for a private key may be long. A pattern that can
match any text at all (`(?s)secret.*`), or that is too large to be watched, makes all that follows
wait for the end; so does a bare number that is masked in what may be JSON, for its mask depends on
whether the whole is. Nothing leaves because it has waited for long. A piece costs its own length,
and what waits is looked at again only when it has grown by an eighth.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import re2

from .masks import JsonInPieces, Span, runs_of
from .patterns import PatternSet, compile_pattern, searchable
from .pii import PERSONAL, PersonalData
from .prefixes import as_bytes, coarse, ending, is_lazy, partial, places, watched
from .redact import Redactor

_CONTEXT = 64
"""Characters before a match that some rule looks at, and more."""

_TRIMMED = 512
"""Characters that have gone out and are kept, before all but the context is dropped."""

_LOOKED_AT = 256
"""Characters that may wait and be looked at with every piece."""

_AFTER = r"(?:[\x00-\xff]|\z){2}"
"""What the check of personal data looks at behind a candidate."""


@dataclass(frozen=True, slots=True)
class _Rule:
    """One pattern: how its matches are found, and what in them is masked."""

    regex: re2.Pattern
    label: str
    group: int = 0
    real: Any = None
    """For personal data: `real(text, start, end)` gives what in a candidate is real."""
    judged: Any = None
    """For a secret of no format: whether a match is one."""
    beginning: re2.Pattern | None = None
    """For a lazy pattern: it, also where the text ends in it."""

    def matches(self, text: str, start: int) -> Iterator[tuple[int, int, list[Span]]]:
        """Matches from `start` on, and what to mask in each."""
        for match in self.regex.finditer(text, start):
            first, last = match.span()
            if self.real is not None:
                yield first, last, list(self.real(text, first, last))
            elif self.judged is not None and not self.judged(match):
                yield first, last, []
            else:
                inner = match.span(self.group)
                begin, end = inner if inner[0] >= 0 else (first, last)
                yield first, last, [(begin, end, self.label)] if begin < end else []

    def undecided(self, text: str, start: int) -> int:
        """For a lazy pattern: the first place from which more text could still change something."""
        assert self.beginning is not None
        for match in self.beginning.finditer(text, start):
            if match.end() == len(text):
                return int(match.start())
        return len(text)


@dataclass(frozen=True, slots=True)
class _Watch:
    """The rules of a redactor, and two patterns that see them all."""

    rules: tuple[_Rule, ...]
    patterns: PatternSet
    """Those of the rules, in their order: most rules match nothing in a text."""
    paths: Callable[[bytes, int], tuple[int, int]]
    """The first place from which some rule matches, or the text ends in a beginning."""
    beginnings: re2.Pattern
    """The first place from which the text ends in a beginning (lazy rules are left out)."""

    def undecided(self, text: str, data: bytes, start: int) -> int:
        """The first place from which more text could still change what is masked."""
        found = [int(self.beginnings.search(data, start).start())]
        found += [r.undecided(text, start) for r in self.rules if r.beginning is not None]
        return min(found)

    def matching(self, text: str) -> list[_Rule]:
        """The rules that may match somewhere in the text."""
        hits = sorted(self.patterns.candidates(text))
        return [self.rules[number - 1] for number in hits]


class Holdback:
    """One streamed text on its way out; `kinds` are those that `Redactor.masked` takes.

    Raises:
        ValueError: one of them is no kind.
    """

    def __init__(self, redactor: Redactor, *, kinds: Collection[str] = ("all",)) -> None:
        rows = tuple((p.name, p.regex, p.real) for p in redactor.patterns)
        known = tuple((name, re2.escape(text), None) for name, text in redactor.literals.items())
        redactor.masked("", kinds)  # says which of them is no kind
        every = "all" in kinds
        self._redactor = redactor
        self._kinds = tuple(kinds)
        secrets = rows + known if every or "secrets" in kinds else ()
        wanted = frozenset((*PERSONAL, "presidio") if every else kinds)
        self._watch = _watch(secrets, redactor.personal, wanted)
        self._text = ""
        self._data = b""  # the text as the watch reads it
        self._at = 0
        self._more: list[str] = []
        self._missing = 0
        self._labels: dict[str, None] = {}
        self._json = JsonInPieces()
        self._gone = 0
        self._ends_whole = self._watch is None

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of what was masked up to now, each once, in order of appearance."""
        return tuple(self._labels)

    def feed(self, piece: str) -> str:
        """One more piece of the text; what may go out now, which is often nothing."""
        self._missing -= len(piece)
        watch = self._watch
        if self._missing > 0 or self._ends_whole or watch is None:
            self._more.append(searchable(piece))
            return ""
        if self._more or not piece.isascii():
            text, data = self._joined(searchable(piece))
        else:  # nearly always
            text = self._text = self._text + piece
            data = self._data = self._data + piece.encode()
        first, last = watch.paths(data, self._at)
        out = self._passed(first) if first > self._at else ""
        size = len(data)
        if last < size:  # it seems that something matches
            out += self._released(watch.undecided(text, data, first))
        self._gone += len(out)
        at = self._at
        waiting = size - at
        self._missing = waiting // 8 if waiting > _LOOKED_AT else 0
        if at > _TRIMMED:
            cut = at - _CONTEXT
            self._text, self._data, self._at = text[cut:], data[cut:], _CONTEXT
        return out

    def close(self) -> str:
        """The rest: the text has ended."""
        text, _ = self._joined("")
        out = "" if self._ends_whole else self._released(len(text))
        if not self._ends_whole:
            return out
        whole = "".join((*self._json.pieces, text[self._at :]))
        masked, labels = self._redactor.masked(whole, self._kinds)
        self._labels.update(dict.fromkeys(labels))
        self._at = len(text)
        return out + masked[self._gone + len(out) :]

    def _joined(self, new: str) -> tuple[str, bytes]:
        """The text, once what was put aside and this have been added."""
        if self._more:
            new = "".join((*self._more, new))
            self._more.clear()
        self._text += new
        self._data += as_bytes(new)
        return self._text, self._data

    def _released(self, until: int) -> str:
        """What stands before `until`, masked; a match that goes beyond it waits as a whole."""
        assert self._watch is not None
        text, start = self._text, self._at
        extents: list[tuple[int, int]] = []
        found: list[Span] = []
        for rule in self._watch.matching(text):
            for first, last, spans in rule.matches(text, start):
                if first >= until:
                    break
                extents.append((first, last))
                found += spans
        for first, last in sorted(extents, reverse=True):
            if first < until < last:
                until = first
        out = []
        for first, last, label in runs_of(span for span in found if span[0] < until):
            out.append(self._passed(first))
            if self._json.bare(text[first:last]):
                # In JSON a bare value would become a string: what the whole is, its end will tell.
                self._ends_whole = True
                return "".join(out)
            out.append(f"[REDACTED:{label}]")
            self._labels[label] = None
            self._json.read(text[first:last])
            self._at = last
        return "".join((*out, self._passed(until)))

    def _passed(self, until: int) -> str:
        """The text up to there, as it is."""
        out = self._text[self._at : until]
        if self._json.follows:
            self._json.read(out)
        self._at = until
        return out


@lru_cache(maxsize=64)
def _watch(
    rows: tuple[tuple[str, str, Any], ...], personal: PersonalData, kinds: frozenset[str]
) -> _Watch | None:
    """The watch over these patterns, given by label; None where they are too much to be watched.

    A detector takes whole texts only, and so cannot be watched.
    """
    if any(name in kinds for name, _ in personal.detectors):
        return None
    rules = [_rule(label, pattern, judged) for label, pattern, judged in rows]
    seen = [coarse(pattern) for _, pattern, _ in rows]
    lazy = [rule.beginning is not None for rule in rules]
    for row in personal.candidates(kinds):
        rules.append(_Rule(compile_pattern(row.pattern), row.kind, real=row.real))
        seen.append(coarse(row.watched) + _AFTER)
        lazy.append(False)
    try:
        paths = places(watched(seen))
        beginnings = ending(s for s, takes_least in zip(seen, lazy, strict=True) if not takes_least)
    except ValueError:
        return None
    patterns = PatternSet(signals=())
    for rule in rules:
        patterns.add(rule.regex.pattern)
    patterns.freeze()
    return _Watch(tuple(rules), patterns, paths, beginnings)


def _rule(label: str, pattern: str, judged: Any) -> _Rule:
    regex = compile_pattern(pattern)
    beginning = compile_pattern(partial(pattern)) if is_lazy(pattern) else None
    return _Rule(regex, label, regex.groupindex.get("secret", 0), None, judged, beginning)
