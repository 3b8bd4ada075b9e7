"""`pii`: regions and Presidio add to what counts as personal data."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest

from edgeward.policies.problems import ConfigError
from edgeward.policies.schema import load_policy


def masked(text: str, **block: Any) -> str:
    """The text with phone numbers masked under a policy with this block."""
    policy = load_policy({"version": 2, "pii": block})
    return policy.redactor.masked(text, ["phone"])[0]


@pytest.mark.parametrize(
    ("text", "region"),
    [
        ("call 030 12345678 today", "DE"),
        ("it is (030) 123456-78.", "DE"),
        ("020 7946 0958", "GB"),
        ("01 23 45 67 89", "FR"),
        ("912 345 678", "ES"),
    ],
)
def test_national_numbers(text: str, region: str) -> None:
    """A number in its national spelling counts where its country is named, and only there."""
    assert "[REDACTED:phone]" in masked(text, regions=[region])
    assert masked(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "2024-11-29",
        "on 29.11.2024",
        "order 4087713925",
        "30 of 45",
        "12:30",
        "1, 2, 3",
        "10 000 000",
    ],
)
def test_other_numbers(text: str) -> None:
    """Dates, order numbers and amounts are no phone numbers, whatever the regions."""
    assert masked(text, regions=["DE", "US", "DK", "ES"]) == text


@pytest.mark.parametrize(
    ("block", "wrong"),
    [
        ({"regions": ["XX"]}, "no country has the code XX"),
        ({"regions": ["de"]}, "regions"),
        ({"presidio": {"entities": []}}, "entities"),
    ],
)
def test_what_is_refused(block: dict[str, Any], wrong: str) -> None:
    """A country that does not exist and an empty list of entities are refused at load."""
    with pytest.raises(ConfigError, match=wrong):
        load_policy({"version": 2, "pii": block})


def test_version_1() -> None:
    """A version 1 file cannot say it."""
    with pytest.raises(ConfigError, match="version: 2"):
        load_policy({"version": 1, "pii": {"regions": ["DE"]}})


@pytest.mark.skipif(
    importlib.util.find_spec("presidio_analyzer") is not None, reason="Presidio is installed"
)
def test_a_missing_extra_is_named() -> None:
    """Without the package, the policy says at load what to install."""
    with pytest.raises(ConfigError, match=r"edgeward\[presidio\]"):
        load_policy({"version": 2, "pii": {"presidio": {"entities": ["URL"]}}})
