"""A strategy as text, in characters that every terminal has.

A guard's box is drawn in `#`, a tool's in `=`, all others in `-`. A line that passes behind
another has a gap there.
"""

from __future__ import annotations

import textwrap

from ...graphs.schema import END
from .drawing import START, Drawing
from .layout import STUB, Lane, Layout, Placed, columns, layout

ROUND = ("-", ".", "()")
EDGES = {"guard": ("#", "#", "##"), "tool": ("=", "=", "[]"), START: ROUND, END: ROUND}
"""By kind: the upper and lower edge, the corners, the sides."""
PLAIN = ("-", "+", "||")
WIDE = 80
LEGEND = "#: guard, decides every call    =: tool, runs what was allowed"


def as_ascii(drawing: Drawing) -> str:
    """The picture, its lines without blanks at their ends."""
    placed = layout(drawing)
    grid = [[" "] * placed.width for _ in range(placed.height)]
    # Vertical lines first: what crosses them passes in front.
    for down in placed.downs:
        _down(grid, placed.middle, down.top, down.bottom)
    for lane in placed.lanes:
        first, last = lane.lines
        for line in range(first, last + 1):
            grid[line][placed.column(lane)] = "|"
    for lane in placed.lanes:
        _sideways(grid, placed, lane)
    for box in placed.boxes:
        _box(grid, placed, box)
    for down in placed.downs:
        _write(grid, placed.middle + 2, down.top, down.label)
    head = [drawing.title, *textwrap.wrap(drawing.description, WIDE)]
    kinds = {box.kind for box in drawing.boxes}
    lines = [*head, "", *("".join(row).rstrip() for row in grid)]
    return "\n".join([*lines, "", LEGEND] if kinds & {"guard", "tool"} else lines)


Grid = list[list[str]]


def _write(grid: Grid, column: int, line: int, text: str) -> None:
    for letter in text:
        wide = columns(letter)
        if wide:
            grid[line][column : column + wide] = [letter, *[""] * (wide - 1)]
            column += wide


def _down(grid: Grid, column: int, top: int, bottom: int) -> None:
    for line in range(top, bottom):
        grid[line][column] = "|"
    grid[bottom][column] = "v"


def _sideways(grid: Grid, placed: Layout, lane: Lane) -> None:
    """The horizontal parts of a lane: its exits with their labels, and its arrow."""
    column = placed.column(lane)
    to_left = lane.side == "left"
    edge = placed.left if to_left else placed.right
    for leaving in lane.exits:
        _across(grid, edge, column, leaving.line)
        width = columns(leaving.label)
        at = edge - STUB - width if to_left else edge + STUB + 1
        _write(grid, at, leaving.line, leaving.label)
    _across(grid, edge, column, lane.entry)
    grid[lane.entry][edge - 1 if to_left else edge + 1] = ">" if to_left else "<"


def _across(grid: Grid, edge: int, column: int, line: int) -> None:
    between = range(column + 1, edge) if column < edge else range(edge + 1, column)
    for at in between:
        grid[line][at] = "-"
    grid[line][column] = "+"


def _box(grid: Grid, placed: Layout, box: Placed) -> None:
    level, corner, sides = EDGES.get(box.box.kind, PLAIN)
    left, right = placed.left, placed.right
    for line in (box.top, box.bottom):
        _write(grid, left, line, corner + level * (right - left - 1) + corner)
    for line in range(box.top + 1, box.bottom):
        grid[line][left], grid[line][right] = sides[0], sides[1]
    for line, text in enumerate(box.box.lines, start=box.top + 1):
        _write(grid, left + 2, line, text)
