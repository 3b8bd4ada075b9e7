"""Presidio as a detector: its own patterns over a blank language, with nothing to download."""

from __future__ import annotations

import pytest

from edgeward.policies.problems import ConfigError
from edgeward.policies.schema import load_policy

pytest.importorskip("presidio_analyzer", reason="the extra `presidio` is not installed")

TEXT = "mail ann@example.com about 1BoatSLRHtKNngkdXEeobR76b53LETtpyT"


def test_what_it_finds_is_masked() -> None:
    """Its finds are a kind of their own, and part of all kinds."""
    redactor = load_policy({"version": 2, "pii": {"presidio": {"entities": ["CRYPTO"]}}}).redactor
    assert redactor.masked(TEXT, ["presidio"]) == (
        "mail ann@example.com about [REDACTED:crypto]",
        ("crypto",),
    )
    assert redactor.all(TEXT)[1] == ("email", "crypto")


@pytest.mark.parametrize(
    ("block", "wrong"),
    [
        ({"entities": ["PERSON"]}, "people and places need a `model`"),
        ({"entities": ["NOTHING"]}, "Presidio finds no NOTHING"),
        ({"entities": ["PERSON"], "model": "xx_not_there_sm"}, "'xx_not_there_sm' is missing"),
    ],
)
def test_what_it_cannot_find_is_refused(block: dict[str, object], wrong: str) -> None:
    """An entity that nothing here finds, or a model that is not there, is said at load."""
    with pytest.raises(ConfigError, match=wrong):
        load_policy({"version": 2, "pii": {"presidio": block}})
