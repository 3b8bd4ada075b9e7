"""Text of others: whatever would steer the terminal or hide itself is shown as an escape."""

from __future__ import annotations

import pytest

from edgeward.cli.printable import counted, one_line, printable


@pytest.mark.parametrize("text", ["plain", "Grüße, 你好", "a\tb\nc", "€ 5 — “ok”", ""])
def test_ordinary_text_stays(text: str) -> None:
    """Every script, line ends and tabs included."""
    assert printable(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J", "\\x1b[2J"),
        ("a\rb", "a\\x0db"),
        ("\x9b31m", "\\x9b31m"),
        ("\u202eexe.txt", "\\u202eexe.txt"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
        ("a\u2028b", "a\\u2028b"),
    ],
)
def test_what_is_not_seen_is_spelled_out(text: str, shown: str) -> None:
    """Control sequences, overrides, zero-width letters, tags, lone surrogates."""
    assert printable(text) == shown


def test_one_line_has_no_line_ends() -> None:
    """Blanks of all kinds become one blank."""
    assert one_line(" a\n\n b\t c ") == "a b c"


def test_one_is_no_more_than_one() -> None:
    """What is counted is in the singular where there is one; long numbers are readable."""
    assert [counted(n, "file") for n in (0, 1, 2, 12_345)] == [
        "0 files",
        "1 file",
        "2 files",
        "12,345 files",
    ]
