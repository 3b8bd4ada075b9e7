"""What two globs of tool names have to do with each other; `*` any characters, `?` one."""

from __future__ import annotations

import re


def is_glob(name: str) -> bool:
    """Whether it may match other names than itself."""
    return "*" in name or "?" in name


def covers(wide: str, narrow: str) -> bool:
    """Whether every name that `narrow` matches is matched by `wide`.

    Never says so where it is not so; of `*` and `?` in the same gap their order does not count.
    """
    wide, narrow = _ordered(wide), _ordered(narrow)
    # Row by row over `narrow`: at which places of `wide` one can stand having read so much of it.
    places = _skipping({0}, wide)
    for sign in narrow:
        after = set()
        for place in places:
            if place == len(wide):
                continue
            wanted = wide[place]
            if wanted == "*":
                after.add(place)
            elif wanted == sign or (wanted == "?" and sign != "*"):
                after.add(place + 1)
        places = _skipping(after, wide)
    return len(wide) in places


def overlap(one: str, other: str) -> bool:
    """Whether some name is matched by both."""
    reached, todo = {(0, 0)}, [(0, 0)]
    while todo:
        left, right = todo.pop()
        if left == len(one) and right == len(other):
            return True
        steps = []
        a, b = one[left : left + 1], other[right : right + 1]
        if a == "*":
            steps += [(left + 1, right)] + ([(left, right + 1)] if b else [])
        if b == "*":
            steps += [(left, right + 1)] + ([(left + 1, right)] if a else [])
        if a and b and "*" not in (a, b) and (a == b or "?" in (a, b)):
            steps.append((left + 1, right + 1))
        for step in steps:
            if step not in reached:
                reached.add(step)
                todo.append(step)
    return False


def _ordered(glob: str) -> str:
    """The glob with each run of `*` and `?` as question marks and one star."""
    return re.sub(r"[*?]*\*[*?]*", lambda run: "?" * run[0].count("?") + "*", glob)


def _skipping(places: set[int], glob: str) -> set[int]:
    """Those places, and those behind stars that match nothing."""
    out = set(places)
    for place in sorted(places):
        while place < len(glob) and glob[place] == "*":
            place += 1
            out.add(place)
    return out
