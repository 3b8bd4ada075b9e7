"""Scores are similarities: higher is better, the same text has 1; thresholds keep the best."""

from __future__ import annotations

from array import array

import numpy as np
import pytest

from edgeward.profiles.rag.lexical import counted
from edgeward.profiles.rag.snapshot import MixedSizes, Snapshot
from edgeward.profiles.rag.store import Chunk


def chunk(text: str, *vectors: list[float]) -> Chunk:
    """A chunk with these vectors."""
    joined = b"".join(array("f", vector).tobytes() for vector in vectors)
    return Chunk(f"{text}.md", text, "", None, (), counted(text), len(vectors[0]), joined)


KNOWN = [
    chunk("north", [1.0, 0.0, 0.0]),
    chunk("near", [0.8, 0.6, 0.0]),
    chunk("east", [0.0, 5.0, 0.0]),
]


def found(snapshot: Snapshot, vector, query="?", *, top_k=3, threshold=0.0):
    """The texts and scores of the hits."""
    hits = snapshot.search(query, vector, top_k=top_k, threshold=threshold)
    return [(hit.chunk.text, round(hit.score, 3)) for hit in hits]


def test_c83_the_threshold_keeps_the_best():
    """0.9 returns exactly the one that is equal; 0.0 returns all in falling order."""
    snapshot = Snapshot(1, KNOWN)
    assert found(snapshot, [2.0, 0.0, 0.0], threshold=0.9) == [("north", 1.0)]
    assert found(snapshot, [2.0, 0.0, 0.0]) == [("north", 1.0), ("near", 0.8), ("east", 0.0)]


def test_d085_a_score_equal_to_the_threshold_is_kept():
    """Below it is dropped, at it is not; `top_k` bounds what is left."""
    snapshot = Snapshot(1, KNOWN)
    assert found(snapshot, [1.0, 0.0, 0.0], threshold=0.8)[-1] == ("near", 0.8)
    assert found(snapshot, [1.0, 0.0, 0.0], threshold=0.81) == [("north", 1.0)]
    assert found(snapshot, [1.0, 0.0, 0.0], top_k=1) == [("north", 1.0)]


def test_words_in_common_raise_a_score_and_never_lower_one():
    """A part number is found that says nothing to the embedder; a perfect match stays perfect."""
    snapshot = Snapshot(1, [*KNOWN, chunk("bolt XJ-4471", [0.0, 0.0, 1.0])])
    order = found(snapshot, [0.1, 0.0, 0.0], "XJ-4471", top_k=4)
    assert order[0] == ("north", 1.0)
    scores = dict(found(snapshot, [0.0, 1.0, 0.0], "XJ-4471", top_k=4))
    assert scores["bolt XJ-4471"] == pytest.approx(0.3, abs=0.1)
    assert scores["east"] == 1.0


def test_opposites_score_zero():
    """No score lies outside of 0 to 1."""
    assert found(Snapshot(1, KNOWN[:1]), [-1.0, 0.0, 0.0]) == [("north", 0.0)]


def test_a_long_chunk_is_as_near_as_its_nearest_part():
    """Each part that the embedder took in has a vector of its own."""
    long = chunk("long", [0.0, 0.0, 1.0], [1.0, 0.0, 0.0])
    assert found(Snapshot(1, [KNOWN[2], long]), [1.0, 0.0, 0.0])[0] == ("long", 1.0)


def test_equal_scores_come_in_the_order_of_the_documents():
    """The same question has the same answer."""
    same = [chunk(name, [1.0, 0.0]) for name in "abc"]
    assert [text for text, _ in found(Snapshot(1, same), [1.0, 0.0])] == ["a", "b", "c"]


def test_an_empty_index_finds_nothing():
    """And says so without looking."""
    assert found(Snapshot(1, []), [1.0]) == []


def test_vectors_of_two_sizes_do_not_mix():
    """FAISS would say something that nobody understands."""
    with pytest.raises(MixedSizes, match="2 and 3"):
        Snapshot(1, [KNOWN[0], chunk("x", [1.0, 0.0])])


def test_ten_thousand_chunks_are_searched():
    """The candidates of either kind are bounded, whatever the size."""
    rng = np.random.default_rng(7)
    rows = rng.normal(size=(10_000, 8)).astype(np.float32)
    many = [chunk(f"word{n} same", list(map(float, row))) for n, row in enumerate(rows)]
    snapshot = Snapshot(1, many)
    hits = snapshot.search("word777 same", list(map(float, rows[777])), top_k=5, threshold=0.0)
    assert hits[0].chunk.text == "word777 same"
    assert hits[0].score == pytest.approx(1.0)
    assert len(hits) == 5
