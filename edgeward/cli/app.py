"""The commands, put together."""

from __future__ import annotations

from typing import Annotated

import typer

from . import (
    attack,
    audit,
    chat,
    check,
    demo,
    diff,
    graph,
    index,
    init,
    lint,
    replay,
    report,
    run,
    schema,
    show,
    test,
    tools,
)
from .usage import Edgeward

app = typer.Typer(
    name="edgeward",
    cls=Edgeward,
    help="AI agents in which no tool runs without a policy decision.",
    epilog="Start with:  edgeward demo",
    no_args_is_help=True,
    # Their tracebacks show local variables, and keys are among those.
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"edgeward {version('edgeward')}")
        raise typer.Exit


@app.callback()
def edgeward(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """AI agents in which no tool runs without a policy decision."""


app.command(epilog=demo.EXAMPLE)(demo.demo)
app.command(epilog=run.EXAMPLE)(run.run)
app.command(epilog=chat.EXAMPLE)(chat.chat)
app.command(epilog=graph.EXAMPLE)(graph.graph)
app.command(epilog=show.EXAMPLE)(show.show)
app.command(epilog=index.EXAMPLE)(index.index)
app.command(epilog=init.EXAMPLE)(init.init)
app.command(epilog=check.EXAMPLE)(check.check)
app.command("test", epilog=test.EXAMPLE)(test.run_cases)
app.command(epilog=diff.EXAMPLE)(diff.diff)
app.command(epilog=lint.EXAMPLE)(lint.lint)
app.command(epilog=replay.EXAMPLE)(replay.replay)
app.command(epilog=schema.EXAMPLE)(schema.schema)
app.command(epilog=report.EXAMPLE)(report.report)
app.add_typer(audit.app, name="audit", epilog=audit.EXAMPLE)
app.command(epilog=tools.EXAMPLE)(tools.tools)
app.command(epilog=attack.EXAMPLE)(attack.attack)
