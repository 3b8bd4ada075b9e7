"""Many patterns in one pass: never one too few, and RE2's refusals said in words."""

from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edgeward.guards.patterns import PatternSet, compile_pattern, searchable

PATTERNS = ["^a", "b$", r"\Aab\z", r"\bc\b", "(?i)D+", "a.b", r"[^x]\z", "^$", "(?s)a.b", r"\n"]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text("abcdD x\n", max_size=6), max_size=5))
def test_candidates_leave_none_out(values: list[str]) -> None:
    """Every pattern that matches one of the values is a candidate."""
    patterns = PatternSet(signals=())
    numbers = {patterns.add(pattern): compile_pattern(pattern) for pattern in PATTERNS}
    named = patterns.candidates("\n".join(values))
    for number, compiled in numbers.items():
        if any(compiled.search(value) for value in values):
            assert number in named


def test_numbers_and_case() -> None:
    """Patterns are numbered in order; a pattern may ignore case."""
    patterns = PatternSet(signals=())
    assert patterns.signals == frozenset()
    assert [patterns.add("abc"), patterns.add("abc", ignore_case=True)] == [1, 2]
    assert patterns.candidates("xABCx") == {2}
    assert patterns.candidates("xabcx") == {1, 2}
    assert patterns.candidates("nothing") == frozenset()
    assert patterns.add("noth") == 3
    assert patterns.candidates("nothing") == {3}


@pytest.mark.parametrize("pattern", ["(", "(?=x)", r"(a)\1", "a{2000}", "[z-a]"])
def test_refused(pattern: str) -> None:
    """What RE2 cannot do in linear time is refused with a reason."""
    with pytest.raises(ValueError, match="not a usable regular expression"):
        compile_pattern(pattern)


def test_lone_surrogates() -> None:
    """Text that is no Unicode is searched all the same."""
    patterns = PatternSet(signals=())
    patterns.add("abc")
    assert patterns.candidates("\ud800abc") == {1}
    assert searchable("\ud800abc") == "?abc"
    assert searchable("abc") == "abc"


@pytest.mark.parametrize("memory", [1 << 10, 1 << 15, 1 << 16])
def test_out_of_memory_names_every_pattern(monkeypatch: pytest.MonkeyPatch, memory: int) -> None:
    """Where RE2 gives up, every pattern is a candidate: none is ever skipped."""
    monkeypatch.setattr("edgeward.guards.patterns._MEMORY", memory)
    patterns = PatternSet(signals=())
    numbers = [patterns.add(rf"(?:[ab]{{1,30}}c){{3}}x{i}") for i in range(20)]
    named = patterns.candidates("abababc" * 9 + "x7")
    assert numbers[7] in named


def test_copies_find_the_same() -> None:
    """A set that went to another process, or was copied, names what the first one names."""
    patterns = PatternSet()
    numbers = [patterns.add("abc"), patterns.add("abd", ignore_case=True)]
    for other in (pickle.loads(pickle.dumps(patterns)), copy.copy(patterns)):
        assert other.signals == patterns.signals
        assert other.candidates("xABDx abc") == patterns.candidates("xABDx abc") == {*numbers}
        assert other.add("new") == numbers[-1] + 1
    assert patterns.add("newer") == numbers[-1] + 1
    assert patterns.candidates("new") == frozenset()
