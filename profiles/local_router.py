"""Which tool a question is for: that of the example that is nearest by meaning.

A small model picks badly among many tools. Embedding the question takes milliseconds and picks
well, as far as the examples go; the model then has only the arguments to write.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol


class _Embeds(Protocol):
    def embed(self, texts: Sequence[str]) -> list[list[float]]: ...


class Router:
    """Picks by examples: a name, and what people say when they mean it."""

    def __init__(self, examples: Mapping[str, Sequence[str]], *, embedder: _Embeds) -> None:
        self._names = [name for name, texts in examples.items() for _ in texts]
        self._texts = [text for texts in examples.values() for text in texts]
        self._embedder = embedder
        self._vectors: list[list[float]] = []

    def pick(self, question: str, names: Sequence[str]) -> str:
        """The name, among `names`, whose example is nearest; empty where none has an example."""
        self._vectors = self._vectors or self._embedder.embed(self._texts)
        (asked,) = self._embedder.embed([question])
        known = [n for n, name in enumerate(self._names) if name in names]
        near = max(known, key=lambda n: _product(asked, self._vectors[n]), default=None)
        return "" if near is None else self._names[near]


def _product(one: Sequence[float], other: Sequence[float]) -> float:
    """Of vectors of length one: how near they are."""
    return sum(a * b for a, b in zip(one, other, strict=True))
