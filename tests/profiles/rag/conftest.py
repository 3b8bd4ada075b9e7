"""A folder of documents, and an embedder that counts what it is asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from edgeward import AgentProfile
from edgeward.profiles.rag.rag import LlamaIndexRAG
from tests.wire.embeddings import vector


class Counting:
    """Vectors made of a text's words; notes every text that it is asked for."""

    def __init__(self, name: str = "words", dims: int = 64) -> None:
        self.name, self.dims = name, dims
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector a text."""
        self.asked += texts
        return [vector(text, self.dims) for text in texts]


class Bundle:
    """A profile's folder with documents in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.documents = folder / "rag_corpus"
        self.documents.mkdir()
        self.opened: list[LlamaIndexRAG] = []

    def write(self, name: str, content: str | bytes) -> Path:
        """Put a document there."""
        file = self.documents / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def profile(self, **rag: Any) -> AgentProfile:
        """The profile, with these settings of its `rag` block."""
        data = {"id": "a", "name": "A", "rag": {"enabled": True, **rag}}
        return AgentProfile.from_mapping(data, base_dir=self.folder)

    def rag(self, embedder: Any = None, *, more: Any = None, **settings: Any) -> LlamaIndexRAG:
        """The documents, opened as a new process would; `more`: arguments besides the profile."""
        opened = LlamaIndexRAG(
            self.profile(**settings), embedder=embedder or Counting(), env={}, **(more or {})
        )
        self.opened.append(opened)
        return opened


@pytest.fixture
def bundle(tmp_path: Path) -> Any:
    """An empty folder of documents; what was opened over it is closed in the end."""
    made = Bundle(tmp_path)
    yield made
    for opened in made.opened:
        opened.close()


Texts = Callable[[list[dict[str, Any]]], list[str]]
