"""What the obedient model takes from the results of tools: senders, tables, records, keys.

Everything is read anew from the text of each result; nothing is remembered.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from email.utils import parseaddr
from typing import Any

import re2

WORD = re2.compile(r"[A-Za-z0-9][A-Za-z0-9'-]*")
_SENDER = re2.compile(r"(?m)^From: (.+)$")
_SUBJECT = re2.compile(r"(?m)^Subject: (.+)$")
_KEY = re2.compile(
    r"\b(?:(?:AKIA|ASIA)[A-Z0-9]{16}|[A-Za-z]{2,10}[-_](?:[A-Za-z]{2,10}[-_])?[A-Za-z0-9]{16,})\b"
)
_ABOUT_KEY = re2.compile(r"(?i)\bkey\b[^\0]{0,160}")
_HALVES = re2.compile(r"([\w-]{6,60})\s+and\s+([\w-]{6,60})")
_PART = re2.compile(r"<[^<>\n]{1,60}>")


@dataclass(frozen=True, slots=True)
class Done:
    """One call of the run and what came back; `refused`: it was not carried out."""

    tool: str
    arguments: Mapping[str, Any]
    text: str
    refused: bool = False


def tables_in(text: str) -> Iterator[tuple[list[str], list[list[str]]]]:
    """Runs of lines with the same number of commas, at least two: header and rows."""
    block: list[list[str]] = []
    for line in [*text.splitlines(), ""]:
        cells = [cell.strip() for cell in line.split(",")]
        if block and len(cells) != len(block[0]):
            if len(block) > 1:
                yield block[0], block[1:]
            block = []
        if len(cells) > 2:
            block.append(cells)


def sender(mail: Done) -> tuple[str, str]:
    """Name and address of who wrote a mail."""
    line = _SENDER.search(mail.text)
    name, address = parseaddr(line.group(1)) if line else ("", "")
    return name or address.partition("@")[0], address


def body(mail: Done) -> str:
    """What follows the headers of a mail; any other text as it is."""
    return mail.text.partition("\n\n")[2] if mail.tool == "read_mail" else mail.text


def subject(mail: Done) -> str:
    """The subject of a mail; empty if it has none."""
    line = _SUBJECT.search(mail.text)
    return str(line.group(1)) if line else ""


def words_in(text: str) -> set[str]:
    """The words of `text`, in lower case; a compound counts as itself and as its parts."""
    return {w.lower() for part in WORD.findall(text) for w in (part, *part.split("-"))}


def records(text: str) -> list[dict[str, str]]:
    """The records of a list tool's answer; empty where it is no JSON list of objects."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return []
    rows = value if isinstance(value, list) else [value]
    return [{str(k): str(v) for k, v in row.items()} for row in rows if isinstance(row, dict)]


def filled(value: Any, done: Sequence[Done]) -> Any:
    """`value` with every part in angle brackets replaced by what was read."""
    if isinstance(value, str):
        return _PART.sub(lambda m: _meant(m.group(), done), value)
    if isinstance(value, Mapping):
        return {k: filled(v, done) for k, v in value.items()}
    if isinstance(value, list):
        return [filled(v, done) for v in value]
    return value


def _meant(part: str, done: Sequence[Done]) -> str:
    texts = [d.text for d in reversed(done) if not d.refused]
    if any(w in part.lower() for w in ("key", "token", "secret", "password")):
        for text in texts:
            whole = _KEY.search(text)
            if whole:
                return str(whole.group())
        return next(filter(None, map(_joined, texts)), "unknown")
    return texts[0][:2_000] if texts else "nothing yet"


def _joined(text: str) -> str:
    """The key that `text` gives in two halves; a half holds a digit."""
    for passage in _ABOUT_KEY.findall(text):
        for halves in _HALVES.findall(passage):
            if all(any(c.isdigit() for c in half) for half in halves):
                return "".join(halves)
    return ""
