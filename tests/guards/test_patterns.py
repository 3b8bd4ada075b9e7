"""Many patterns in one pass: never one too few, and RE2's refusals said in words."""

from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edgeward.guards.patterns import PatternSet, compile_pattern, searchable, wider

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


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("a{20}b", "a" * 20 + "b"),
        ("x[ab]{2,300}?y", "x" + "ab" * 150 + "y"),
        ("(?:ab{30}){2}", ("a" + "b" * 30) * 2),
        (r"[^\]{40}]x", "wx"),
        (r"[]{40}]x", "4x"),
        (r"[[:alpha:]{40}]\{40}", "}{40}"),
        (r"\Qa{40}\E{40}", "a{40" + "}" * 40),
        (r"\Qa{40}", "a{40}"),
        (r"\x{100}{40}", "\u0100" * 40),
        (r"\pL{33}\p{Greek}", "x" * 33 + "\u03b1"),
        ("a{,40}", "a{,40}"),
        ("a{0,40}b", "b"),
    ],
)
def test_counts_that_are_not_kept_find_no_less(pattern: str, text: str) -> None:
    """A pattern that counts far is a candidate wherever it matches, however it is written."""
    patterns = PatternSet(signals=())
    number = patterns.add(pattern)
    assert compile_pattern(pattern).search(text) is not None
    assert number in patterns.candidates(f"first\n{text}\nlast")


PARTS = (*"ab[]{}(),17|*?^\\", "{17}", "{1,20}", "\\Q", "\\E", "\\d", "[^", "[:alpha:]")


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PARTS), max_size=12), st.text("ab17{},\\", max_size=60))
def test_a_wider_pattern_matches_where_the_pattern_does(parts: list[str], text: str) -> None:
    """Whatever the pattern: what is searched for first finds all that it finds."""
    pattern = "".join(parts)
    try:
        compiled = compile_pattern(pattern)
    except ValueError:
        return
    if compiled.search(text) is not None:
        assert compile_pattern(wider(pattern)).search(text) is not None


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
