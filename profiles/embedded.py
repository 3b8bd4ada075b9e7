"""Asks an embedder, whoever wrote it, and takes nothing for a vector that is none.

A number that is none (NaN) in a store is near to nothing: the text behind it would never be found
again, and nobody would know.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from .embedding import Embedder, EmbeddingError


def embedded(embedder: Embedder, texts: Sequence[str]) -> list[list[float]]:
    """One vector a text, in their order.

    Raises:
        EmbeddingError: the embedder gave another number of vectors, or one that holds something
            else than numbers.
    """
    vectors = embedder.embed(texts)
    who = f"the embedder {embedder.name}"
    if len(vectors) != len(texts):
        raise EmbeddingError(f"{who} gave {len(vectors)} vectors for {len(texts)} texts")
    for vector in vectors:
        try:
            good = all(map(math.isfinite, vector))
        except TypeError:
            good = False
        if not good:
            raise EmbeddingError(f"{who} gave a vector with something else than numbers (NaN)")
    return vectors
