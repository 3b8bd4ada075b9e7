"""CSV files: every row as `column: value`, and the whole as a table."""

from __future__ import annotations

import csv
import io

from .content import Gathered, NotExtracted, Source, StructuredChunk, table
from .markdown import markdown_table
from .plain import decoded

ROWS = 20
"""Rows that one chunk holds at most."""
MAX_ROWS = 100_000
_DELIMITERS = (",", ";", "\t", "|")


class CsvExtractor:
    """Tables as text, one row a line."""

    def supports(self, source: Source) -> bool:
        """By name."""
        return source.suffix in (".csv", ".tsv")

    def extract(self, source: Source) -> list[StructuredChunk]:
        """Groups of rows, each with the names of its columns; all refer to the whole table."""
        text = decoded(source.read_bytes())
        rows = _rows(text)
        if len(rows) < 2:
            raise NotExtracted("is empty" if not rows else "has a head and no rows")
        whole = table(markdown_table(rows), source.path.name)
        head, *body = rows
        found = Gathered()
        for first in range(0, len(body), ROWS):
            lines = [_line(head, row) for row in body[first : first + ROWS]]
            found.add("\n".join(lines), section=f"rows from {first + 1}", resources=(whole,))
            if found.full:
                break
        return found.result()


def _rows(text: str) -> list[list[str]]:
    first = text[: text.find("\n")] if "\n" in text else text
    delimiter = max(_DELIMITERS, key=first.count)
    rows = []
    try:
        for row in csv.reader(io.StringIO(text), delimiter=delimiter):
            if any(cell.strip() for cell in row):
                rows.append(row)
            if len(rows) > MAX_ROWS:
                break
    except csv.Error as error:
        raise NotExtracted(f"cannot be read as CSV ({error})") from error
    return rows


def _line(head: list[str], row: list[str]) -> str:
    names = [*head, *(f"column {n + 1}" for n in range(len(head), len(row)))]
    pairs = zip(names, row, strict=False)
    return "; ".join(f"{name.strip()}: {cell.strip()}" for name, cell in pairs if cell.strip())
