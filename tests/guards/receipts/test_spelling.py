"""How a log writes a receipt: as the `json` module does, in ASCII, and nothing that is no JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgeward.guards.receipts.spelling import spelled

NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
LEAVES = st.none() | st.booleans() | NUMBERS | st.text()
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), VALUES, max_size=4))
def test_it_says_what_json_says(receipt: dict[str, Any]) -> None:
    """Every value comes back, every field in its place; nothing is beyond ASCII."""
    found = spelled(receipt)
    assert found.isascii()
    again = json.loads(found)
    assert json.dumps(again) == json.dumps(receipt)


@given(st.dictionaries(st.text(), st.text() | st.integers() | st.none(), max_size=4))
def test_texts_and_integers_are_spelt_as_json_spells_them(receipt: dict[str, Any]) -> None:
    """Byte by byte: also half a character, a control sign, a number of any length."""
    assert spelled(receipt) == json.dumps(receipt, separators=(",", ":")).encode()


@pytest.mark.parametrize("text", ["\ud800", "\x7f", "\x9b31m", "\u202e", "\u2028", "null", "ä"])
def test_signs_that_do_something_are_escaped(text: str) -> None:
    """Whoever prints a log is shown them, and no more."""
    assert spelled({"a": text}) == json.dumps({"a": text}, separators=(",", ":")).encode()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), {1, 2}, b"x"])
def test_what_is_no_json_is_refused(value: object) -> None:
    """None of it becomes something else."""
    with pytest.raises((TypeError, ValueError)):
        spelled({"a": [value]})
