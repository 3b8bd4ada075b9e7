"""Where the lines of a receipt log are kept. Several threads and processes may write to one.

A store gives the end of the log to the function that makes the next lines, and keeps what it makes,
while nobody else can write.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from .chain import Tail, tail_after

HEAD_SUFFIX = ".head"
_HEAD_BYTES = 192
"""A head is written over the one before it, at one stroke."""
_BLOCK = 65_536
BUSY_S = 30.0

Lines = tuple[list[bytes], bytes, Tail]
"""New lines without their ends, the head that goes with them, and where the log ends then."""

Make = Callable[[Tail], Lines]


class Store(Protocol):
    """What a log writes to."""

    def extend(self, make: Make) -> None:
        """Keep what `make` makes of the log's end.

        Raises:
            OSError, sqlite3.Error, …: it cannot be kept; then nothing of it counts as written.
        """

    def close(self) -> None:
        """Close what is open; what is written afterwards opens it again."""


class JsonLines:
    """A file of JSON lines, and beside it one with the head."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._file: int | None = None
        self._head: int | None = None
        self._size = -1
        self._tail = Tail()

    def extend(self, make: Make) -> None:
        """See `Store`."""
        with self._lock, self._alone() as file:
            size = os.fstat(file).st_size
            if size != self._size:  # the first time, or another process wrote
                size = self._read_end(file, size)
            lines, head, tail = make(self._tail)
            data = b"".join([line + b"\n" for line in lines])
            self._size = -1
            _write(file, data, size)
            assert self._head is not None
            _write(self._head, head.ljust(_HEAD_BYTES), 0)
            self._size, self._tail = size + len(data), tail

    def close(self) -> None:
        """See `Store`."""
        with self._lock:
            for file in (self._file, self._head):
                if file is not None:
                    os.close(file)
            self._file = self._head = None

    @contextmanager
    def _alone(self) -> Iterator[int]:
        if self._file is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
            self._file = os.open(self.path, flags, 0o600)
            self._head = os.open(head_path(self.path), flags, 0o600)
            self._size = -1
        with _locked(self._file):
            yield self._file

    def _read_end(self, file: int, size: int) -> int:
        """The log's end, and its size without a line that a stopped writer left unfinished."""
        tail, at = b"", size
        while at and tail.count(b"\n") < 2:
            start = max(at - _BLOCK, 0)
            tail = _read(file, start, at - start) + tail
            at = start
        whole = tail.rpartition(b"\n")[0]
        self._tail = tail_after(whole.rpartition(b"\n")[2]) if whole else Tail()
        kept = size - len(tail) + (len(whole) + 1 if whole else 0)
        if kept < size:
            os.ftruncate(file, kept)
        return kept


class Sqlite:
    """A table of lines, and one with the head."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def extend(self, make: Make) -> None:
        """See `Store`."""
        with self._lock:
            connection = self._opened()
            connection.execute("BEGIN IMMEDIATE")
            try:
                last = connection.execute(
                    "SELECT line FROM receipts ORDER BY n DESC LIMIT 1"
                ).fetchone()
                tail = tail_after(last[0]) if last else Tail()
                lines, head, _ = make(tail)
                rows = list(enumerate(lines, start=tail.lines))
                connection.executemany("INSERT INTO receipts (n, line) VALUES (?, ?)", rows)
                connection.execute("INSERT OR REPLACE INTO head (id, head) VALUES (0, ?)", (head,))
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    def close(self) -> None:
        """See `Store`."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            opened = sqlite3.connect(
                self.path, timeout=BUSY_S, isolation_level=None, check_same_thread=False
            )
            opened.execute("PRAGMA journal_mode=WAL")
            for table in ("receipts (n INTEGER PRIMARY KEY, line BLOB)", _HEAD_TABLE):
                opened.execute(f"CREATE TABLE IF NOT EXISTS {table}")
            self._connection = opened
        return self._connection


_HEAD_TABLE = "head (id INTEGER PRIMARY KEY, head BLOB)"


class Writer(Protocol):
    """Anything that takes lines: a queue, a socket, a bucket."""

    def write(self, text: str, /) -> object:
        """Keep one line of the log, which ends with a line end."""


class Passing:
    """Hands the lines of a log of its own to something with one method, `write`."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._lock = threading.Lock()
        self._tail = Tail()

    def extend(self, make: Make) -> None:
        """See `Store`."""
        with self._lock:
            lines, _, tail = make(self._tail)
            for line in lines:
                self._writer.write(line.decode() + "\n")
            self._tail = tail

    def close(self) -> None:
        """The writer is its owner's to close."""


def read_log(path: Path) -> tuple[Iterator[bytes], bytes]:
    """The lines of a log with their ends, and its head; `b""` where there is none.

    Raises:
        OSError, sqlite3.Error: it cannot be read.
    """
    with path.open("rb") as file:
        database = file.read(16) == b"SQLite format 3\0"
    if database:
        return _rows(path)
    head = head_path(path)
    return _lines(path), head.read_bytes() if head.exists() else b""


def head_path(path: Path) -> Path:
    """Where the head of a log of JSON lines is kept."""
    return path.with_name(path.name + HEAD_SUFFIX)


def _lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        yield from file


def _rows(path: Path) -> tuple[Iterator[bytes], bytes]:
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=BUSY_S)
    head = connection.execute("SELECT head FROM head").fetchone()

    def rows() -> Iterator[bytes]:
        try:
            for (line,) in connection.execute("SELECT line FROM receipts ORDER BY n"):
                yield bytes(line) + b"\n"
        finally:
            connection.close()

    return rows(), bytes(head[0]) if head else b""


def _write(file: int, data: bytes, at: int) -> None:
    """All of the data; what a full disk cut off is taken away again.

    Raises:
        OSError: not all of it could be written.
    """
    done = os.pwrite(file, data, at)
    if done < len(data):
        os.ftruncate(file, at)
        raise OSError("the disk is full")


def _read(file: int, at: int, size: int) -> bytes:
    return os.pread(file, size, at)


@contextmanager
def _locked(file: int) -> Iterator[None]:
    """No other process writes meanwhile."""
    import fcntl

    fcntl.flock(file, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)
