"""The folder of a memory: who holds it, what lies in it, and what is known of what was written.

    <storage_path>/stream.db    every record as it was added and deleted, in order (mem0's history)
                   vectors.db   the index (with a Qdrant server it lies there instead)
                   cache.db     the hash of every block, what it replaced, what nobody reflected on

One process holds a folder at a time; its agents share it. Nothing is made before it is written to.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ...extras import MissingExtra
from ...guards.sqlite_file import open_sqlite
from ..embedding import Embedder
from ..quiet import environment
from .records import Note, Scope
from .vectors import Vectors

if os.name == "nt":
    import msvcrt
else:
    import fcntl

KEPT_GENERATIONS = 10
"""How often a block can be rolled back."""
MAX_UNREFLECTED = 200
"""Records that wait for a reflection; older ones are passed over."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS blocks (
    scope TEXT NOT NULL, block TEXT NOT NULL, digest TEXT NOT NULL,
    ids TEXT NOT NULL, notes TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS blocks_by_name ON blocks (scope, block);
CREATE TABLE IF NOT EXISTS unreflected (scope TEXT NOT NULL, id TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS unreflected_by_scope ON unreflected (scope);
"""


class MemoryLocked(RuntimeError):
    """Another process holds the folder."""


class Storage:
    """One folder, held by this process."""

    def __init__(self, folder: Path, *, alone: bool = True) -> None:
        """Take the folder, which is made if need be; not `alone`, others may have it too.

        Raises:
            MemoryLocked: another process has it.
        """
        self.folder = folder
        self.lock = threading.RLock()
        """Held by whoever replaces one record by another."""
        self.users = 0
        self._mem0: Any = None
        self._vectors: Any = None
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._held = _taken(folder) if alone else None
        try:
            self.cache = Cache(folder / "cache.db")
        except BaseException:
            self._let_go()
            raise

    def open(self, embedder: Embedder) -> None:
        """Open the embedded index.

        Raises:
            StoreMismatch: another embedder wrote it.
        """
        with self.lock:
            if self._vectors is None:
                self._vectors = Vectors(
                    self.folder / "vectors.db", embedder=embedder.name, dims=embedder.dims
                )
            elif isinstance(self._vectors, Vectors):
                self._vectors.matches(embedder.name, embedder.dims)

    def mem0(self, embedder: Embedder, *, url: str = "", key: str = "") -> Any:
        """mem0 on this folder, or on the Qdrant server at `url` with its history here.

        Raises:
            MissingExtra: mem0 is not installed. ValueError: another embedder wrote the store.
        """
        with self.lock:
            if self._mem0 is None:
                made = _imported(self.folder)
                if url:
                    dims, name = embedder.dims, embedder.name
                    self._vectors = made.server(url, key, dims=dims, embedder=name)
                else:
                    self.open(embedder)
                self._mem0 = made.OfflineMemory(embedder, self._vectors, self.folder / "stream.db")
            return self._mem0

    def close(self) -> None:
        """Let go of the folder."""
        with self.lock:
            for part in (self._mem0, self._vectors, self.cache):
                close = getattr(part, "close", None) or getattr(
                    getattr(part, "client", None), "close", None
                )
                if close is not None:
                    close()
            self._let_go()

    def _let_go(self) -> None:
        held, self._held = self._held, None
        if held is not None:
            os.close(held)


class Cache:
    """What is known of a scope without reading its records."""

    def __init__(self, file: Path) -> None:
        self._lock = threading.Lock()
        self._base = open_sqlite(file, isolation_level=None)
        self._base.execute("PRAGMA synchronous=NORMAL")
        self._base.executescript(_SCHEMA)

    def current(self, scope: Scope, block: str) -> tuple[int, str, list[str]] | None:
        """The block as it stands: its row, its hash, the ids of its records."""
        with self._lock:
            row = self._base.execute(
                "SELECT rowid, digest, ids FROM blocks WHERE scope = ? AND block = ?"
                " ORDER BY rowid DESC LIMIT 1",
                (scope.key, block),
            ).fetchone()
        return None if row is None else (int(row[0]), str(row[1]), json.loads(row[2]))

    def newest(self, scope: Scope) -> str | None:
        """The block that was written last."""
        with self._lock:
            row = self._base.execute(
                "SELECT block FROM blocks WHERE scope = ? ORDER BY rowid DESC LIMIT 1", (scope.key,)
            ).fetchone()
        return None if row is None else str(row[0])

    def put(
        self, scope: Scope, block: str, digest: str, ids: Sequence[str], notes: Sequence[Note]
    ) -> None:
        """Note a new generation of a block; `notes` is what a roll-back writes again."""
        kept = json.dumps([asdict(note) for note in notes])
        with self._lock:
            self._base.execute(
                "INSERT INTO blocks VALUES (?, ?, ?, ?, ?)",
                (scope.key, block, digest, json.dumps(list(ids)), kept),
            )
            self._base.execute(
                "DELETE FROM blocks WHERE scope = ? AND block = ? AND rowid NOT IN (SELECT rowid"
                " FROM blocks WHERE scope = ? AND block = ? ORDER BY rowid DESC LIMIT ?)",
                (scope.key, block, scope.key, block, KEPT_GENERATIONS),
            )

    def former(self, scope: Scope, block: str) -> list[Note] | None:
        """The notes of the generation before the one that stands; None where there is none."""
        with self._lock:
            row = self._base.execute(
                "SELECT notes FROM blocks WHERE scope = ? AND block = ?"
                " ORDER BY rowid DESC LIMIT 1 OFFSET 1",
                (scope.key, block),
            ).fetchone()
        return None if row is None else [Note.restored(note) for note in json.loads(row[0])]

    def take_back(self, scope: Scope, block: str) -> None:
        """Drop the generation that stands and the one before it, which is written anew."""
        with self._lock:
            self._base.execute(
                "DELETE FROM blocks WHERE rowid IN (SELECT rowid FROM blocks"
                " WHERE scope = ? AND block = ? ORDER BY rowid DESC LIMIT 2)",
                (scope.key, block),
            )

    def awaits(self, scope: Scope, ids: Sequence[str]) -> int:
        """Note records that nobody reflected on yet; how many there are now."""
        with self._lock:
            self._base.executemany(
                "INSERT INTO unreflected VALUES (?, ?)", [(scope.key, one) for one in ids]
            )
        return self.unreflected(scope)

    def unreflected(self, scope: Scope) -> int:
        """How many records came since the last reflection."""
        with self._lock:
            query = "SELECT count(*) FROM unreflected WHERE scope = ?"
            return int(self._base.execute(query, (scope.key,)).fetchone()[0])

    def reflected(self, scope: Scope) -> list[str]:
        """Take all that wait: from now on they count as reflected on. The newest ids, in order."""
        with self._lock:
            query = "SELECT id FROM unreflected WHERE scope = ? ORDER BY rowid"
            rows = self._base.execute(query, (scope.key,)).fetchall()
            self._base.execute("DELETE FROM unreflected WHERE scope = ?", (scope.key,))
        return [str(row[0]) for row in rows][-MAX_UNREFLECTED:]

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._base.close()


_storages: dict[tuple[Path, bool], Storage] = {}
_guard = threading.Lock()


def acquire(folder: Path, *, alone: bool = True) -> Storage:
    """The storage of a folder, shared by all of this process; give it back with `release`.

    `alone`: no other process may have it; where a server holds the records, others may.

    Raises:
        MemoryLocked: another process has it.
    """
    place = folder.resolve()
    with _guard:
        key = (place, alone)
        found = _storages.get(key)
        if found is None:
            found = _storages[key] = Storage(place, alone=alone)
        found.users += 1
        return found


def release(storage: Storage) -> None:
    """Give a storage back; the last one to do so closes it."""
    with _guard:
        storage.users -= 1
        if storage.users <= 0:
            for key in [key for key, held in _storages.items() if held is storage]:
                del _storages[key]
            storage.close()


def _taken(folder: Path) -> int:
    """The folder's lock, which ends with the process at the latest."""
    file = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if os.name == "nt":
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(file)
        raise MemoryLocked(
            f"the memory in {folder} is in use by another process; end that one, give this one"
            " another memory.storage_path, switch its memory off (memory.is_retrieve: false), or"
            " let both use a Qdrant server (memory.qdrant_url)"
        ) from None
    return file


def _imported(folder: Path) -> Any:
    """The module that speaks with mem0, which writes nothing outside of this folder."""
    try:
        place = os.environ.get("MEM0_DIR") or str(folder)
        with environment(MEM0_TELEMETRY="False", MEM0_DIR=place):
            from . import mem0_records
    except ModuleNotFoundError as error:
        text = f"memory needs {error.name}"
        raise MissingExtra(f"{text}: pip install 'edgeward[memory]'") from error
    mem0_records.quiet()
    return mem0_records
