"""Patterns that also match their own beginning where the text ends in it, and miss none."""

from __future__ import annotations

import pytest
import re2
from hypothesis import given, settings
from hypothesis import strategies as st

from edgeward.guards.prefixes import as_bytes, coarse, ending, is_lazy, partial, watched


@pytest.mark.parametrize(
    ("pattern", "text", "span"),
    [
        ("sk-[a-z]{3}", "x sk-ab", (2, 7)),
        ("sk-[a-z]{3}", "x sk-abc y", (2, 8)),
        ("sk-[a-z]{3}", "x sk-a y", (8, 8)),
        (r"\Qa.b\E+", "xa.", (1, 3)),
        (r"(?P<secret>a|bc)d", "xb", (1, 2)),
        ("BEGIN.*?END", "xBEGIN y", (1, 8)),
        ("BEGIN.*?END", "xBEGIN END END", (1, 10)),
        (r"\bkey\b", "a key", (2, 5)),
        ("a$", "ba", (1, 2)),
        ("[]a]b", "x]", (1, 2)),
        ("a{,2}b", "xa{,2", (1, 5)),
    ],
)
def test_a_beginning(pattern: str, text: str, span: tuple[int, int]) -> None:
    """It matches as the pattern does, or up to the end."""
    assert re2.search(partial(pattern), text).span() == span


def test_groups_stay() -> None:
    """What is a secret in a match is found as before."""
    made = re2.compile(partial("x(?P<secret>a+)(?:b)"))
    assert made.search("xaab").span(made.groupindex["secret"]) == (1, 3)


@pytest.mark.parametrize(
    ("pattern", "lazy"),
    [
        ("a*?b", True),
        ("a{2,3}?", True),
        ("a??", True),
        ("(?U)a*", True),
        ("a?b+", False),
        ("[*?]", False),
    ],
)
def test_lazy_patterns(pattern: str, lazy: bool) -> None:
    """Those that take as little as they can."""
    assert is_lazy(pattern) == lazy


def test_one_byte_for_each_character() -> None:
    """Letters and digits beyond ASCII are told from other signs."""
    assert as_bytes("aé，世1😀²\n") == b"a\xff\xa0\xff1\xa0\xff\n"


ATOMS = ["a", "b", "[ab]", "[^a]", ".", "k", "s", "é", "世", "[]é]", "[[:alpha:]é]", "[^é]"]
ATOMS += [r"\d", r"\D", r"\w", r"\W", r"\s", r"\b", r"\B", r"\.", r"\x41", r"\Q.é\E", r"\x{212a}"]
ATOMS += [r"\pL", r"\PL", r"[\pL-]", r"[-\pN]", r"[^\pL]", r"[a-\x{ff}]", r"\p{Greek}"]
ATOMS += [r"\p{^Greek}", r"[\P{Greek}a]"]


@st.composite
def patterns(draw: st.DrawFn) -> str:
    """Patterns of every construction that the translation knows."""
    out = draw(st.sampled_from(["", "(?i)", "(?s)", "(?m)", "(?is)"]))
    for _ in range(draw(st.integers(1, 4))):
        atom = draw(st.sampled_from(ATOMS))
        if not atom.startswith((r"\b", r"\B", r"\Q")):
            atom += draw(
                st.sampled_from(["", "*", "+", "?", "*?", "{2}", "{0,20}", "{6,}", "{3,9}"])
            )
        out += draw(
            st.sampled_from([atom, f"({atom})", f"(?:{atom}|b)", f"(?P<x{len(out)}>{atom})"])
        )
    return out + draw(st.sampled_from(["", "$", "^", r"\z"]))


@settings(max_examples=300, deadline=None)
@given(patterns(), st.text(alphabet="abkKſK1é世ασ ，.-\n", max_size=12), st.integers(0, 12))
def test_no_match_and_no_beginning_is_missed(pattern: str, text: str, at: int) -> None:
    """Whatever the pattern matches in the whole text is seen in it, and in its beginning."""
    found = re2.search(pattern, text)
    if found is None or found.start() == found.end():
        return
    start = found.start()
    whole = watched([coarse(pattern)]).search(as_bytes(text))
    assert whole.start() <= start
    head = text[: start + at]
    if start < len(head) < found.end():
        assert ending([coarse(pattern)]).search(as_bytes(head)).start() <= start
        assert re2.search(partial(pattern), head).start() <= start


KELVIN = r"(?i)\x{212a}a*"


@pytest.mark.parametrize("text", ["K", "k", "\u212a"])
def test_the_kelvin_sign_is_a_k(text: str) -> None:
    """A sign that is an ASCII letter but for its case is looked for as that letter, too."""
    found = watched([coarse(KELVIN)]).search(as_bytes(text))
    assert found is not None
    assert found.start() == 0
