"""What masking keeps, whatever the text: other text, JSON, ids; and what it makes one."""

from __future__ import annotations

import itertools
import json
import uuid
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from edgeward.guards.masks import runs_of
from edgeward.guards.redact import Redactor

REDACTOR = Redactor()
KEY = "sk-abc123456789012345678"
TARGETS = [
    KEY,
    "ann@corp.example",
    "4111 1111 1111 1111",
    "10.0.0.5",
    "415-555-0123",
    "2001:db8::1",
]
NUMBERS = [4111111111111111, 378282246310005, 17, 1.5]

LEAVES = st.one_of(
    st.sampled_from(TARGETS),
    st.sampled_from(NUMBERS),
    st.text(max_size=8),
    st.integers(-10, 10**10),
    st.booleans(),
    st.none(),
    st.tuples(st.sampled_from(TARGETS), st.text(max_size=5)).map(" ".join),
)
DATA = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)


def shape(value: Any) -> Any:
    """A JSON value with its leaves left out."""
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    if isinstance(value, list):
        return [shape(item) for item in value]
    return 0


@settings(max_examples=150, deadline=None)
@given(
    st.one_of(DATA.map(json.dumps), st.text(max_size=60), st.text("a1@.:- +\ud800", max_size=40))
)
def test_a_text_without_a_target_is_unchanged(text: str) -> None:
    """No label, no change: not a byte, nor half a letter."""
    masked, labels = REDACTOR.all(text)
    assert (masked == text) == (labels == ())


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.lists(DATA, max_size=4), st.dictionaries(st.text("abc", max_size=3), DATA)))
def test_json_stays_json_of_the_same_shape(data: Any) -> None:
    """Whoever parses the masked text finds every key, and every list as long as it was."""
    for text in (json.dumps(data), json.dumps(data, indent=1, ensure_ascii=False)):
        masked = json.loads(REDACTOR.all(text)[0])
        assert shape(masked) == shape(data)
        assert KEY not in str(masked)


IDS = st.one_of(
    st.uuids().map(str),
    st.binary(min_size=20, max_size=20).map(bytes.hex),
    st.binary(min_size=32, max_size=32).map(bytes.hex),
    st.integers(10**12, 2 * 10**12).map(str),
    st.datetimes().map(str),
    st.builds("{}.{}.{}".format, *[st.integers(0, 400)] * 3),
    st.builds("v{}.{}.{}.{}".format, *[st.integers(0, 255)] * 4),
    st.uuids().map(lambda u: f"msg_{u.hex}"),
    st.binary(min_size=60, max_size=90).map(lambda b: f"sig:{uuid.UUID(bytes=b[:16])}"),
    st.integers(10**9, 10**10 - 1).map(lambda n: f"order {n}"),
)


@settings(max_examples=200, deadline=None)
@given(IDS)
def test_ids_survive(text: str) -> None:
    """UUIDs, hashes, times, versions and order numbers are no secrets and nobody's data."""
    assert REDACTOR.all(f'{{"id": "{text}"}}') == (f'{{"id": "{text}"}}', ())


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 9)), max_size=12))
def test_overlapping_hits_make_one_mask(found: list[tuple[int, int]]) -> None:
    """Runs are in order, do not overlap, and cover exactly what the hits cover."""
    spans = [(start, start + size, f"l{n}") for n, (start, size) in enumerate(found)]
    runs = runs_of(spans)
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(runs))
    covered = {at for start, end, _ in spans for at in range(start, end)}
    assert {at for start, end, _ in runs for at in range(start, end)} == covered
