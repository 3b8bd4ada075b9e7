"""Where the boxes and arrows of a drawing lie, on a grid of characters.

The boxes stand below one another in the order of their way. An arrow to the next box is a straight
line; one that leads further down runs on the right, one that leads back runs on the left, and all
that lead to one box share a lane. So no label lies on another, whatever the strategy is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from .drawing import Arrow, Box, Drawing

Side = Literal["left", "right"]

LANE = 3
"""Columns from one lane to the next."""
STUB = 2
"""Columns between a box and its label, and between the label and the first lane."""
GAP = 3
"""Lines between two boxes: the arrow with its label, its head, and the next box's upper edge."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A box: its upper line and its number of lines, the two edges among them."""

    box: Box
    top: int
    height: int

    @property
    def bottom(self) -> int:
        """The line of the lower edge."""
        return self.top + self.height - 1

    @property
    def entry(self) -> int:
        """The line at which lanes arrive."""
        return self.top + 1


@dataclass(frozen=True, slots=True)
class Down:
    """A straight arrow from one box to the next."""

    label: str
    top: int
    bottom: int


@dataclass(frozen=True, slots=True)
class Exit:
    """Where an arrow leaves a box sideways."""

    label: str
    line: int


@dataclass(frozen=True, slots=True)
class Lane:
    """The arrows that come to one box from one side: a vertical line, `number` 0 beside the box."""

    side: Side
    number: int
    exits: tuple[Exit, ...]
    entry: int

    @property
    def lines(self) -> tuple[int, int]:
        """The upper and the lower end."""
        ends = [self.entry, *(leaving.line for leaving in self.exits)]
        return min(ends), max(ends)


@dataclass(frozen=True, slots=True)
class Layout:
    """All places, in columns and lines; `left` and `right` are the sides of the boxes."""

    boxes: tuple[Placed, ...]
    downs: tuple[Down, ...]
    lanes: tuple[Lane, ...]
    left: int
    right: int
    width: int
    height: int

    @property
    def middle(self) -> int:
        """The column of the straight arrows."""
        return (self.left + self.right) // 2

    def column(self, lane: Lane) -> int:
        """The column of a lane."""
        away = 2 * STUB + label_width(self.lanes, lane.side) + lane.number * LANE
        return self.left - away if lane.side == "left" else self.right + away


def columns(text: str) -> int:
    """How many columns a text takes on a terminal."""
    from rich.cells import cell_len

    return cell_len(text)


def label_width(lanes: Iterable[Lane], side: Side) -> int:
    """The widest label of the arrows that leave the boxes on one side."""
    labels = [leaving.label for lane in lanes if lane.side == side for leaving in lane.exits]
    return max(map(columns, labels), default=0)


def layout(drawing: Drawing) -> Layout:
    """The places of a drawing's boxes and arrows."""
    rows = {box.name: row for row, box in enumerate(drawing.boxes)}
    sideways: dict[tuple[int, Side], list[Arrow]] = {}
    straight: dict[int, str] = {}
    for arrow in drawing.arrows:
        source, target = rows[arrow.source], rows[arrow.target]
        if target == source + 1:
            straight[source] = arrow.label
        else:
            side: Side = "left" if target <= source else "right"
            sideways.setdefault((target, side), []).append(arrow)
    boxes, lines = _stacked(drawing.boxes, sideways)
    downs = [
        Down(label, boxes[row].bottom + 1, boxes[row + 1].top - 1)
        for row, label in straight.items()
    ]
    lanes = _numbered(
        [
            Lane(side, 0, tuple(Exit(a.label, lines[a]) for a in arrows), boxes[row].entry)
            for (row, side), arrows in sideways.items()
        ]
    )
    widest = max(columns(line) for box in drawing.boxes for line in box.lines)
    margins = {side: _margin(lanes, side) for side in ("left", "right")}
    left = margins["left"]
    right = left + widest + 3
    return Layout(
        boxes=boxes,
        downs=tuple(downs),
        lanes=lanes,
        left=left,
        right=right,
        width=right + 1 + margins["right"],
        height=boxes[-1].bottom + 1,
    )


def _margin(lanes: Sequence[Lane], side: Side) -> int:
    """The columns beside the boxes."""
    numbers = [lane.number for lane in lanes if lane.side == side]
    if not numbers:
        return 0
    return 2 * STUB + label_width(lanes, side) + max(numbers) * LANE + 1


def _stacked(
    boxes: Sequence[Box], sideways: dict[tuple[int, Side], list[Arrow]]
) -> tuple[tuple[Placed, ...], dict[Arrow, int]]:
    """The boxes below one another, and the line at which each arrow leaves its box.

    Arrows leave below the line at which others arrive.
    """
    placed: list[Placed] = []
    lines: dict[Arrow, int] = {}
    top = 0
    for box in boxes:
        leaving: dict[Side, int] = {"left": 0, "right": 0}
        for (_, side), arrows in sideways.items():
            for arrow in arrows:
                if arrow.source == box.name:
                    leaving[side] += 1
                    lines[arrow] = top + 1 + leaving[side]
        height = 2 + max(len(box.lines), *(1 + count for count in leaving.values() if count), 1)
        placed.append(Placed(box, top, height))
        top += height + GAP - 1
    return tuple(placed), lines


def _numbered(lanes: Sequence[Lane]) -> tuple[Lane, ...]:
    """The lanes with their numbers: short ones inside, none on another or end to end with it."""
    taken: dict[tuple[Side, int], list[tuple[int, int]]] = {}
    numbered: list[Lane] = []
    for lane in sorted(lanes, key=lambda lane: lane.lines[1] - lane.lines[0]):
        first, last = lane.lines
        number = 0
        while any(a - 1 <= last and first <= b + 1 for a, b in taken.get((lane.side, number), ())):
            number += 1
        taken.setdefault((lane.side, number), []).append((first, last))
        numbered.append(Lane(lane.side, number, lane.exits, lane.entry))
    return tuple(numbered)
