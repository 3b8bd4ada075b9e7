"""The embedded index: vectors and what belongs to them in one SQLite file, searched with numpy.

mem0's own embedded stores are slow where it counts: Qdrant's takes 120 ms to search 10,000 records,
and FAISS writes all of them anew for each one. Here a write is one row, and a search is one product
of a matrix with a vector: the vectors of a scope are read once and then kept in step with the file.
It has the methods of mem0's `VectorStoreBase`, for any number of threads of one process.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...guards.sqlite_file import open_sqlite

SCOPE = ("user_id", "agent_id", "run_id")
KEPT_SCOPES = 64
"""Scopes whose vectors stay in memory (1.5 MB for 1,000 records of 384 numbers)."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS records (
    id TEXT PRIMARY KEY, scope TEXT NOT NULL, kind TEXT NOT NULL,
    payload TEXT NOT NULL, vector BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS records_by_scope ON records (scope);
"""


class StoreMismatch(ValueError):
    """The store was written by another embedder; nothing was read or written."""


@dataclass(frozen=True, slots=True)
class Found:
    """One record as mem0 reads it."""

    id: str
    score: float | None
    payload: dict[str, Any]


class Vectors:
    """All records of one file."""

    def __init__(self, file: Path, *, embedder: str, dims: int) -> None:
        """Open the file, or make it.

        Raises:
            StoreMismatch: it holds vectors of another embedder or size.
        """
        self.file, self.dims = file, dims
        self._lock = threading.RLock()
        self._scopes: OrderedDict[str, _Matrix] = OrderedDict()
        self._base = open_sqlite(file, isolation_level=None)
        try:
            self._base.execute("PRAGMA synchronous=NORMAL")
            self._base.executescript(_SCHEMA)
            self._written_by(embedder, dims)
        except BaseException:
            self._base.close()
            raise

    def _written_by(self, embedder: str, dims: int) -> None:
        about = self._about()
        if not about:  # of those who begin a file at once, the first says whose it is
            mine = ("embedder", embedder, "dims", str(dims))
            self._base.execute("INSERT OR IGNORE INTO about VALUES (?, ?), (?, ?)", mine)
            about = self._about()
        was, size = about.get("embedder", ""), about.get("dims", "")
        if size != str(dims) or was != embedder:
            raise StoreMismatch(
                f"{self.file} holds vectors of {was} with {size} numbers each, and {embedder}"
                f" gives {dims}: they cannot be compared; set the embedder back, or give"
                " memory.storage_path another folder"
            )

    def _about(self) -> dict[str, str]:
        return dict(self._base.execute("SELECT name, value FROM about"))

    def matches(self, embedder: str, dims: int) -> None:
        """Refuse an embedder that did not write this store.

        Raises:
            StoreMismatch: it says which did.
        """
        with self._lock:
            self._written_by(embedder, dims)

    def insert(
        self,
        vectors: Sequence[Sequence[float]],
        payloads: Sequence[Mapping[str, Any]] | None = None,
        ids: Sequence[str] | None = None,
    ) -> None:
        """Write records; each payload names its whole scope.

        Raises:
            StoreMismatch: a vector is not of this store's size.
        """
        import numpy as np

        assert payloads is not None
        assert ids is not None
        rows = []
        for vector, payload, key in zip(vectors, payloads, ids, strict=True):
            self._fits(vector)
            array = np.asarray(vector, dtype=np.float32)
            array = array / max(float(np.linalg.norm(array)), 1e-12)
            kind = str(payload.get("memory_type") or "")
            rows.append((key, _scope(payload), kind, json.dumps(payload), array))
        with self._lock:
            self._base.executemany(
                "INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?, ?)",
                [(*row[:4], row[4].tobytes()) for row in rows],
            )
            for key, scope, kind, _, array in rows:
                if scope in self._scopes:
                    self._scopes[scope].put(key, kind, array)

    def _fits(self, vector: Sequence[float]) -> None:
        if len(vector) != self.dims:
            raise StoreMismatch(
                f"a vector of {len(vector)} numbers does not fit {self.file}, whose vectors have"
                f" {self.dims}; set the embedder back, or give memory.storage_path another folder"
            )

    def search(
        self,
        query: str,
        vectors: Sequence[float],
        top_k: int = 5,
        filters: Mapping[str, Any] | None = None,
    ) -> list[Found]:
        """The nearest records of one scope, the best first; `memory_type` may narrow it down.

        Raises:
            ValueError: the filters do not name the whole scope, or something else.
            StoreMismatch: the vector is not of this store's size.
        """
        import numpy as np

        scope, kind = _wanted(filters)
        self._fits(vectors)
        asked = np.asarray(vectors, dtype=np.float32)
        asked = asked / max(float(np.linalg.norm(asked)), 1e-12)
        with self._lock:
            best = self._matrix(scope).nearest(asked, top_k, kind)
            payloads = self._payloads([key for key, _ in best])
        return [Found(key, score, payloads[key]) for key, score in best if key in payloads]

    def list(self, filters: Mapping[str, Any] | None = None, top_k: int = 100) -> list[list[Found]]:
        """The newest records of one scope, in the order in which they were written."""
        scope, kind = _wanted(filters)
        with self._lock:
            rows = self._base.execute(
                "SELECT id, payload FROM records WHERE scope = ? AND (? = '' OR kind = ?)"
                " ORDER BY rowid DESC LIMIT ?",
                (scope, kind, kind, top_k),
            ).fetchall()
        return [[Found(key, None, json.loads(payload)) for key, payload in reversed(rows)]]

    def get(self, vector_id: str) -> Found | None:
        """One record."""
        with self._lock:
            payload = self._payloads([vector_id]).get(vector_id)
        return None if payload is None else Found(vector_id, None, payload)

    def delete(self, vector_id: str) -> None:
        """Forget one record."""
        with self._lock:
            rows = self._base.execute("SELECT scope FROM records WHERE id = ?", (vector_id,))
            scopes = rows.fetchall()
            self._base.execute("DELETE FROM records WHERE id = ?", (vector_id,))
            for (scope,) in scopes:
                if scope in self._scopes:
                    self._scopes[scope].drop(vector_id)

    def update(
        self,
        vector_id: str,
        vector: Sequence[float] | None = None,
        payload: Mapping[str, Any] | None = None,
    ) -> None:
        """Put another vector and payload in the place of a record's."""
        assert vector is not None
        assert payload is not None
        self.insert([vector], [payload], [vector_id])

    def keyword_search(self, query: str, top_k: int = 5, filters: Any = None) -> None:
        """There is none: mem0 then ranks by meaning alone."""

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._scopes.clear()
            self._base.close()

    def _payloads(self, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        marks = ",".join("?" * len(ids))
        rows = self._base.execute(f"SELECT id, payload FROM records WHERE id IN ({marks})", ids)  # noqa: S608 - marks only
        return {key: json.loads(payload) for key, payload in rows}

    def _matrix(self, scope: str) -> _Matrix:
        found = self._scopes.get(scope)
        if found is None:
            found = _Matrix(self.dims)
            rows = self._base.execute(
                "SELECT id, kind, vector FROM records WHERE scope = ? ORDER BY rowid", (scope,)
            )
            found.fill(rows.fetchall())
            self._scopes[scope] = found
            while len(self._scopes) > KEPT_SCOPES:
                self._scopes.popitem(last=False)
        self._scopes.move_to_end(scope)
        return found


@dataclass(slots=True)
class _Matrix:
    """The vectors of one scope; places are given again once their record is gone."""

    dims: int
    ids: list[str] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    places: dict[str, int] = field(default_factory=dict)
    rows: Any = None

    def fill(self, rows: Sequence[tuple[str, str, bytes]]) -> None:
        import numpy as np

        self.ids = [row[0] for row in rows]
        self.kinds = [row[1] for row in rows]
        self.places = {key: place for place, key in enumerate(self.ids)}
        whole = np.frombuffer(b"".join(row[2] for row in rows), dtype=np.float32)
        self.rows = whole.reshape(len(rows), self.dims).copy()

    def put(self, key: str, kind: str, vector: Any) -> None:
        import numpy as np

        place = self.places.get(key)
        if place is None:
            place = self.places[key] = len(self.ids)
            self.ids.append(key)
            self.kinds.append(kind)
            if place >= len(self.rows):  # twice the room: a write costs the same however many
                more = np.zeros((max(len(self.rows), 16), self.dims), dtype=np.float32)
                self.rows = np.concatenate([self.rows, more])
        self.kinds[place] = kind
        self.rows[place] = vector

    def drop(self, key: str) -> None:
        place = self.places.pop(key)
        last = len(self.ids) - 1
        if place != last:
            self.ids[place], self.kinds[place] = self.ids[last], self.kinds[last]
            self.rows[place] = self.rows[last]
            self.places[self.ids[place]] = place
        self.ids.pop()
        self.kinds.pop()

    def nearest(self, asked: Any, top_k: int, kind: str) -> list[tuple[str, float]]:
        import numpy as np

        # Not `@`: its threads wait for one another where the processor is busy.
        scores = np.einsum("ij,j->i", self.rows[: len(self.ids)], asked)
        if kind:
            fits = np.fromiter((k == kind for k in self.kinds), dtype=bool, count=len(self.kinds))
            scores = np.where(fits, scores, -np.inf)
        few = min(top_k, len(self.ids))
        if not few:
            return []
        best = np.argpartition(-scores, few - 1)[:few]
        best = best[np.argsort(-scores[best], kind="stable")]
        return [(self.ids[i], float(scores[i])) for i in best if np.isfinite(scores[i])]


def _scope(ids: Mapping[str, Any]) -> str:
    missing = [name for name in SCOPE if not ids.get(name)]
    if missing:
        raise ValueError(f"a memory is looked into for one user, agent and run: {missing} missing")
    return "\n".join(str(ids[name]) for name in SCOPE)


def _wanted(filters: Mapping[str, Any] | None) -> tuple[str, str]:
    filters = filters or {}
    unknown = set(filters) - {*SCOPE, "memory_type"}
    if unknown:
        raise ValueError(f"no filter of this store: {', '.join(sorted(unknown))}")
    return _scope(filters), str(filters.get("memory_type") or "")
