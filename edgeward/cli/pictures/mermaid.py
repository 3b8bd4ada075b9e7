"""A strategy as a Mermaid flowchart: guards are hexagons, tools have double sides."""

from __future__ import annotations

import re

from ...graphs.schema import END
from .drawing import START, Box, Drawing

SHAPES = {START: ("([", "])"), END: ("([", "])"), "guard": ("{{", "}}"), "tool": ("[[", "]]")}
CLASSES = {
    "guard": "fill:#fff1d0,stroke:#a85b00,stroke-width:3px,color:#1f2430",
    "tool": "fill:#dff0ff,stroke:#0b63a8,stroke-width:2px,color:#1f2430",
}
STOP = "stop"
"""The end's name: `end` is a word of Mermaid's."""
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_WORDS = frozenset(
    [
        *("call", "class", "click", "default", "direction", "flowchart", "graph", "href"),
        *("interpolate", "style", "subgraph"),
    ]
)
"""Names that Mermaid takes for its own."""
_LETTER = re.compile(r"[^\w .,:()+/-]")


def as_mermaid(drawing: Drawing) -> str:
    """The flowchart. Whatever stands in the strategy's names is text in it, and never markup."""
    names = {box.name: f"n{number}" for number, box in enumerate(drawing.boxes)}
    if all(map(_plain, names.keys() - {START, END})):
        names = {name: name for name in names} | {END: STOP}
    lines = [
        "flowchart TD",
        *(f"  {_box(names[box.name], box)}" for box in drawing.boxes),
        *(
            f"  {names[arrow.source]} -->{_label(arrow.label)} {names[arrow.target]}"
            for arrow in drawing.arrows
        ),
    ]
    kinds = {box.kind for box in drawing.boxes}
    lines += [f"  classDef {kind} {css}" for kind, css in CLASSES.items() if kind in kinds]
    return "\n".join(lines)


def _plain(name: str) -> bool:
    return bool(_NAME.fullmatch(name)) and name not in _WORDS and name != STOP


def _box(name: str, box: Box) -> str:
    left, right = SHAPES.get(box.kind, ("[", "]"))
    text = "<br/>".join(map(_escaped, box.lines))
    return f'{name}{left}"{text}"{right}' + (f":::{box.kind}" if box.kind in CLASSES else "")


def _label(text: str) -> str:
    return f'|"{_escaped(text)}"|' if text else ""


def _escaped(text: str) -> str:
    """The text with every sign that could mean something written as its number."""
    return _LETTER.sub(lambda found: f"#{ord(found[0])};", text)
