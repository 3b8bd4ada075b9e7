"""Telephone numbers, however they are grouped."""

from __future__ import annotations

import pytest

from edgeward.guards.phones import phone, phones_in
from tests.guards.threads import one


@pytest.mark.parametrize(
    ("text", "digits"),
    [
        ("0171 5550123", "01715550123"),
        ("0171/555 01 23", "01715550123"),
        ("(0171) 555 01 23", "01715550123"),
        ("+49 (0)171 5550123", "491715550123"),
        ("+44 20 7946 0991", "442079460991"),
        ("(415) 555-0132", "4155550132"),
        ("415.555.0132", "4155550132"),
        ("2026-12-04", ""),
        ("10.20.30.40", ""),
        ("0.5 mg", ""),
        ("12 34", ""),
    ],
)
def test_the_digits_of_a_number(text: str, digits: str) -> None:
    """A plus, a zero, a bracket or the grouping of North America tells a telephone's number."""
    assert phone(text) == digits
    assert next(phones_in(f"Call {text}, please."), "") == digits


@pytest.mark.parametrize(
    ("said", "value", "word"),
    [
        ("text 0351/5550199", "0351 5550199", "allow"),
        ("text 0351/5550199", "03515550199", "allow"),
        ("text +49 (0)171 5550123", "+491715550123", "allow"),
        ("text (415) 555-0132", "+14155550132", "allow"),
        ("text +1 415 555 0132", "415-555-0132", "allow"),
        ("text 0351/5550199", "0351 5550198", "block"),
        ("text 0351/5550199", "+493515550199", "block"),  # of which country it is, nobody said
        ("text (415) 555-0132", "+444155550132", "block"),
    ],
)
def test_a_number_is_the_users_in_any_grouping(said: str, value: str, word: str) -> None:
    """The same digits; no country is guessed."""
    assert one("stated", said).word("use", x=value) == word
