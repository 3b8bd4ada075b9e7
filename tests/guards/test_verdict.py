"""The one spelling of a JSON value, and the digest of a call, which rests on it."""

from __future__ import annotations

import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgeward.guards.verdict import ToolCall, canonical_json, fingerprint

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
    {"b": 1, "a": "x", "\ue000": 2, "\U00010000": 3, "": 4},
    {"a": 2**63, "b": 2**64, "c": -(2**70)},
    {"a": 1e-7, "b": 1e16, "c": -0.0},
    {"a": "\ud800"},
    {"\udfff": "a"},
    {"a": '\x00\x1f\x7f\u2028/\\"', "b": True, "c": None},
)

NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
LEAVES = st.none() | st.booleans() | NUMBERS | st.text()
ARGUMENTS = st.dictionaries(
    st.text(), LEAVES | st.lists(LEAVES, max_size=3) | st.dictionaries(st.text(), LEAVES)
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


@given(ARGUMENTS)
def test_arguments_are_pythons_own(arguments: dict[str, Any]) -> None:
    """Sign by sign, whatever they hold."""
    assert canonical_json(arguments) == PLAIN(arguments)


def test_a_digest_of_a_call() -> None:
    """SHA-256 of the name, a zero and the arguments, whatever their order."""
    call = ToolCall("send", {"to": "ann", "body": "\u00e4"}, id="c")
    expected = hashlib.sha256('send\0{"body":"\u00e4","to":"ann"}'.encode()).hexdigest()
    assert fingerprint(call) == expected
    assert fingerprint(ToolCall("send", {"body": "\u00e4", "to": "ann"})) == expected


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (float("nan"), ValueError),
        ([float("inf")], ValueError),
        ({"a": float("nan")}, ValueError),
        ({"a": object()}, TypeError),
        ({1: 1, "a": 1}, TypeError),
        (deep(100_000), RecursionError),
    ],
    ids=["nan", "infinity", "argument", "object", "keys", "deep"],
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
