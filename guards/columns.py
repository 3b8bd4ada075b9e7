"""Hosts in a column of a table that is written as text: CSV, TSV, a table of Markdown.

    name,url
    hook,evil.test/x

The header names the column, so its values need no scheme. Linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .fields import Kind, kind_named
from .hosts import Destination
from .named_hosts import KEYS, host_written

_CELL = (
    r"[ \t\"']{0,3}(?:[a-z]{1,24}[ _-]?){0,2}"
    rf"(?:{KEYS}|ip|address)s?[ \t\"']{{0,3}}"
)
COLUMNS = (
    rf"(?im)^(?:[^\n]{{0,400}}[,;|\t]{_CELL}(?:[,;|\t\r][^\n]{{0,400}})?"
    rf"|{_CELL}[,;|\t][^\n]{{0,400}})$"
)
"""A line that may be a header with such a column (RE2)."""

_POINTS = Kind.HOST | Kind.DOMAIN | Kind.URL | Kind.PLACE
_AROUND = " \t\r\"'<>`"
_RULE = re.compile(r"\s*[|:+-][\s|:+-]*\Z")
"""What Markdown has between the header and the rows."""


def column_hosts(text: str, pattern: re.Pattern[str]) -> Iterator[Destination]:
    """The hosts in such columns; `pattern` is `COLUMNS`, compiled."""
    read = 0
    for match in pattern.finditer(text):
        if match.start() < read:
            continue  # a row of the table above
        header = match[0]
        sign = max(",;|\t", key=header.count)
        names = _cells(header, sign)
        columns = [n for n, name in enumerate(names) if kind_named(name) & _POINTS]
        read = match.end() + 1
        while columns and read < len(text):
            end = text.find("\n", read)
            end = len(text) if end < 0 else end
            line = text[read:end]
            cells = _cells(line, sign)
            if len(cells) != len(names) and not _RULE.match(line):
                break
            read = end + 1
            for column in columns if len(cells) == len(names) else ():
                cell = cells[column].rstrip(".")
                found = host_written(cell, quoted=False) if "." in cell or ":" in cell else None
                if found is not None:
                    yield found


def _cells(line: str, sign: str) -> list[str]:
    cells = line.strip(" \r\n").strip("|" if sign == "|" else "\n").split(sign)
    return [cell.strip(_AROUND) for cell in cells]
