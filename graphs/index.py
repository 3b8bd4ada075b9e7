"""Many tools as a list of names: the model asks for those it needs, and gets their schemas then.

    tools:
      index_above: 30        # of a profile: with more tools than that, a list goes to the model

It changes what the model is shown and nothing else: the guard judges every call through the whole
catalog, whether the model was shown its schema or guessed its name. Looking tools up runs none.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from ..guards.hidden import cleaned
from ..nodes._index import FIND_TOOLS
from ..nodes._sizes import text_tokens

MAX_FOUND = 5
"""Tools that words bring; names bring as many as are named."""

MAX_NAMED = 20
SHOWN_TOKENS = 8_000
"""What the schemas that a thread asked for may take together in a request."""

MAX_SHOWN = 100
"""Tools that a thread may have asked for; some providers take no more than 128."""

LINE_CHARS = 100
LIST_CHARS = 16_000
"""A list that would be longer has names only."""

_WORD = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SENTENCE = re.compile(r"(?<=[.!?])\s")
_MAX_QUERY = 1_000

HEAD = (
    "Your tools are listed here by name, with what their makers say of them. Call"
    f" {FIND_TOOLS} with names from the list or with words for what you need; the tools that it"
    " finds can be called from then on."
)


class ToolIndex:
    """The list, and what is looked up in it."""

    def __init__(self, descriptions: Sequence[Mapping[str, Any]]) -> None:
        self._told = {d["function"]["name"]: d["function"]["description"] for d in descriptions}
        self._tokens = {d["function"]["name"]: text_tokens(str(d)) for d in descriptions}
        self._words = {name: _words_of(name, text) for name, text in self._told.items()}
        self._tools_with = Counter(word for words in self._words.values() for word in words)
        self._folded = {name.casefold(): name for name in self._told}

    @cached_property
    def text(self) -> str:
        """The list, for the system prompt."""
        lines = [f"- {name}: {self._line(name)}" for name in self._told]
        if sum(map(len, lines)) > LIST_CHARS:
            lines = [f"- {name}" for name in self._told]
        return "\n".join([HEAD, *lines])

    @property
    def description(self) -> dict[str, Any]:
        """The tool that looks up, as providers take it."""
        about = "Names from the list of tools, or words for what the tool should do."
        return {
            "type": "function",
            "function": {
                "name": FIND_TOOLS,
                "description": "Find tools of the list, so that they can be called.",
                "parameters": {
                    "type": "object",
                    "properties": {"query": {"type": "string", "description": about}},
                    "required": ["query"],
                    "additionalProperties": False,
                },
            },
        }

    @property
    def tokens(self) -> int:
        """What the list and what is asked for take in a request, at most."""
        shown = min(sum(self._tokens.values()), SHOWN_TOKENS)
        return text_tokens(self.text) + text_tokens(str(self.description)) + shown

    def __contains__(self, name: object) -> bool:
        return name in self._told

    def find(self, query: str) -> list[str]:
        """The tools that are meant, the best first: those that are named, or those whose names and
        descriptions share words with the query, rare words above common ones."""
        query = query[:_MAX_QUERY]
        parts = dict.fromkeys(part.strip("`'\"") for part in re.split(r"[\s,;]+", query))
        named = [self._folded[p.casefold()] for p in parts if p.casefold() in self._folded]
        if named:
            return list(dict.fromkeys(named))[:MAX_NAMED]
        asked = set(_words(query))
        scores = {name: self._score(words, asked) for name, words in self._words.items()}
        best = sorted((name for name in scores if scores[name] > 0), key=lambda n: (-scores[n], n))
        return best[:MAX_FOUND]

    def told(self, found: Sequence[str]) -> str:
        """What the model is told of the tools that were found."""
        if not found:
            return "No tool of the list fits these words. Ask for tools by their names in the list."
        lines = [f"- {name}: {self._line(name)}" for name in found]
        return "\n".join(["These can be called now:", *lines])

    def kept(self, shown: Sequence[str], found: Sequence[str]) -> list[str]:
        """The tools that are shown from now on: what was asked for, within the bounds. What was
        asked for first is dropped first; the order of what stays does not change."""
        names = [*(n for n in shown if n in self._told), *(n for n in found if n not in shown)]
        if not set(found) - set(shown):
            return names
        kept, room = 0, SHOWN_TOKENS
        for name in reversed(names[-MAX_SHOWN:]):
            room -= self._tokens[name]
            if room < 0 and kept:
                break
            kept += 1
        return names[-kept:]

    def _line(self, name: str) -> str:
        text = " ".join(cleaned(self._told[name])[0].split())
        first = _SENTENCE.split(text, maxsplit=1)[0]
        return first if len(first) <= LINE_CHARS else first[: LINE_CHARS - 1].rstrip() + "…"

    def _score(self, words: Mapping[str, int], asked: set[str]) -> float:
        all_tools = len(self._told)
        return sum(
            words[word] * math.log(1 + all_tools / self._tools_with[word])
            for word in sorted(asked)
            if word in words
        )


def _words(text: str) -> list[str]:
    """The words of a text in one form: `createIssue`, `create_issues` and `Create issue` agree."""
    return [_stem(word.casefold()) for word in _WORD.findall(_HUMP.sub(" ", text))]


def _stem(word: str) -> str:
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def _words_of(name: str, text: str) -> dict[str, int]:
    """The words that speak for a tool; those of its name speak louder."""
    return dict.fromkeys(_words(text), 1) | dict.fromkeys(_words(name), 3)
