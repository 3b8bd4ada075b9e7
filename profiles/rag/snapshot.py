"""The index in memory as it is searched: FAISS for meaning, BM25 for words. It never changes.

A hit's score is a similarity from 0 to 1, and higher is better: the cosine between query and
passage, raised where words of the query stand in it (never lowered). The same text scores 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .lexical import WordIndex
from .llama import vector_store, vectors_near
from .store import Chunk

WORDS = 0.3
"""How much of a score words in common can make up."""
CANDIDATES = 50
"""Looked at of either kind; or four times as many as are wanted."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One chunk that was found."""

    chunk: Chunk
    score: float
    position: int
    """Its place in the index, which tells it from others for as long as nothing changes."""


class MixedSizes(RuntimeError):
    """The index holds vectors of two sizes."""


class Snapshot:
    """The chunks as they were at one change of the index. Any number of threads may search it."""

    def __init__(self, change: int, chunks: Sequence[Chunk]) -> None:
        """`change` is the number of the change that the chunks are from.

        Raises:
            MixedSizes: the vectors are not of one size.
        """
        import numpy as np

        self.change, self.chunks = change, chunks
        sizes = {chunk.dims for chunk in chunks}
        if len(sizes) > 1:
            raise MixedSizes(f"the index holds vectors of {' and '.join(map(str, sorted(sizes)))}")
        self.dims = sizes.pop() if sizes else 0
        if not chunks:
            return
        counts = [len(chunk.vectors) // (4 * chunk.dims) for chunk in chunks]
        joined = b"".join(chunk.vectors for chunk in chunks)
        matrix = np.frombuffer(joined, dtype=np.float32).reshape(-1, self.dims)
        self._starts: Any = np.concatenate([[0], np.cumsum(counts)])
        self._owner: Any = np.repeat(np.arange(len(chunks)), counts)
        self._vectors: Any = vector_store(_unit(matrix))
        self._words = WordIndex([chunk.words for chunk in chunks])

    def search(
        self, query: str, vector: Sequence[float], *, top_k: int, threshold: float
    ) -> list[Hit]:
        """The best `top_k` chunks whose score is `threshold` or more, the best first."""
        import numpy as np

        if not self.chunks:
            return []
        wanted = max(CANDIDATES, 4 * top_k)
        asked = _unit(np.asarray([vector], dtype=np.float32))[0]
        near = self._meaning(asked, wanted)
        common = self._words.scores(query)
        self._add_likeness(near, asked, [at for at in _best(common, wanted) if at not in near])
        scored = [(_mixed(likeness, float(common[at])), at) for at, likeness in near.items()]
        # Rounded, so that equal texts come in one order on every machine.
        scored = sorted(((round(score, 6), at) for score, at in scored), key=_first)[:top_k]
        return [Hit(self.chunks[at], score, at) for score, at in scored if score >= threshold]

    def _meaning(self, asked: Any, wanted: int) -> dict[int, float]:
        """The chunks next to the query, each with its best vector's cosine."""
        windows = len(self._owner)
        most = wanted * (1 + windows // max(len(self.chunks), 1))
        found: dict[int, float] = {}
        for row, likeness in vectors_near(self._vectors, asked, min(most, windows)):
            at = int(self._owner[row])
            found[at] = max(found.get(at, -1.0), likeness)
        return found

    def _add_likeness(self, near: dict[int, float], asked: Any, places: Sequence[int]) -> None:
        """Add the cosines of these chunks, each its best vector's."""
        import numpy as np

        if not places:
            return
        rows = [np.arange(self._starts[at], self._starts[at + 1]) for at in places]
        vectors = self._vectors.client.reconstruct_batch(np.concatenate(rows))
        starts = np.cumsum([0, *(len(part) for part in rows[:-1])])
        best = np.maximum.reduceat(vectors @ asked, starts)
        near.update(zip(places, map(float, best), strict=True))


def _mixed(likeness: float, common: float) -> float:
    likeness = min(max(likeness, 0.0), 1.0)
    return max(likeness, (1 - WORDS) * likeness + WORDS * common)


def _first(scored: tuple[float, int]) -> tuple[float, int]:
    return -scored[0], scored[1]


def _best(scores: Any, wanted: int) -> list[int]:
    """The places of the highest scores above 0."""
    import numpy as np

    places = np.flatnonzero(scores)
    if len(places) > wanted:
        kept = np.argpartition(-scores[places], wanted - 1)[:wanted]
        places = places[kept]
    return [int(at) for at in places]


def _unit(matrix: Any) -> Any:
    """The rows at length 1, so that products are cosines."""
    import numpy as np

    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    return matrix / np.maximum(lengths, 1e-12)
