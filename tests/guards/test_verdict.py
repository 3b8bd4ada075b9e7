"""The one spelling of a JSON value."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from edgeward.guards.verdict import canonical_json

PLAIN = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
).encode

VALUES: tuple[Any, ...] = (
    "text",
    '\u00e9 \u65e5\u672c \ud800 \x00 " \\ \n',
    0,
    -1.5,
    1e300,
    True,
    None,
    [],
    {},
    {"b": [1, {"z": None, "a": "x"}], "a": (1, 2)},
    {1: "one", 2: "two"},
)


def deep(levels: int) -> Any:
    """A list in a list, so many times."""
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_it_is_pythons_own(value: Any) -> None:
    """Sorted keys, no spaces, plain Unicode, written as the standard library writes it."""
    assert canonical_json(value) == PLAIN(value)


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (float("nan"), ValueError),
        ([float("inf")], ValueError),
        ({"a": object()}, TypeError),
        ({1: 1, "a": 1}, TypeError),
        (deep(100_000), RecursionError),
    ],
    ids=["nan", "infinity", "object", "keys", "deep"],
)
def test_what_json_cannot_hold(value: Any, error: type[Exception]) -> None:
    """Is refused, time and again, and nothing of it is kept."""
    for _ in range(2):
        with pytest.raises(error):
            canonical_json(value)


def test_a_value_within_itself() -> None:
    """Is refused as one; what is around it is written afterwards."""
    inner: list[Any] = []
    inner.append(inner)
    with pytest.raises(ValueError, match="Circular"):
        canonical_json({"a": inner})
    inner.clear()
    assert canonical_json({"a": inner, "b": inner}) == '{"a":[],"b":[]}'


def test_threads_share_nothing() -> None:
    """One value may be written by several threads at once."""
    shared = {"a": [{"n": n} for n in range(2_000)]}
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(canonical_json, [shared] * 40)) == {PLAIN(shared)}
