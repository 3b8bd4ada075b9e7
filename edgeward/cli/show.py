"""`edgeward show`: a run as one HTML page, from its receipts or its thread."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import options
from .failures import reported
from .outfile import Force, write
from .printable import counted
from .progress import busy

if TYPE_CHECKING:
    from .pictures.story import Story

EXAMPLE = (
    "Example:  edgeward show receipts.jsonl --output run.html\n\n"
    "A thread of `edgeward run` or `chat`:  edgeward show calm-otter-3f9a1c"
)
STEPS = 1_000


def show(
    source: Annotated[
        str,
        typer.Argument(
            metavar="LOG|THREAD",
            help="A receipt log (JSON lines or SQLite), or the id of a thread.",
        ),
    ],
    thread: Annotated[
        str | None, typer.Option("--thread", "-t", help="Of a log: only this thread.")
    ] = None,
    checkpointer: options.Checkpointer = options.DEFAULT_CHECKPOINTER,
    key: Annotated[
        Path | None,
        typer.Option(help="The key that checks a log. Default: LOG.key.pub, or LOG.key."),
    ] = None,
    limit: Annotated[
        int, typer.Option(min=1, help="Steps at most, the newest.", show_default=True)
    ] = STEPS,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The file. Default: named after what is shown."),
    ] = None,
    force: Force = False,
    debug: options.Debug = False,
) -> None:
    """Write a run as one HTML page: each call, its verdict, the rule, who approved.

    It says where arguments came from, and what was masked. It has no script and
    asks nothing of any server. What tools returned is in it: mind who gets it.
    """
    with reported(debug=debug):
        from .pictures.page import page_of

        path = Path(source)
        is_file = path.is_file()
        with busy("reading"):
            if is_file:
                story = _of_file(path, thread, key, limit)
            elif path.is_dir():
                raise ValueError(f"{source}: is a folder; allowed: a log, or the id of a thread")
            else:
                story = _of_thread(checkpointer, source, limit)
            page = page_of(story)
        file = output or _file_named(*([path.stem, thread or ""] if is_file else [source]))
        write(page.encode(), file, force=force, mode=0o600)
        if story.seal is not None and story.seal.holds is False:
            typer.echo(f"{source}: {story.seal.text}", err=True)
        typer.echo(f"{file}: {_counted(len(story.steps), story.told)}")


def _of_file(path: Path, thread: str | None, key: Path | None, limit: int) -> Story:
    from ..guards.receipts.keys import key_beside
    from .pictures.of_log import story_of_log

    if not _holds_threads(path):
        return story_of_log(path, thread=thread, key=key or key_beside(path), limit=limit)
    if thread is None:
        raise ValueError(f"{path} holds threads; name one with --thread{_newest(path)}")
    return _of_thread(str(path), thread, limit)


def _holds_threads(path: Path) -> bool:
    """Whether a file is a database of checkpoints."""
    from ..guards.receipts.stores import is_database

    if not is_database(path):
        return False
    from ..graphs.recordings import LANGGRAPH, tables_in

    return LANGGRAPH in tables_in(path)


def _of_thread(checkpointer: str, thread: str, limit: int) -> Story:
    from ..graphs.checkpoints import home, open_checkpointer
    from .pictures.of_thread import story_of_thread

    if checkpointer == "memory":
        raise ValueError("threads in memory are gone with their process; name a --checkpointer")
    where: str | Path = home() / "threads.sqlite" if checkpointer == "sqlite" else checkpointer
    if "://" not in str(where):
        where = Path(where)
        if not where.is_file():  # to open it would make it
            raise ValueError(f"there is no file {thread!r}, and no thread: {where} does not exist")
        if not _holds_threads(where):
            raise ValueError(f"{where}: holds no threads")
    saver = open_checkpointer(where)
    assert saver is not None
    try:
        return story_of_thread(saver, thread, limit=limit)
    except ValueError as error:
        place = where if isinstance(where, Path) else "that database"
        newest = _newest(where) if isinstance(where, Path) else ""
        raise ValueError(f"{error} in {place}, nor a file of that name{newest}") from None
    finally:
        close = getattr(saver, "close", None)
        if close is not None:
            close()


def _newest(database: Path) -> str:
    """The threads that somebody may mean, as they may be shown."""
    from ..graphs.recordings import newest_threads
    from ..guards.redact import Redactor

    found = Redactor().secrets(", ".join(newest_threads(database)))[0]
    return f"; the newest: {found}" if found else ""


def _counted(shown: int, told: int) -> str:
    steps = counted(told, "step")
    return steps if shown == told else f"the newest {shown:,} of {steps}"


def _file_named(*names: str) -> Path:
    """A file in this folder, of plain letters, after names that anybody may have chosen."""
    plain = re.sub(r"[^\w.-]+", "_", "-".join(filter(None, names)), flags=re.ASCII).lstrip(".")
    return Path(f"{plain[:80] or 'run'}.html")
