"""What an answer only repeats of a search: the word of whoever searched, and not the source's.

A hijacked model could else have any address known, by searching for it in a source that is trusted
and says again what it was asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_SEARCHES = frozenset(
    """query q search searchterm searchquery searchstring term keyword keywords text prompt input
    filter pattern question""".split()  # noqa: SIM905 - one word a name reads better
)
"""Arguments, and fields of an answer, that say what was searched for."""


def searched_for(arguments: Mapping[str, Any]) -> frozenset[str]:
    """What a call searches for: whoever chose it, the source did not."""
    named = ((_bare(name), value) for name, value in arguments.items())
    return frozenset(v.strip() for name, v in named if name in _SEARCHES and isinstance(v, str))


def _bare(name: object) -> str:
    return str(name).replace("_", "").replace("-", "").lower()


def without_echo(data: object, searched: frozenset[str], depth: int = 3) -> object:
    """An output without what it repeats of a search: in a field of that kind, or behind a text."""
    if isinstance(data, dict):
        kept = {
            name: value
            for name, value in data.items()
            if not (
                _bare(name) in _SEARCHES and isinstance(value, str) and value.strip() in searched
            )
        }
        if depth:
            return {name: without_echo(value, searched, depth - 1) for name, value in kept.items()}
        return kept
    if isinstance(data, list) and depth:
        return [without_echo(item, searched, depth - 1) for item in data]
    return data
