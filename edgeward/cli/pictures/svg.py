"""A strategy as SVG: one file, no script, nothing fetched, both colour schemes."""

from __future__ import annotations

import textwrap
from html import escape

from ...graphs.schema import END
from .drawing import START, Drawing
from .layout import STUB, Down, Lane, Layout, Placed, columns, layout

COLUMN, LINE = 8.5, 20.0
"""Pixels of a character's place: a little more than the widest of the fonts below."""
FONT_SIZE = 13
MARGIN = 24.0
ROUND = 8.0
FONTS = "DejaVu Sans Mono, Liberation Mono, Menlo, Consolas, monospace"

LIGHT = {
    "paper": "#ffffff",
    "ink": "#1f2430",
    "soft": "#5a6172",
    "line": "#6b7385",
    "box": "#f5f6f9",
    "edge": "#8d94a5",
    "guard": "#fff1d0",
    "guard-edge": "#a85b00",
    "tool": "#dff0ff",
    "tool-edge": "#0b63a8",
    "end": "#ffffff",
}
DARK = {
    "paper": "#14171d",
    "ink": "#eceef3",
    "soft": "#a9b0c0",
    "line": "#9aa2b4",
    "box": "#22262f",
    "edge": "#70788a",
    "guard": "#3d2c07",
    "guard-edge": "#f0a53a",
    "tool": "#0f2c44",
    "tool-edge": "#5fb2f2",
    "end": "#14171d",
}


def as_svg(drawing: Drawing) -> str:
    """The picture. Names and texts of the strategy are escaped."""
    placed = layout(drawing)
    head = [drawing.title, *textwrap.wrap(drawing.description, max(placed.width, 48))]
    width = 2 * MARGIN + COLUMN * max(placed.width, *map(columns, head))
    top = MARGIN + LINE * (len(head) + 1)
    height = top + LINE * placed.height + MARGIN
    shift = (width - COLUMN * placed.width) / 2
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" role="img" aria-labelledby="title desc">',
        f'<title id="title">{escape(drawing.title)}</title>',
        f'<desc id="desc">{escape(drawing.description)}</desc>',
        f"<style>{_style()}</style>",
        '<rect class="paper" width="100%" height="100%"/>',
        *(
            f'<text class="{"title" if n == 0 else "soft"}" x="{MARGIN:g}" '
            f'y="{MARGIN + LINE * (n + 0.6):g}">{escape(text)}</text>'
            for n, text in enumerate(head)
        ),
        f'<g transform="translate({shift:g} {top:g})">',
        *(_down(placed, down) for down in placed.downs),
        # Outer lanes last: their ways to the boxes pass in front of the inner ones.
        *(_lane(placed, lane) for lane in sorted(placed.lanes, key=lambda lane: lane.number)),
        *(_box(placed, box) for box in placed.boxes),
        "</g></svg>",
    ]
    return "\n".join(parts) + "\n"


def _style() -> str:
    dark = _colours(DARK)
    return f"""
text {{ font: {FONT_SIZE}px {FONTS}; dominant-baseline: central; }}
.title {{ font-size: 17px; font-weight: bold; }}
.name {{ font-weight: bold; }}
.lane {{ fill: none; stroke-width: 1.5; }}
.halo {{ fill: none; stroke-width: 7; }}
.box {{ stroke-width: 1.2; }}
.guard {{ stroke-width: 3; }}
.tool {{ stroke-width: 2; }}
{_colours(LIGHT)}
@media (prefers-color-scheme: dark) {{
{dark}
}}
"""


def _colours(of: dict[str, str]) -> str:
    return f"""\
.paper {{ fill: {of["paper"]}; }}
.halo {{ stroke: {of["paper"]}; }}
text {{ fill: {of["ink"]}; }}
.soft {{ fill: {of["soft"]}; }}
.lane {{ stroke: {of["line"]}; }}
.head {{ fill: {of["line"]}; }}
.box {{ fill: {of["box"]}; stroke: {of["edge"]}; }}
.guard {{ fill: {of["guard"]}; stroke: {of["guard-edge"]}; }}
.tool {{ fill: {of["tool"]}; stroke: {of["tool-edge"]}; }}
.end {{ fill: {of["end"]}; }}"""


def _x(column: float) -> float:
    return (column + 0.5) * COLUMN


