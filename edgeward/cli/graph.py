"""`edgeward graph`: a strategy as a picture, in several formats."""

from __future__ import annotations

import json
import sys
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import options, shipped
from .failures import reported
from .outfile import Force, write

if TYPE_CHECKING:
    from ..graphs.schema import Strategy


class Format(str, Enum):
    """What a picture can be."""

    mermaid = "mermaid"
    ascii = "ascii"
    svg = "svg"
    png = "png"
    json = "json"


SUFFIXES = {
    ".mmd": Format.mermaid,
    ".txt": Format.ascii,
    ".svg": Format.svg,
    ".png": Format.png,
    ".json": Format.json,
}
EXAMPLE = "Example:  edgeward graph react --output react.svg"


def graph(
    strategy: Annotated[
        str,
        typer.Argument(
            help="A shipped strategy (react, reflexion ...), or the path of a strategy file.",
            autocompletion=shipped.strategies,
        ),
    ],
    form: Annotated[
        Format | None,
        typer.Option(
            "--format",
            "-f",
            help="Default: what the suffix of --output says, or else mermaid. A png needs the "
            "extra `pictures`.",
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file. Default: standard output.")
    ] = None,
    force: Force = False,
    debug: options.Debug = False,
) -> None:
    """Draw a strategy: its nodes by kind, guards and tools marked, each edge with its outcomes."""
    with reported(debug=debug):
        from ..graphs.schema import load_strategy

        chosen = form or _format_of(output)
        if chosen is Format.png and output is None and sys.stdout.isatty():
            raise ValueError("a png is no text for a terminal; name a file with --output")
        write(_drawn(load_strategy(strategy), chosen), output, force=force)


def _format_of(output: Path | None) -> Format:
    if output is None:
        return Format.mermaid
    if output.suffix not in SUFFIXES:
        raise ValueError(
            f"{output}: no format has the suffix {output.suffix!r}; name it with --format: "
            f"{', '.join(Format)}"
        )
    return SUFFIXES[output.suffix]


def _drawn(strategy: Strategy, form: Format) -> bytes:
    from .pictures.drawing import as_data, drawing

    match form:
        case Format.json:
            text = json.dumps(as_data(strategy), indent=2)
        case Format.mermaid:
            from .pictures.mermaid import as_mermaid

            text = as_mermaid(drawing(strategy))
        case Format.ascii:
            from .pictures.ascii import as_ascii

            text = as_ascii(drawing(strategy))
        case Format.svg | Format.png:
            from .pictures.png import as_png
            from .pictures.svg import as_svg

            text = as_svg(drawing(strategy))
            if form is Format.png:
                return as_png(text)
    return f"{text.rstrip()}\n".encode()
