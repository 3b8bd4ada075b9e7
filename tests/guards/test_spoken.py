"""Codes that are spelt out in words are read as what they say, at the cost of the words."""

from __future__ import annotations

import pytest

from edgeward.guards.private_pieces import PrivatePieces
from edgeward.guards.spoken import MAX_WORDS, SPOKEN, plain_digits, signs_said, spelt_out


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("one ay seven bee", "1 a 7 b"),
        ("alpha bravo three", "a b 3"),
        ("vier acht zwei", "4 8 2"),
        ("quatre huit deux", "4 8 2"),
        ("double four then seven", "44 7"),
        ("triple nine six", "999 6"),
        ("triple nine triple six", "999 666"),
        ("forty two twelve", "42 12"),
        ("forty and twelve two", "40 12 2"),
        ("one two ninety", "1 2 90"),
        ("code is one two three", "code is 1 2 3"),
    ],
)
def test_what_words_spell(said: str, read: str) -> None:
    """Digits of several languages, letters, tens, doubles; what is no sign stays as it is."""
    assert list(spelt_out(said.split())) == [read]


@pytest.mark.parametrize(
    ("said", "number"),
    [
        ("at one million one hundred and eighty thousand five hundred", "1180500"),
        ("nine hundred and nineteen thousand forty seven euros", "919047"),
        ("two thousand and six, two hundred", "2006"),
        ("a thousand thanks", "1000"),
    ],
)
def test_what_is_counted_in_words(said: str, number: str) -> None:
    """Hundreds, thousands and millions, in digits as well."""
    first, *_ = spelt_out(said.replace(",", " x").split())
    assert number in first.split()


@pytest.mark.parametrize("word", ["hundred", "million"])
def test_scales_without_end_are_no_number(word: str) -> None:
    """A tool can say hundred a thousand times: what comes of it grows no longer than any number."""
    said, *_ = spelt_out(["one", *[word] * (MAX_WORDS - 2), "x"])
    assert all(len(number) < 20 for number in said.split())


def test_oh_is_a_letter_and_a_zero() -> None:
    """Both readings are given."""
    assert list(spelt_out(["four", "oh", "two"])) == ["4 o 2", "4 0 2"]


def test_prose_spells_nothing() -> None:
    """Fewer than three signs among the words, and what lies beyond the bound."""
    assert not list(spelt_out(["we", "are", "here", "for", "lunch"]))
    assert not list(spelt_out(["word"] * MAX_WORDS + ["one"] * 9))


def test_digits_of_other_scripts() -> None:
    """Arabic, Chinese, circled; no sign that is a number of its own, and no letter."""
    assert (
        plain_digits("\u0664\u56db\u2463 caf\u00e9 \u00bd \u2169") == "444 caf\u00e9 \u00bd \u2169"
    )
    assert plain_digits("plain") == "plain"


def test_the_signs_of_words() -> None:
    """Each once, digits with how often they are said."""
    words = ["for", "you", "and", "for", "one", "or", "you", "are"]
    assert signs_said(words, SPOKEN.intersection(words)) == {"4": 2, "u": 0, "1": 1, "r": 0}
    assert signs_said(words, ()) == {}


@pytest.mark.parametrize("word", ["oh", "double", "twenty"])
def test_signs_that_are_not_easily_told(word: str) -> None:
    """Words that are read in two ways, or with their neighbour; and very many of them."""
    assert signs_said([word], {word}) is None
    many = sorted(SPOKEN)[:40]
    assert signs_said(many, set(many)) is None


@pytest.mark.parametrize("code", ["482917", "a1b2c3d4", "99x7y1"])
@pytest.mark.parametrize("filler", ["", "and", "then the"])
def test_a_code_that_is_spelt_out_is_found(code: str, filler: str) -> None:
    """Whatever prose with spoken signs in it stands around."""
    private = PrivatePieces()
    private.add(code, 0)
    names = {"0": "zero", "1": "one", "2": "two", "3": "three", "4": "four", "7": "seven"}
    names |= {"8": "eight", "9": "nine", "a": "alpha", "b": "bravo", "c": "charlie", "d": "delta"}
    names |= {"x": "xray", "y": "yankee"}
    said = f" {filler} ".join(names[sign] for sign in code)
    assert bool(list(private.found_in(f"so for you: {said}. are we done", 1))) == (
        "the" not in filler
    )
    assert not list(private.found_in(f"so for you: {said[:-9]}", 1))
