"""Where the lines of a receipt log are kept. Several threads and processes may write to one.

A store makes the next lines and keeps them while nobody else can write. One that was cut short is
not gone on with: the new head would hide it.
"""

from __future__ import annotations

import errno
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from .chain import Line, LogChanged, Tail, first_head, go_on_from, lines_of, parsed
from .forks import OpenFiles
from .keys import Signer

if sys.platform != "win32":
    from fcntl import LOCK_EX, LOCK_UN, flock
if TYPE_CHECKING:
    import sqlite3

HEAD_SUFFIX = ".head"
_HEAD_BYTES = 256
"""A head is written over the one before it, at one stroke."""
_BLOCK = 65_536
_GONE = "the log is not where it was any more: start anew what writes to it"
DATABASE = b"SQLite format 3\0"


class Store(Protocol):
    """What a log writes to."""

    def extend(self, receipts: Sequence[bytes], signer: Signer) -> None:
        """Keep receipts, each a JSON object, as the next lines of the log.

        Raises:
            LogChanged: the log is not as its head says, or was removed while it was open.
            OSError, sqlite3.Error, …: they cannot be kept; then none of them is in the log.
        """

    def close(self) -> None:
        """Close what is open; what is written afterwards opens it again."""


class JsonLines(OpenFiles):
    """A file of JSON lines, and beside it one with the head."""

    def __init__(self, path: Path) -> None:
        if os.name != "posix":
            raise ValueError(f"{path}: a log of JSON lines needs a POSIX system; name it .sqlite")
        super().__init__()
        self.path = path.absolute()  # a daemon opens it again after it has left its folder
        self._files: tuple[int, ...] = ()
        self._opened_by = 0
        self._size = -1
        self._tail: tuple[int, str] = Tail()

    def extend(self, receipts: Sequence[bytes], signer: Signer) -> None:
        """See `Store`."""
        with self._lock:
            if self._opened_by != os.getpid():  # a fork shares its parent's files, and their lock
                self._open()
            file, head = self._files
            flock(file, LOCK_EX)  # no other process writes meanwhile
            try:
                found = os.fstat(file)
                if not found.st_nlink:  # nobody would ever read it
                    raise LogChanged(_GONE)
                size = found.st_size
                if size != self._size:  # the first time, or another process wrote
                    size = self._gone_on(file, head, size, signer)
                lines, tail, end = lines_of(receipts, self._tail, signer)
                data = b"".join(lines)
                self._size = -1
                try:
                    whole = os.pwrite(file, data, size) == len(data)
                    if not whole or os.pwrite(head, end.ljust(_HEAD_BYTES), 0) < _HEAD_BYTES:
                        raise OSError(errno.ENOSPC, "the disk is full")
                except OSError:
                    os.ftruncate(file, size)
                    raise
                self._size, self._tail = size + len(data), tail
            finally:
                flock(file, LOCK_UN)

    def _gone_on(self, file: int, head: int, size: int, signer: Signer) -> int:
        """Where the next line goes, once it is sure that the log may be gone on with."""
        last, size = self._read_end(file, size)
        self._tail = go_on_from(last, os.pread(head, _HEAD_BYTES, 0), signer)
        if not size:  # so that a log without a head is one whose head was taken away
            os.pwrite(head, first_head(signer).ljust(_HEAD_BYTES), 0)
        return size

    def _close(self) -> None:
        files, self._files, self._opened_by = self._files, (), 0
        for file in files:
            os.close(file)

    def _open(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        log = os.open(self.path, flags, 0o600)
        self._files = (log, os.open(head_path(self.path), flags, 0o600))
        self._opened_by, self._size = os.getpid(), -1

    def _read_end(self, file: int, size: int) -> tuple[Line | None, int]:
        """The last line, and the size without one that a stopped writer left unfinished."""
        tail, at = b"", size
        while at and tail.count(b"\n") < 2:
            start = max(at - _BLOCK, 0)
            tail = os.pread(file, at - start, start) + tail
            at = start
        whole = tail.rpartition(b"\n")[0]
        last = parsed(whole.rpartition(b"\n")[2]) if whole else None
        kept = size - len(tail) + (len(whole) + 1 if whole else 0)
        if kept < size:
            os.ftruncate(file, kept)
        return last, kept


class Sqlite(OpenFiles):
    """A table of lines, and one with the head."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path.absolute()  # a daemon opens it again after it has left its folder
        self._connection: sqlite3.Connection | None = None
        self._opened_by = 0
        self._file: os.stat_result | None = None

    def extend(self, receipts: Sequence[bytes], signer: Signer) -> None:
        """See `Store`."""
        with self._lock:
            connection = self._opened()
            if not self._in_place():  # what is written ahead of it has kept its name
                raise LogChanged(_GONE)
            connection.execute("BEGIN IMMEDIATE")
            try:
                last = connection.execute(f"{_LINES} DESC LIMIT 1").fetchone()
                end = parsed(last[0]) if last else None
                tail = go_on_from(end, _head_of(connection), signer)
                lines, _, head = lines_of(receipts, tail, signer)
                rows = [(n, line[:-1]) for n, line in enumerate(lines, start=tail.lines)]
                connection.executemany("INSERT INTO receipts (n, line) VALUES (?, ?)", rows)
                connection.execute("INSERT OR REPLACE INTO head (id, head) VALUES (0, ?)", (head,))
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    def _close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _opened(self) -> sqlite3.Connection:
        from ..sqlite_file import open_sqlite

        # SQLite's connections do not survive a fork.
        if self._connection is None or self._opened_by != os.getpid():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(self.path, os.O_WRONLY | os.O_CREAT, 0o600))
            opened = open_sqlite(self.path, isolation_level=None)
            for table in (
                "receipts (n INTEGER PRIMARY KEY, line BLOB)",
                "head (id INTEGER PRIMARY KEY, head BLOB)",
            ):
                opened.execute(f"CREATE TABLE IF NOT EXISTS {table}")
            self._connection, self._opened_by = opened, os.getpid()
            self._file = self.path.stat()
        return self._connection

    def _in_place(self) -> bool:
        try:
            return self._file is not None and os.path.samestat(os.stat(self.path), self._file)
        except FileNotFoundError:
            return False


# As bytes, whatever stands in a line's place.
_LINES = "SELECT COALESCE(CAST(line AS BLOB), x'') FROM receipts ORDER BY n"


def _head_of(connection: sqlite3.Connection) -> bytes:
    found = connection.execute("SELECT CAST(head AS BLOB) FROM head").fetchone()
    kept: bytes = (found[0] or b"") if found else b""
    return kept


class Writer(Protocol):
    """Anything that takes lines: a queue, a socket, a bucket."""

    def write(self, text: str, /) -> object:
        """Keep one line of the log, which ends with a line end."""


class Passing:
    """Hands the lines of a log of its own to something with one method, `write`."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._lock = threading.Lock()
        self._tail: tuple[int, str] = Tail()

    def extend(self, receipts: Sequence[bytes], signer: Signer) -> None:
        """See `Store`."""
        with self._lock:
            lines, tail, _ = lines_of(receipts, self._tail, signer)
            for line in lines:
                self._writer.write(line.decode())
            self._tail = tail

    def close(self) -> None:
        """The writer is its owner's to close."""


def read_log(path: Path) -> tuple[Iterator[bytes], bytes]:
    """The lines of a log with their ends, and its head; `b""` where there is none.

    Raises:
        ValueError: it is a database of something else. OSError, sqlite3.Error: it cannot be read.
    """
    if is_database(path):
        return _rows(path)
    head = head_path(path)
    return _lines(path), head.read_bytes() if head.exists() else b""


def is_database(path: Path) -> bool:
    """Whether a file begins as a database of SQLite does, whatever its name is.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        return file.read(len(DATABASE)) == DATABASE


def head_path(path: Path) -> Path:
    """Where the head of a log of JSON lines is kept."""
    return path.with_name(path.name + HEAD_SUFFIX)


def _lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        yield from file


def _rows(path: Path) -> tuple[Iterator[bytes], bytes]:
    from ..sqlite_file import read_sqlite

    connection = read_sqlite(path)
    tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    if not {("receipts",), ("head",)} <= set(tables):
        connection.close()
        raise ValueError(f"{path}: is a database without receipts")
    head = _head_of(connection)

    def rows() -> Iterator[bytes]:
        try:
            for (line,) in connection.execute(_LINES):
                yield line + b"\n"
        finally:
            connection.close()

    return rows(), head
