"""Many regular expressions, one pass: which of them can match a text at all.

All patterns of a policy stand in one RE2 set, so that a thousand rules cost about what twenty do.
The set only names candidates; whoever owns a pattern then matches it alone, on the value itself.
RE2 runs in time linear in the text whatever the pattern says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

import re2

from .encodings import ALL_SIGNALS, SIGNALS

_MEMORY = 256 << 20
"""Bytes that the set's automaton may take; it takes what it needs."""

_BOUND_TO_ENDS = (r"\A", r"\z", r"\Z", "(?-m", "(?-s", r"\C")
"""What can match in a value and yet not in the values written below one another."""


_COUNTED = re.compile(
    r"\\Q.*?(?:\\E|\Z)|\\[xpP]\{[^}]*\}|\\."
    r"|\[\^?\]?(?:\\.|\[:[^\]]*:\]|[^\]\\])*\]|\{([0-9]+)(?:,([0-9]*))?\}",
    re.DOTALL,
)
"""How often something is repeated; or what only looks so: escaped, quoted, in a class."""
_MOST_COUNTED = 16


def options(*, ignore_case: bool = False, memory: int = 8 << 20) -> re2.Options:
    """RE2's options as this project uses them: Unicode text, no printing of its own."""
    chosen = re2.Options()
    chosen.log_errors = False
    chosen.max_mem = memory
    chosen.case_sensitive = not ignore_case
    return chosen


@lru_cache(maxsize=4_096)
def compile_pattern(pattern: str, *, ignore_case: bool = False) -> re2.Pattern:
    """The compiled pattern.

    Raises:
        ValueError: RE2 refuses the pattern (also what only backtracking engines have: look-around
            and back-references).
    """
    try:
        return re2.compile(pattern, options(ignore_case=ignore_case))
    except re2.error as error:
        reason = error.args[0] if error.args else "it does not compile"
        text = reason.decode() if isinstance(reason, bytes) else str(reason)
        raise ValueError(f"not a usable regular expression: {text}") from None


def searchable(text: str) -> str:
    """`text` as RE2 can read it: a lone surrogate becomes U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


@dataclass(frozen=True, slots=True)
class Found:
    """What one pass over a text finds."""

    hits: frozenset[int]
    """Numbers of the patterns that may match one of the values in it."""
    signals: frozenset[int]
    """Those of them that say what could be encoded, and how."""
    signs: tuple[str, ...]
    """Those of `SIGNS` that stand in it, and perhaps others."""
    numbers: bool
    """Whether a value in it may be a whole number."""


SIGNS = ("@", ":", "//", "\\", "/\t", "/\r", "/\n")
"""Without one of these a text names no destination by itself (see `destinations.py`)."""


class PatternSet:
    """Patterns with numbers; `candidates(text)` gives the numbers of those that may match.

    `text` holds values one below the other. An answer may name a pattern that matches no single
    value; it never leaves out one that does.
    """

    __slots__ = ("_all", "_always", "_answers", "_frozen", "_match", "_patterns", "signals")

    def __init__(self, *, signals: Sequence[str] = SIGNALS) -> None:
        self._patterns: list[tuple[str, bool]] = []
        self._always: frozenset[int] = _NONE
        self._answers: dict[tuple[int, ...], Found] = {}
        self._all = Found(_NONE, _NONE, SIGNS, True)
        self._match: Callable[[bytes], list[int]] | None = None
        self._frozen = False
        self.signals = frozenset(map(self.add, signals))
        """Numbers of the patterns that say what in a text could be encoded, and how."""

    def __reduce__(
        self,
    ) -> tuple[Callable[..., PatternSet], tuple[list[tuple[str, bool]], frozenset[int]]]:
        return _rebuilt, (self._patterns, self.signals)

    def add(self, pattern: str, *, ignore_case: bool = False) -> int:
        """The number under which `candidates` will name the pattern (1 or more)."""
        self._patterns.append((pattern, ignore_case))
        self._frozen = False
        return len(self._patterns)

    def freeze(self) -> None:
        """Build the automaton now, unless it is built; otherwise the first search does."""
        if self._frozen:
            return
        made = re2.Set.SearchSet(options(memory=_MEMORY))
        made.Add("")  # always matches: an answer without it means that RE2 gave up
        always = []
        for number, (pattern, ignore_case) in enumerate(self._patterns, start=1):
            bound = any(sign in pattern for sign in _BOUND_TO_ENDS)
            made.Add(r"[^\s\S]" if bound else ("(?im)" if ignore_case else "(?m)") + wider(pattern))
            if bound:
                always.append(number)
        if self.signals:
            for pattern in (_NUMBER, *map(re.escape, SIGNS)):
                made.Add(pattern)
        self._match = None
        # Where it is too large for one automaton, every pattern is always a candidate.
        with suppress(re2.error):
            made.Compile()
            self._match = getattr(made, "_set", made).Match  # what its `Match` in Python calls
        self._always = frozenset(always)
        every = frozenset(range(1, len(self._patterns) + 1))
        self._all = Found(every, self.signals or ALL_SIGNALS, SIGNS, True)
        self._answers = {}
        self._frozen = True

    def candidates(self, text: str) -> frozenset[int]:
        """Numbers of the patterns that may match one of the values in `text`."""
        return self.search(text).hits

    def search(self, text: str) -> Found:
        """What there may be in the values in `text`."""
        if not self._frozen:
            self.freeze()
        match = self._match
        if match is None:
            return self._all
        try:
            data = text.encode()
        except UnicodeEncodeError:
            data = searchable(text).encode()
        found = match(data)
        if not found:  # the automaton ran out of memory
            return self._all
        return self._answers.get(tuple(found)) or self._answer(tuple(found))

    def _answer(self, found: tuple[int, ...]) -> Found:
        """The same few answers come up again and again."""
        more = len(self._patterns) + 1
        hits = self._always.union(n for n in found if 0 < n < more)
        if self.signals:
            signs = tuple(sign for n, sign in enumerate(SIGNS, more + 1) if n in found)
            answer = Found(hits, hits & self.signals, signs, more in found)
        else:
            answer = Found(hits, ALL_SIGNALS, SIGNS, True)
        if len(found) <= _SHORT_ANSWER and len(self._answers) < _MOST_ANSWERS:
            self._answers[found] = answer
        return answer


def wider(pattern: str) -> str:
    """A pattern that matches where this one does, and perhaps elsewhere; far cheaper to compile.

    An automaton has a state for each repetition; from the sixteenth on they are not counted.
    """
    return _COUNTED.sub(_uncounted, pattern)


def _uncounted(match: re.Match[str]) -> str:
    least, most = match.groups()
    if least is None or max(int(least), int(most or 0)) <= _MOST_COUNTED:
        return match[0]
    return f"{{{min(int(least), _MOST_COUNTED)},}}"


def _rebuilt(patterns: list[tuple[str, bool]], signals: frozenset[int]) -> PatternSet:
    """A copy of a set, whose automaton is built when it is first asked: one cannot be copied."""
    new = PatternSet(signals=())
    new._patterns, new.signals = list(patterns), signals
    return new


_NONE: frozenset[int] = frozenset()
_NUMBER = r"(?m)^(?:[0-9]|[^\x00-\x7f])+$"
"""At least all texts that are nothing but decimal digits, of whatever script."""
_SHORT_ANSWER = 16
_MOST_ANSWERS = 1_024
"""Patterns of one answer, and answers, that are kept."""
