"""Whatever a replay can read, told apart by what is in it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from ..guards.caller import NOBODY, Caller
from ..guards.receipts.keys import key_beside
from ..guards.receipts.stores import DATABASE
from ..guards.sqlite_file import NoDatabase, read_sqlite
from ..policies.replay.logs import fault_in, receipts_in
from ..policies.replay.messages import conversations_in
from ..policies.replay.recorded import Steps
from .checkpointed import threads_in

LANGGRAPH, RECEIPTS = "checkpoints", "receipts"
"""Tables by which a database is known."""


@dataclass(frozen=True, slots=True)
class Recording:
    """What was recorded. `threads` reads it from its beginning."""

    kind: str
    threads: Callable[[], Iterable[Steps]]
    calls: int | None = None
    """How many calls there are; None: not known before they are read."""
    note: str = ""
    """What the reader has to know of it."""


def open_recording(
    path: Path,
    *,
    key: Path | None = None,
    unverified: bool = False,
    caller: Caller = NOBODY,
) -> Recording:
    """The recording in a file: receipts, checkpoints of LangGraph, or exported conversations.

    `key` is that of a log of receipts; `caller` counts where the record does not say who asked.

    Raises:
        ValueError: it is none of these or cannot be read, or a log is not as it was written.
    """
    try:
        with path.open("rb") as file:
            start = file.read(4_096)
    except OSError as error:
        raise ValueError(f"{path}: cannot be read ({error.strerror})") from None
    if start.startswith(DATABASE):
        tables = tables_in(path)
        if RECEIPTS in tables:
            return _receipts(path, key, unverified=unverified)
        if LANGGRAPH in tables:
            return Recording("checkpoints", lambda: threads_in(path, caller))
        raise ValueError(f"{path}: a database without receipts and without checkpoints")
    if not start.strip():
        raise ValueError(f"{path}: is empty")
    if start.lstrip().startswith(b'{"body":'):
        return _receipts(path, key, unverified=unverified)
    return Recording("conversations", lambda: conversations_in(path, caller))


def _receipts(path: Path, key: Path | None, *, unverified: bool) -> Recording:
    found = key or key_beside(path)
    note = ""
    if found is None:
        note = "not checked: no key lies beside the log, and none was named (--key)"
    elif fault := fault_in(path, found):
        if not unverified:
            raise ValueError(
                f"{path}: {fault}; what was changed proves nothing; --unverified replays it anyway"
            )
        note = f"not as it was written: {fault}"
    lines = receipts_in(path)
    return Recording("receipts", lines.threads, len(lines), note)


def tables_in(path: Path) -> set[str]:
    """The names of a database's tables; it is only read.

    Raises:
        ValueError: it is none.
    """
    return set(_column(path, "SELECT name FROM sqlite_master WHERE type = 'table'"))


def newest_threads(path: Path) -> list[str]:
    """The ids of the threads that a database of checkpoints went on with last, five at most.

    Raises:
        ValueError: it is none.
    """
    return _column(path, _NEWEST)


_NEWEST = """
    SELECT thread_id FROM checkpoints WHERE checkpoint_ns = ''
    GROUP BY thread_id ORDER BY MAX(checkpoint_id) DESC LIMIT 5
"""


def _column(path: Path, query: str) -> list[str]:
    try:
        with closing(read_sqlite(path)) as connection:
            return [str(value) for (value,) in connection.execute(query)]
    except NoDatabase:
        raise
    except sqlite3.DatabaseError:
        raise ValueError(f"{path}: is no database that can be read") from None
