"""Tables as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

MAX_CELL_CHARS = 2_000
MAX_COLUMNS = 200


def markdown_table(rows: Sequence[Sequence[str | None]]) -> str:
    """Rows of cells as a Markdown table whose first row is the head; empty where nothing is in it.

    Line breaks in cells become spaces and bars are escaped, so that one row stays one line.
    """
    cleaned = [[_cell(cell) for cell in row[:MAX_COLUMNS]] for row in rows]
    cleaned = [row for row in cleaned if any(row)]
    if not cleaned:
        return ""
    width = max(len(row) for row in cleaned)
    head, *body = [row + [""] * (width - len(row)) for row in cleaned]
    lines = [_line(head), _line(["---"] * width), *map(_line, body)]
    return "\n".join(lines)


def _cell(cell: str | None) -> str:
    return " ".join((cell or "").split())[:MAX_CELL_CHARS].replace("|", "\\|")


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
