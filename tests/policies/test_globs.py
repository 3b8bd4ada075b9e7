"""How two globs relate: held against all short names over a small alphabet."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from edgeward.guards.names import glob_pattern
from edgeward.policies.globs import covers, overlap
from tests.steps import steps_of

NAMES = ["".join(p) for n in range(6) for p in itertools.product("abx", repeat=n)]
"""`x` is in no glob: it stands for every other character."""

globs = st.text("ab*?", max_size=4)


def matched(glob: str) -> set[str]:
    """The names that a glob matches."""
    pattern = glob_pattern(glob)
    return {name for name in NAMES if pattern.fullmatch(name)}


@given(globs, globs)
def test_one_covers_the_other(wide: str, narrow: str) -> None:
    """Said only where each name of the one is a name of the other."""
    assert not covers(wide, narrow) or matched(narrow) <= matched(wide)


@given(globs, globs)
def test_two_overlap(one: str, other: str) -> None:
    """Exactly when a name is a name of both."""
    assert overlap(one, other) == bool(matched(one) & matched(other))


def test_long_globs_cost_no_more_than_their_product() -> None:
    """Stars do not multiply."""
    assert covers("*a" * 200 + "*", "a*" * 300)
    assert not overlap("*a" * 300 + "b", "*a" * 300 + "c")


def test_globs_of_many_stars_cost_what_their_signs_do() -> None:
    """Four times the length is about four times the work; what was all pairs of places."""

    def steps(length: int) -> int:
        return steps_of(
            lambda: (covers("a*" * length, "*a" * length), overlap("a*" * length, "*b"))
        )

    assert steps(400) < 5 * steps(100)
