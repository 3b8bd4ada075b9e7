"""What two globs of tool names have to do with each other; `*` any characters, `?` one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache


def is_glob(name: str) -> bool:
    """Whether it may match other names than itself."""
    return "*" in name or "?" in name


def covers(wide: str, narrow: str) -> bool:
    """Whether every name that `narrow` matches is matched by `wide`.

    Never says so where it is not so; of `*` and `?` in the same gap their order does not count.
    """
    held = _signs(_ordered(wide))
    # Sign by sign of `narrow`: at which places of `wide` one can stand having read so much of it.
    places = held.skipping(1)
    for sign in _ordered(narrow):
        after = places & held.stars
        if sign != "*":
            after |= (places & (held.where(sign) | held.any)) << 1
        places = held.skipping(after)
    return bool(places >> held.length)


def overlap(one: str, other: str) -> bool:
    """Whether some name is matched by both."""
    held = _signs(_ordered(other))
    whole = (2 << held.length) - 1
    # Sign by sign of `one`: at which places of `other` a name can stand that it matches so far.
    places = held.skipping(1)
    for sign in _ordered(one):
        if sign == "*":
            first = places & -places
            places = whole & -first if first else 0
            continue
        fits = held.where(sign) | held.any if sign != "?" else whole & ~held.stars
        places = held.skipping((places & held.stars) | (places & fits) << 1)
    return bool(places >> held.length & 1)


@dataclass(frozen=True, slots=True)
class _Signs:
    """A glob by its signs: of each, at which places it stands, as the bits of a number."""

    length: int
    at: Mapping[str, int]

    @property
    def stars(self) -> int:
        return self.at.get("*", 0)

    @property
    def any(self) -> int:
        return self.at.get("?", 0)

    def where(self, sign: str) -> int:
        return self.at.get(sign, 0)

    def skipping(self, places: int) -> int:
        """Those places, and those behind stars that match nothing; no star follows another."""
        return places | (places & self.stars) << 1


@lru_cache(maxsize=4_096)
def _signs(glob: str) -> _Signs:
    at: dict[str, int] = {}
    for place, sign in enumerate(glob):
        at[sign] = at.get(sign, 0) | 1 << place
    return _Signs(len(glob), at)


def _ordered(glob: str) -> str:
    """The glob with each run of `*` and `?` as question marks and one star."""
    return re.sub(r"[*?]*\*[*?]*", lambda run: "?" * run[0].count("?") + "*", glob)
