"""The index on disk: one SQLite file, changed one batch of documents at a time.

A process that dies leaves whole documents behind, old or new; the next one goes on from there.
One process at a time changes it (`only_one`); any number may read.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from .content import Resource

FILE = "index.sqlite3"
LOCK = "index.lock"
FORMAT = 2
WAIT_S = 60.0
"""For another process that is just writing a batch."""

_TABLES = """
CREATE TABLE document (
  path TEXT PRIMARY KEY, digest TEXT NOT NULL, space TEXT NOT NULL, refused TEXT NOT NULL
);
CREATE TABLE chunk (
  id INTEGER PRIMARY KEY, path TEXT NOT NULL, text TEXT NOT NULL, section TEXT NOT NULL,
  page INTEGER, resources TEXT NOT NULL, words BLOB NOT NULL, dims INTEGER NOT NULL,
  vectors BLOB NOT NULL
);
CREATE INDEX chunk_path ON chunk (path);
CREATE TABLE resource (
  id TEXT PRIMARY KEY, path TEXT NOT NULL, kind TEXT NOT NULL, media_type TEXT NOT NULL,
  caption TEXT NOT NULL, content BLOB NOT NULL
);
CREATE INDEX resource_path ON resource (path);
CREATE TABLE change (number INTEGER NOT NULL);
INSERT INTO change VALUES (0);
"""


@dataclass(frozen=True, slots=True)
class Document:
    """What is known of one file. `space` tells how it was read, divided and embedded; `refused`
    why it could not be."""

    digest: str
    space: str
    refused: str = ""


@dataclass(frozen=True, slots=True)
class Chunk:
    """One chunk of the index. `words`: counted, see `lexical.py`. `vectors`: one or more of `dims`
    numbers, float32, one behind the other."""

    path: str
    text: str
    section: str
    page: int | None
    resources: tuple[str, ...]
    words: bytes
    dims: int
    vectors: bytes


@dataclass(frozen=True, slots=True)
class Entry:
    """A document as it goes into the index."""

    path: str
    document: Document
    chunks: Sequence[Chunk] = ()
    resources: Sequence[tuple[str, Resource]] = ()


class Store:
    """One index. Every call opens the file for itself, so that any thread may make it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / FILE

    def is_read_only(self) -> bool:
        """Whether there is an index that this process may read and not write."""
        if not self._file.is_file():
            return False
        self._mend_lock()
        try:
            with closing(sqlite3.connect(self._folder / LOCK, timeout=0.0)) as lock:
                lock.execute("PRAGMA schema_version").fetchone()
        except sqlite3.DatabaseError as error:
            return "locked" not in str(error)
        return not (os.access(self._folder, os.W_OK) and os.access(self._file, os.W_OK))

    def _mend_lock(self) -> None:
        """Take away a lock file that is none: it holds nobody back, and would stop everybody."""
        lock = self._folder / LOCK
        try:
            where = f"{lock.absolute().as_uri()}?mode=ro"
            with closing(sqlite3.connect(where, timeout=0.0, uri=True)) as opened:
                opened.execute("PRAGMA schema_version").fetchone()
        except sqlite3.OperationalError:  # there is none, or somebody has it
            return
        except sqlite3.DatabaseError:
            with suppress(OSError):
                lock.unlink()

    @contextmanager
    def only_one(self, waiting: Callable[[], None]) -> Iterator[None]:
        """Hold the index for oneself, among all threads and processes.

        The system lets go of it when the process ends, however it ends. `waiting` is called now and
        then while another has it, and may raise.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        self._mend_lock()
        with closing(sqlite3.connect(self._folder / LOCK, timeout=0.5)) as lock:
            lock.isolation_level = None
            while True:
                try:
                    lock.execute("BEGIN EXCLUSIVE")
                    break
                except sqlite3.OperationalError as error:
                    if "locked" not in str(error):
                        raise
                waiting()
            yield

    def prepare(self) -> str:
        """Make the file where there is none. One that is damaged, or of another version, is put
        aside: everything in it can be made again. Returns what was done, for the report.

        To be called by whoever holds the index.
        """
        done = ""
        if self._file.exists():
            try:
                with self._open() as opened:
                    (version,) = opened.execute("PRAGMA user_version").fetchone()
                    sound = opened.execute("PRAGMA quick_check(1)").fetchone() == ("ok",)
                if version == FORMAT and sound:
                    return ""
                done = "was damaged" if version == FORMAT else "is of another version"
            except sqlite3.DatabaseError:
                done = "was damaged"
            os.replace(self._file, self._file.with_suffix(".broken"))
            for rest in ("-journal", "-wal", "-shm"):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(f"{self._file}{rest}")
            done = f"the index {done}: every document is read anew"
        # Whole or not at all: a reader that comes between finds no file without tables.
        new = self._file.with_suffix(".new")
        new.unlink(missing_ok=True)
        with closing(sqlite3.connect(new)) as opened:
            opened.executescript(f"{_TABLES}PRAGMA user_version = {FORMAT};")
        os.replace(new, self._file)
        return done

    def documents(self) -> dict[str, Document]:
        """Every known file."""
        with self._open() as opened:
            rows = opened.execute("SELECT path, digest, space, refused FROM document")
            return {path: Document(*rest) for path, *rest in rows}

    def put(self, entries: Sequence[Entry], *, gone: Sequence[str] = ()) -> None:
        """Replace these documents and forget the ones that are gone, all or nothing."""
        with self._open() as opened, opened:
            opened.execute("BEGIN IMMEDIATE")
            for path in [*gone, *(entry.path for entry in entries)]:
                for name in ("document", "chunk", "resource"):
                    opened.execute(f"DELETE FROM {name} WHERE path = ?", (path,))  # noqa: S608
            for entry in entries:
                about = entry.document
                opened.execute(
                    "INSERT INTO document VALUES (?, ?, ?, ?)",
                    (entry.path, about.digest, about.space, about.refused),
                )
                opened.executemany(
                    "INSERT INTO chunk (path, text, section, page, resources, words, dims, vectors)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    [_row(chunk) for chunk in entry.chunks],
                )
                opened.executemany(
                    "INSERT OR REPLACE INTO resource VALUES (?, ?, ?, ?, ?, ?)",
                    [
                        (key, entry.path, r.kind, r.media_type, r.caption, r.content)
                        for key, r in entry.resources
                    ],
                )
            opened.execute("UPDATE change SET number = number + 1")

    def change(self) -> int:
        """Counts the changes: equal means that nothing has changed."""
        with self._open() as opened:
            (number,) = opened.execute("SELECT number FROM change").fetchone()
        return int(number)

    def load(self, space: str) -> tuple[int, list[Chunk]]:
        """The number of the last change, and the chunks of the documents in this space."""
        with self._open() as opened:
            opened.execute("BEGIN")
            (number,) = opened.execute("SELECT number FROM change").fetchone()
            rows = opened.execute(
                "SELECT path, text, section, page, resources, words, dims, vectors FROM chunk"
                " JOIN document USING (path) WHERE space = ? ORDER BY path, id",
                (space,),
            )
            chunks = [
                Chunk(path, text, section, page, tuple(json.loads(resources)), *rest)
                for path, text, section, page, resources, *rest in rows
            ]
        return int(number), chunks

    def dims(self, space: str) -> int:
        """The size of the vectors in this space; 0: there are none."""
        with self._open() as opened:
            row = opened.execute(
                "SELECT dims FROM chunk JOIN document USING (path) WHERE space = ? LIMIT 1",
                (space,),
            ).fetchone()
        return row[0] if row else 0

    def resource(self, key: str) -> tuple[str, Resource] | None:
        """The resource with this id, and the path of the document that it is in."""
        with self._open() as opened:
            row = opened.execute(
                "SELECT path, kind, content, media_type, caption FROM resource WHERE id = ?", (key,)
            ).fetchone()
        return None if row is None else (row[0], Resource(*row[1:]))

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        # rw: a file that is not there is not made, as it would have no tables.
        uri = f"{self._file.absolute().as_uri()}?mode=rw"
        with closing(sqlite3.connect(uri, uri=True, timeout=WAIT_S)) as opened:
            opened.isolation_level = None
            yield opened


def _row(chunk: Chunk) -> tuple[object, ...]:
    resources = json.dumps(chunk.resources)
    about = (chunk.path, chunk.text, chunk.section, chunk.page)
    return (*about, resources, chunk.words, chunk.dims, chunk.vectors)
