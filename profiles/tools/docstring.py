"""A function's docstring taken apart: what it does, and what it says of each parameter.

Google (`Args:`), NumPy (`Parameters` and a rule) and Sphinx (`:param x:`) are known. What is in
none of these forms stays in the description.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Collection

_GOOGLE = re.compile(r"(Args|Arguments|Parameters|Params):\s*$")
_NUMPY = re.compile(r"(Parameters|Other Parameters)\s*$")
_RULE = re.compile(r"-{3,}\s*$")
_SPHINX = re.compile(r":param\s+(?:[^:\s]+\s+)?\*{0,2}(\w+)\s*:\s*(.*)$")
_SPHINX_OTHER = re.compile(r":(type|rtype|returns?|raises?)\b")
_GOOGLE_ENTRY = re.compile(r"\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)$")
_NUMPY_ENTRY = re.compile(r"\*{0,2}(\w+(?:\s*,\s*\w+)*)\s*(?::.*)?$")


def parse_docstring(text: str | None, names: Collection[str]) -> tuple[str, dict[str, str]]:
    """The description without its parameter sections, and the text for each of `names`."""
    lines = inspect.cleandoc(text or "").splitlines()
    kept: list[str] = []
    found: dict[str, str] = {}
    at = 0
    while at < len(lines):
        line = lines[at]
        if _GOOGLE.match(line):
            end = _section_end(lines, at + 1)
            _google(lines[at + 1 : end], names, found)
            at = end
        elif _NUMPY.match(line) and at + 1 < len(lines) and _RULE.match(lines[at + 1]):
            end = _numpy_end(lines, at + 2)
            _numpy(lines[at + 2 : end], names, found)
            at = end
        elif field := _SPHINX.match(line):
            end = _section_end(lines, at + 1, blank_ends=True)
            _note(found, field[1], [field[2], *lines[at + 1 : end]], names)
            at = end
        elif _SPHINX_OTHER.match(line):
            at = _section_end(lines, at + 1, blank_ends=True)
        else:
            kept.append(line)
            at += 1
    return "\n".join(kept).strip(), found


def _section_end(lines: list[str], at: int, *, blank_ends: bool = False) -> int:
    """The first line from `at` on that is not indented; blank lines belong to the section."""
    while at < len(lines) and (lines[at][:1].isspace() or (not lines[at] and not blank_ends)):
        at += 1
    return at


def _numpy_end(lines: list[str], at: int) -> int:
    """The header of the next section, or the end."""
    while at < len(lines):
        if lines[at].strip() and at + 1 < len(lines) and _RULE.match(lines[at + 1]):
            return at
        at += 1
    return at


def _google(lines: list[str], names: Collection[str], found: dict[str, str]) -> None:
    indents = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    outer = min(indents, default=0)
    name, body = "", list[str]()
    for line in lines:
        entry = _GOOGLE_ENTRY.match(line[outer:]) if line.strip() else None
        if entry and not line[outer : outer + 1].isspace():
            _note(found, name, body, names)
            name, body = entry[1], [entry[2]]
        else:
            body.append(line)
    _note(found, name, body, names)


def _numpy(lines: list[str], names: Collection[str], found: dict[str, str]) -> None:
    name, body = "", list[str]()
    for line in lines:
        entry = _NUMPY_ENTRY.match(line) if line[:1].strip() else None
        if entry:
            for one in name.split(","):
                _note(found, one.strip(), body, names)
            name, body = entry[1], []
        else:
            body.append(line)
    for one in name.split(","):
        _note(found, one.strip(), body, names)


def _note(found: dict[str, str], name: str, body: list[str], names: Collection[str]) -> None:
    text = " ".join(line.strip() for line in body if line.strip())
    if name in names and text:
        found[name] = text
