"""What masking costs is counted, not timed: at most in proportion to the text, whatever it is."""

from __future__ import annotations

from functools import partial

import pytest

from edgeward.guards.redact import Redactor
from tests.steps import steps_of

PIECES = (
    "a", "QWxh", "0", "4 ", "4111111111111111 ", "sk-ant-", "AKIA", "eyJ", "ghp_", "xoxb-",
    "password=", "secret_key: ", "Bearer ", "postgres://u:p@", "https://u:", "AccountKey=", "hf_",
    "SG.", "a@b.c ",
    "-----BEGIN PRIVATE KEY-----", "+49 30 ", "DE89370400440532013000 ", "::", "1.2.3.4 ", "é",
)  # fmt: skip


@pytest.mark.parametrize("piece", PIECES)
def test_masking_costs_at_most_the_length(piece: str) -> None:
    """Twice a hostile text (how keys begin, one letter, digits) takes at most twice the steps."""
    redactor = Redactor()
    texts = [piece * (size // len(piece)) for size in (8_000, 16_000)]
    redactor.all(texts[0])
    short, long = (steps_of(partial(redactor.all, text)) for text in texts)
    assert long < 2.2 * short + 20
