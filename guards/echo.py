"""What an answer only repeats of a search: the word of whoever searched, and not the source's.

A hijacked model could else have any address known, by searching for it in a source that is trusted
and says again what it was asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import Any

_SEARCHES = frozenset(
    """query q search searchterm searchquery searchstring term keyword keywords text prompt input
    filter pattern question""".split()  # noqa: SIM905 - one word a name reads better
)
"""Arguments, and fields of an answer, that say what was searched for."""


_AROUND = " \t.,;!?'\"`()<>[]{}\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb"
"""Signs that a source may write around what it repeats."""


def searched_for(arguments: Mapping[str, Any]) -> frozenset[str]:
    """What a call searches for, as `repeats` looks for it: whoever chose it, the source did not."""
    asked = (value for name, value in arguments.items() if _bare(name) in _SEARCHES)
    texts = [text for value in asked for text in _texts(value)]
    lines = (part for text in texts for pair in lines_of(text) for part in pair)
    return frozenset(map(_plain, (*texts, *lines))) - {""}


def lines_of(text: str) -> Iterator[tuple[str, str]]:
    """Each line of a text, and what it says behind a colon: `Hotels in Paris: Le Marais`."""
    for line in map(str.strip, text.splitlines()):
        yield line, line.partition(": ")[2]


def repeats(value: object, searched: Set[str]) -> bool:
    """Whether a value says nothing but what was searched for."""
    texts = [_plain(text) for text in _texts(value)]
    return bool(texts) and all(text in searched for text in texts)


def _texts(value: object) -> list[str]:
    """A text, or those of a list or an object."""
    value = list(value.values()) if isinstance(value, dict) else value
    items = value if isinstance(value, list) else [value]
    return [item for item in items if isinstance(item, str)]


def _plain(text: str) -> str:
    return text.strip().strip(_AROUND).casefold()


def _bare(name: object) -> str:
    return str(name).replace("_", "").replace("-", "").lower()


def without_echo(data: object, searched: Set[str], depth: int = 3) -> object:
    """An output without what it repeats of a search: in a field of that kind."""
    if isinstance(data, dict):
        kept = {
            name: value
            for name, value in data.items()
            if not (_bare(name) in _SEARCHES and repeats(value, searched))
        }
        if depth:
            return {name: without_echo(value, searched, depth - 1) for name, value in kept.items()}
        return kept
    if isinstance(data, list) and depth:
        return [without_echo(item, searched, depth - 1) for item in data]
    return data