def _y(line: float) -> float:
    return (line + 0.5) * LINE


def _down(placed: Layout, down: Down) -> str:
    x = (_x(placed.left) + _x(placed.right)) / 2
    top, bottom = _y(down.top - 1), _y(down.bottom + 1)
    label = _text(down.label, x + COLUMN, _y(down.top), "soft")
    return f'<path class="lane" d="M{x:g} {top:g}V{bottom - 8:g}"/>{_head(x, bottom, 0, 1)}{label}'


def _lane(placed: Layout, lane: Lane) -> str:
    """The ways of a lane, each from its box to the arrow's head, and the labels."""
    to_left = lane.side == "left"
    edge, out = (placed.left, -1) if to_left else (placed.right, 1)
    x, start, entry = _x(placed.column(lane)), _x(edge), _y(lane.entry)
    halo, paths, labels = [f"M{start:g} {entry:g}H{x - out * ROUND:g}"], [], []
    for leaving in lane.exits:
        y = _y(leaving.line)
        up = -1 if y > entry else 1
        across = f"M{start - out * 8:g} {y:g}H{x - out * ROUND:g}"
        way = f"{across}Q{x:g} {y:g} {x:g} {y + up * ROUND:g}V{entry - up * ROUND:g}"
        way += f"Q{x:g} {entry:g} {x - out * ROUND:g} {entry:g}H{start + out * 8:g}"
        halo.append(across)
        paths.append(f'<path class="lane" d="{way}"/>')
        at = start + out * (STUB - 1) * COLUMN
        labels.append(_text(leaving.label, at, y - 8, "soft", end=to_left))
    behind = f'<path class="halo" d="{"".join(halo)}"/>'
    return "".join([behind, *paths, _head(start, entry, -out, 0), *labels])


def _head(x: float, y: float, dx: int, dy: int) -> str:
    """An arrow's head with its tip at (x, y), that points along (dx, dy)."""
    back_x, back_y = x - 9 * dx, y - 9 * dy
    one = f"{back_x + 5 * dy:g} {back_y + 5 * dx:g}"
    other = f"{back_x - 5 * dy:g} {back_y - 5 * dx:g}"
    return f'<path class="head" d="M{x:g} {y:g}L{one}L{other}Z"/>'


def _box(placed: Layout, box: Placed) -> str:
    """The box in the shape of its kind: a guard's is a hexagon, a tool's has double sides."""
    left, right = _x(placed.left), _x(placed.right)
    top, bottom = _y(box.top), _y(box.bottom)
    kind = box.box.kind
    size = f'width="{right - left:g}" height="{bottom - top:g}"'
    if kind == "guard":
        mid, cut = (top + bottom) / 2, 10
        shape = (
            f'<path class="box guard" d="M{left:g} {mid:g}L{left + cut:g} {top:g}H{right - cut:g}'
            f'L{right:g} {mid:g}L{right - cut:g} {bottom:g}H{left + cut:g}Z"/>'
        )
    elif kind == "tool":
        sides = f"M{left + 7:g} {top:g}V{bottom:g}M{right - 7:g} {top:g}V{bottom:g}"
        shape = f'<rect class="box tool" x="{left:g}" y="{top:g}" {size}/>'
        shape += f'<path class="box tool" d="{sides}"/>'
    else:
        ends = kind in (START, END)
        radius = (bottom - top) / 2 if ends else 6
        shape = f'<rect class="box{" end" if ends else ""}" x="{left:g}" y="{top:g}" {size} '
        shape += f'rx="{radius:g}"/>'
    middle, texts = (left + right) / 2, box.box.lines
    first = (top + bottom) / 2 - LINE * (len(texts) - 1) / 2
    written = [
        _text(text, middle, first + n * LINE, "name" if n == 0 else "soft", centred=True)
        for n, text in enumerate(texts)
    ]
    whole = f"<title>{escape(box.box.name)}: {escape(kind)}</title>"
    return f'<g data-kind="{escape(kind)}">{whole}{shape}{"".join(written)}</g>'


def _text(
    text: str, x: float, y: float, kind: str, *, end: bool = False, centred: bool = False
) -> str:
    anchor = ' text-anchor="end"' if end else ' text-anchor="middle"' if centred else ""
    return f'<text class="{kind}" x="{x:g}" y="{y:g}"{anchor}>{escape(text)}</text>' if text else ""
