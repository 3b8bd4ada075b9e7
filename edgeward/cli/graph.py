"""`edgeward graph`: a strategy as a Mermaid diagram."""

from __future__ import annotations

from typing import Annotated

import typer

from . import options
from .failures import reported

EXAMPLE = "Example:  edgeward graph react > react.mmd"


def graph(
    strategy: Annotated[
        str,
        typer.Argument(
            help="A shipped strategy (react, reflexion ...), or the path of a strategy file."
        ),
    ],
    debug: options.Debug = False,
) -> None:
    """Print a strategy as Mermaid: what LangGraph made of it, every edge with its outcome."""
    with reported(debug=debug):
        from ..graphs.build import build_graph
        from ..profiles.scripted import ScriptedModel

        drawn = build_graph(strategy, model=ScriptedModel()).get_graph()
        typer.echo(drawn.draw_mermaid().rstrip())
