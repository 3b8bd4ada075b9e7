"""Masks: their form, overlaps, literals, values, and time that is linear in the text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edgeward.guards.redact import KINDS, Redactor, SecretPattern

KEY = "sk-abc123456789012345678"


def test_form() -> None:
    """A secret becomes [REDACTED:label], and the labels come back once each, in order (F024)."""
    masked, labels = Redactor().secrets(f"My key is {KEY}, again {KEY}, and AKIAIOSFODNN7EXAMPLE")
    assert masked == (
        "My key is [REDACTED:openai_key], again [REDACTED:openai_key],"
        " and [REDACTED:aws_access_key]"
    )
    assert labels == ("openai_key", "aws_access_key")


def test_policy_patterns_come_first_and_groups_narrow() -> None:
    """A policy's own pattern names the mask; a group named secret is all that is masked."""
    own = [SecretPattern("mine", r"sk-\w+"), SecretPattern("pin", r"PIN (?P<secret>\d+)")]
    assert Redactor(own).secrets(f"{KEY} PIN 1234")[0] == "[REDACTED:mine] PIN [REDACTED:pin]"


def test_overlaps_make_one_mask() -> None:
    """Hits that overlap are masked together; hits that touch are not."""
    own = [SecretPattern("ab", "a+b+"), SecretPattern("bc", "b+c+"), SecretPattern("d", "d")]
    assert Redactor(own).secrets("xaabbccdy") == (
        "x[REDACTED:ab][REDACTED:d]y",
        ("ab", "d"),
    )


def test_literals() -> None:
    """Known keys are masked wherever they stand, whatever they look like."""
    redactor = Redactor().with_literals({"llm_api_key": "hello.world", "empty": ""})
    assert redactor.secrets("xhello.worldx hello world")[0] == (
        "x[REDACTED:llm_api_key]x hello world"
    )
    both = redactor.with_literals({"other": "zzz"})
    assert both.secrets("hello.world zzz")[1] == ("llm_api_key", "other")


def test_all_masks_personal_data_too() -> None:
    """`secrets` leaves personal data alone, `all` masks it; a secret's label wins."""
    text = f"ann@example.com has {KEY}"
    assert Redactor().secrets(text)[0] == "ann@example.com has [REDACTED:openai_key]"
    assert Redactor().all(text)[0] == "[REDACTED:email] has [REDACTED:openai_key]"
    url = "https://ann:hunter22@example.com/"
    assert "hunter22" not in Redactor().all(url)[0]


def test_kinds_are_chosen() -> None:
    """Only what is of the named kinds is masked; a kind that does not exist is refused."""
    text = f"ann@example.com, 4111 1111 1111 1111, 10.0.0.5, {KEY}"
    assert Redactor().masked(text, ["card", "ip"]) == (
        f"ann@example.com, [REDACTED:credit_card], [REDACTED:ipv4], {KEY}",
        ("credit_card", "ipv4"),
    )
    assert Redactor().masked(text, ["secrets"]) == Redactor().secrets(text)
    assert Redactor().masked(text, set(KINDS) - {"presidio"}) == Redactor().all(text)
    assert Redactor().masked(text, []) == (text, ())
    with pytest.raises(ValueError, match=r"no kind: mail; kinds: secrets, email, card"):
        Redactor().masked(text, ["mail"])


def test_shown_ignores_case() -> None:
    """For reasons, a secret is masked in any letter case."""
    assert "iosfodnn" not in Redactor().shown("akiaiosfodnn7example.evil.test")
    assert Redactor().shown("evil.test") == "evil.test"


def test_value_masks_keys_and_strings() -> None:
    """A JSON value is copied with the secrets in its strings and keys masked."""
    value = {"a": [KEY, 1, None], KEY: {"b": True}}
    masked = {"a": ["[REDACTED:openai_key]", 1, None], "[REDACTED:openai_key]": {"b": True}}
    assert Redactor().value(value) == masked
    assert value["a"] == [KEY, 1, None]


@pytest.mark.parametrize("regex", ["X*", "X?", "(?P<secret>X*)"])
def test_pattern_that_matches_nothing_too(regex: str) -> None:
    """A pattern that also matches the empty text masks what it finds and garbles nothing else."""
    redactor = Redactor([SecretPattern("x", regex)])
    assert redactor.secrets("aXb c") == ("a[REDACTED:x]b c", ("x",))
    assert redactor.secrets("ab c") == ("ab c", ())


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=300))
def test_masking_is_idempotent(text: str) -> None:
    """Masking twice changes nothing, whatever the text."""
    redactor = Redactor()
    once = redactor.all(text)[0]
    assert redactor.all(once)[0] == once


@pytest.mark.parametrize(
    "word",
    [
        "a",
        "4",
        "4 ",
        "a@",
        "+1 ",
        "sk-",
        "1.",
        "eyJ",
        "-----BEGIN ",
        "DE89",
        "DE89 ",
        "2001:",
        "key=",
    ],
)
def test_long_text(word: str) -> None:
    """A megabyte of one word gets an answer (a quadratic search would not end) (X6)."""
    text = word * (1_000_000 // len(word))
    assert Redactor().all(text)[0]
