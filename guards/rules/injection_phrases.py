"""Phrases that betray an injected instruction in text that comes back from a tool.

Threat: a page or a mail tells the agent what to do. A phrase is found in any letter case, with any
white space between its words, and through the encodings that arguments are seen through. Such
lists are a signal and no defence: the score goes to `injection_threshold`, and nothing is decided
on calls.

    injection_phrases: [ignore previous instructions, system override]
"""

from __future__ import annotations

from dataclasses import dataclass

import re2

from ..encodings import plain, views
from ..normalise import MAX_CHARS
from ..patterns import PatternSet, searchable
from . import Check, Context, Name, Where, silent

KEY = "injection_phrases"
Field = list[Name]
DEFAULT: list[str] = []

_WEIGHT = 0.8
"""Score of one phrase; of n phrases 1 - 0.2**n."""


@dataclass(frozen=True, slots=True)
class Phrases:
    """Scores texts; has nothing to say of calls."""

    phrases: tuple[str, ...]
    patterns: PatternSet
    rule: str = KEY

    __call__ = silent

    def scan(self, text: str) -> tuple[float, tuple[str, ...]]:
        """Score (0 to 1) and the phrases found."""
        texts = [text]
        if not plain(text[:MAX_CHARS]):
            texts += views(text[:MAX_CHARS]).texts
        hits = frozenset[int]().union(*(self.patterns.candidates(searchable(t)) for t in texts))
        found = tuple(self.phrases[number - 1] for number in sorted(hits))
        return (1 - (1 - _WEIGHT) ** len(found) if found else 0.0), found


def build(value: list[str], where: Where, context: Context) -> Check | None:
    """The scanner; None for an empty list."""
    patterns = PatternSet(signals=())
    for phrase in value:
        patterns.add(r"\s+".join(map(re2.escape, phrase.split())), ignore_case=True)
    return Phrases(tuple(value), patterns) if value else None
