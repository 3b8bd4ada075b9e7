"""`edgeward audit`: whether a log of receipts is as it was written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from . import options
from .failures import FAILED, reported
from .progress import progress

app = typer.Typer(
    help="Receipts: what was decided, and whether the log of it was tampered with.",
    no_args_is_help=True,
)

EXAMPLE = "Example:  edgeward audit verify receipts.jsonl --key receipts.jsonl.key.pub"


@app.command(epilog=EXAMPLE)
def verify(
    log: Annotated[Path, typer.Argument(help="The log: JSON lines, or SQLite.")],
    key: Annotated[
        Path | None,
        typer.Option(help="The public key, or the shared one. Default: LOG.key.pub, or LOG.key."),
    ] = None,
    head: Annotated[
        Path | None,
        typer.Option(help="The head, if a copy was kept elsewhere. Default: the one of the log."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    debug: options.Debug = False,
) -> None:
    """Check each record's number, signature and place; name the first that is not as written.

    Needs no network, and of an Ed25519 log the public key alone. Exit code: 0 all as it was
    written, 1 not, 2 where a file is missing.
    """
    with reported(debug=debug):
        from ..guards.receipts.chain import read_head
        from ..guards.receipts.chain import verify as check
        from ..guards.receipts.keys import verifier
        from ..guards.receipts.stores import read_log
        from .printable import counted

        lines, kept = read_log(log)
        signed_by = verifier(key or _key_of(log))
        known = head.read_bytes() if head else kept
        end = read_head(known, signed_by)
        with progress("records", end.lines if end else None) as step:
            found = check(_counted(lines, step), signed_by, head=known)
        if as_json:
            fields = {"records": found.records, "fault": found.fault, "note": found.note}
            typer.echo(json.dumps(fields))
        elif found.fault:
            typer.echo(f"{log}: record {found.records}: {found.fault}")
        else:
            typer.echo(f"{log}: {counted(found.records, 'record')}, all as they were written")
        if found.note and not as_json:
            typer.echo(f"{log}: {found.note}")
    raise typer.Exit(FAILED if found.fault else 0)


def _counted(lines: Iterator[bytes], step: Callable[[], None]) -> Iterator[bytes]:
    for line in lines:
        yield line
        step()


def _key_of(log: Path) -> Path:
    from ..guards.receipts.keys import key_beside

    found = key_beside(log)
    if found is None:
        raise ValueError(f"{log}: no key lies beside it; name one with --key")
    return found
