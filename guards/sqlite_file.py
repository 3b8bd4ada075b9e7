"""A SQLite file that several processes open, and write to, at once."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from typing import Literal

BUSY_S = 30.0
"""Seconds a writer waits for another process that writes to the same file."""
_AGAIN_S = 0.01


class NoDatabase(ValueError, sqlite3.DatabaseError):
    """A file that stands where a database should. The text names it and says what to do."""


class _Closing(sqlite3.Connection):
    """One that goes with what holds it, a graph say, which nobody has to close: without the warning
    that Python 3.13 has for that."""

    def __del__(self) -> None:
        self.close()


def open_sqlite(
    path: str | Path, *, isolation_level: Literal["DEFERRED"] | None
) -> sqlite3.Connection:
    """A connection for any thread, with write-ahead logging: a killed process loses nothing.

    `isolation_level` as in `sqlite3.connect`: with `DEFERRED`, transactions begin by themselves.

    Raises:
        NoDatabase: the file is none of SQLite's, or it is damaged.
        sqlite3.Error: the file cannot be opened.
    """
    connection = sqlite3.connect(
        path,
        timeout=BUSY_S,
        isolation_level=isolation_level,
        check_same_thread=False,
        factory=_Closing,
    )
    try:
        _write_ahead(connection)
    except BaseException as error:
        connection.close()
        if isinstance(error, sqlite3.DatabaseError) and not isinstance(
            error, sqlite3.OperationalError
        ):
            raise NoDatabase(
                f"{path}: is no SQLite database, or a damaged one ({error}); restore it, or move it"
                " away to begin anew"
            ) from None
        raise
    return connection


def read_sqlite(path: Path, *, check_same_thread: bool = True) -> sqlite3.Connection:
    """A connection that writes nothing, also where nothing can be put beside the file: an archive
    that is mounted to be read, a folder of somebody else's.

    Raises:
        NoDatabase: what was written last is in a file beside it that cannot be read so.
        sqlite3.Error: the file cannot be opened.
    """
    real = path.resolve()

    def opened(how: str) -> sqlite3.Connection:
        uri = f"{real.as_uri()}?{how}"
        return sqlite3.connect(uri, timeout=BUSY_S, check_same_thread=check_same_thread, uri=True)

    connection = opened("mode=ro")
    try:
        connection.execute("SELECT 1 FROM sqlite_master").fetchone()
    except sqlite3.DatabaseError as error:
        if "unable to open" in str(error):  # it wants an index of what was written ahead
            connection.close()
            ahead = real.with_name(f"{real.name}-wal")
            if ahead.exists() and ahead.stat().st_size:
                raise NoDatabase(
                    f"{path}: its newest part is in {ahead.name}, which is not read where nothing"
                    " can be written; copy both into a folder of yours"
                ) from None
            return opened("immutable=1")
    return connection


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Have a file log ahead, also where another process is about to do the same.

    SQLite reads the file and then wants to write to it, and where a reader becomes a writer it says
    "locked" at once, whatever `timeout` is.
    """
    ends = time.monotonic() + BUSY_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > ends:
                raise
            time.sleep(_AGAIN_S)
        else:
            return
