"""Text of others: whatever would steer the terminal or hide itself is shown as an escape."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from edgeward.cli.printable import counted, one_line, printable

from .conftest import Invoke


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


@pytest.mark.parametrize(
    "command",
    [
        ("check", "policy.yaml", "--calls", "calls.jsonl"),
        ("replay", "told.json", "--policy", "policy.yaml"),
        ("test", "policy.yaml"),
    ],
)
def test_json_is_plain_letters(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, invoke: Invoke
) -> None:
    """A model chose the names in it, and JSON itself escapes half of what steers a terminal."""
    monkeypatch.chdir(tmp_path)
    odd = "pay\x9b31m\u202e"
    Path("calls.jsonl").write_text(json.dumps({"tool": odd}))
    asked = {"id": odd, "type": "function", "function": {"name": "pay", "arguments": "{}"}}
    came = {"role": "tool", "tool_call_id": odd, "content": "paid"}
    told = [{"messages": [{"role": "assistant", "tool_calls": [asked]}, came]}]
    Path("told.json").write_text(json.dumps(told))
    Path("policy.yaml").write_text("version: 2\ndefault: block\ntools: {send: allow}\n")
    case = Path("policy", "allow", f"{odd}.yaml")
    case.parent.mkdir(parents=True)
    case.write_text(json.dumps({"tool": "pay"}))
    result = invoke(*command, "--json")
    assert "\\u009b31m\\u202e" in result.stdout
    assert result.stdout.isascii()


def test_one_is_no_more_than_one() -> None:
    """What is counted is in the singular where there is one; long numbers are readable."""
    assert [counted(n, "file") for n in (0, 1, 2, 12_345)] == [
        "0 files",
        "1 file",
        "2 files",
        "12,345 files",
    ]
