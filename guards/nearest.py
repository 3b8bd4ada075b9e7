"""Of what a policy lists, the few entries that are most like a value: to say what was allowed."""

from __future__ import annotations

from collections.abc import Iterable

_SHOWN = 5


def nearest(value: str, listed: Iterable[str]) -> str:
    """At most five of `listed`, those first that share the most with `value` at its two ends.

    Linear in what is listed: a call that is refused for many values is not what takes time.
    """
    found = sorted(set(listed), key=lambda entry: (-_shared(value, entry), entry))
    shown = ", ".join(found[:_SHOWN])
    more = len(found) - _SHOWN
    return f"{shown} and {more} more" if more > 0 else shown


def _shared(value: str, entry: str) -> int:
    value, entry = value[:200].casefold(), entry[:200].casefold()
    return _alike(value, entry) + _alike(value[::-1], entry[::-1])


def _alike(one: str, other: str) -> int:
    """Characters that two texts begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))
