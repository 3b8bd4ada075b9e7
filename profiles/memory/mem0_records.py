"""mem0 with the parts that work offline: our embedder, our index, no telemetry, no model.

Importing this module imports mem0 (two seconds): `loaded` does it where nothing else waits, and
with its telemetry off, which is read at import.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
from mem0 import Memory
from mem0.memory import telemetry
from mem0.memory.storage import SQLiteManager
from mem0.utils import spacy_models
from mem0.vector_stores.qdrant import Qdrant
from qdrant_client import QdrantClient

from ...guards.sqlite_file import open_sqlite
from ..embedded import embedded
from ..embedding import Embedder
from ..network import certificates, is_this_machine
from .records import Note, Scope

COLLECTION = "edgeward_memory"
TIMEOUT_S = 30


class Mem0Embedder:
    """Our embedder as mem0 asks it."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.name = embedder.name

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        """The vector of one text."""
        return embedded(self._embedder, [text])[0]

    def embed_batch(self, texts: list[str], memory_action: str | None = None) -> list[list[float]]:
        """The vectors of several texts."""
        return embedded(self._embedder, texts)


class QdrantServer(Qdrant):  # type: ignore[misc]
    """mem0's Qdrant, by meaning only: its keyword search would fetch a model from the network."""

    def _get_bm25_encoder(self) -> None:
        return None


class OfflineMemory(Memory):  # type: ignore[misc]
    """mem0's memory on parts that were made already; its factories would want a model and a key."""

    def __init__(self, embedder: Embedder, vectors: Any, history: Path) -> None:
        self.embedding_model: Any = Mem0Embedder(embedder)
        self.vector_store = vectors
        self.db = _history(history)
        self.llm = self.reranker = self._entity_store = self.custom_instructions = None
        self.config: Any = _Settings()
        self.collection_name = COLLECTION
        self.api_version = "v1.1"

    def keep(self, notes: Sequence[Note], scope: Scope) -> list[str]:
        """Store texts as they are, embedded in one request; their ids."""
        texts = [note.text for note in notes]
        name = self.embedding_model.name
        kept = []
        for note, vector in zip(notes, self.embedding_model.embed_batch(texts), strict=True):
            metadata = {**note.metadata, **scope.ids, "embedder": name}
            kept.append(str(self._create_memory(note.text, {note.text: vector}, metadata)))
        return kept

    def close(self) -> None:
        """Close mem0's history."""
        self.db.close()


def _history(file: Path) -> SQLiteManager:
    """mem0's history on a connection as our own files have it: a killed process loses nothing, and
    no record waits for the disk."""
    history = SQLiteManager(str(file))
    history.connection.close()
    history.connection = open_sqlite(file, isolation_level="DEFERRED")
    history.connection.execute("PRAGMA synchronous=NORMAL")
    return history


class _Settings:
    """What mem0 asks of its configuration when it adds and searches."""

    class llm:  # noqa: N801 - mem0's word
        config: dict[str, Any] = {}  # noqa: RUF012 - read only


_quiet = threading.Lock()


def quiet() -> None:
    """Keep mem0 from reporting, and from fetching a language model.

    It reports where somebody imported it before with its telemetry on, and fetches where spaCy is
    installed without a model.
    """
    with _quiet:
        telemetry.MEM0_TELEMETRY = False
        if spacy_models._nlp_lemma is None and spacy_models._nlp_full is None:
            spacy_models._load_failed_lemma = spacy_models._load_failed_full = True


def server(url: str, key: str, *, dims: int, embedder: str) -> QdrantServer:
    """The collection of a Qdrant server, made where there is none.

    Raises:
        ValueError: it holds vectors of another size or embedder.
    """
    client = QdrantClient(
        url=url,
        api_key=key or None,
        timeout=TIMEOUT_S,
        check_compatibility=False,
        trust_env=not is_this_machine(url),
        verify=certificates(httpx.create_ssl_context),  # which else would not be the environment's
    )
    return in_collection(client, dims=dims, embedder=embedder, where=url)


def in_collection(client: QdrantClient, *, dims: int, embedder: str, where: str) -> QdrantServer:
    """The same on a client that is connected already."""
    if client.collection_exists(COLLECTION):
        held = client.get_collection(COLLECTION).config.params.vectors
        size = getattr(held, "size", dims)
        first, _ = client.scroll(COLLECTION, limit=1, with_payload=True)
        was = str((first[0].payload or {}).get("embedder") or embedder) if first else embedder
        if size != dims or was != embedder:
            raise ValueError(
                f"the collection {COLLECTION} at {where} holds vectors of {was} with {size} numbers"
                f" each, and {embedder} gives {dims}: they cannot be compared; set the embedder"
                " back, or name another server"
            )
    return QdrantServer(COLLECTION, dims, client=client)
