"""The documents of an agent: `LlamaIndexRAG` keeps the index up to date and searches it."""

from __future__ import annotations

import importlib.util
import sqlite3
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...extras import MissingExtra
from ...later import Later
from ...policies.problems import ConfigError, Problem, speak
from ..embedded import embedded
from ..llm import read_env
from ..schema import AgentProfile
from . import llama
from .embedders import as_embedder, embedder_for
from .extraction import StructuredDocExtractor
from .indexing import (
    Collection,
    EmbedderChanged,
    GivenUp,
    Progress,
    Report,
    Told,
    bring_up_to_date,
    changed,
)
from .renderer import ResourceRenderer
from .snapshot import Snapshot
from .store import Store

if TYPE_CHECKING:
    from llama_index.core import retrievers
else:
    retrievers = Later("llama_index.core.retrievers")

_NEEDED = {
    "llama_index.vector_stores.faiss": "llama-index-vector-stores-faiss",
    "faiss": "faiss-cpu",
    "tokenizers": "tokenizers",
    "pdfplumber": "pdfplumber",
    "bs4": "beautifulsoup4",
    "docx": "python-docx",
}
_CLOSING_S = 5.0


def _quiet(progress: Progress) -> None:
    """Nobody wants to hear of the progress."""


class LlamaIndexRAG:
    """The folder of documents that a profile's `rag` block names, as an index that is searched.

    The index is made with the first search, or by `refresh`, and kept in `storage_dir`; of a folder
    that was indexed before, only what has changed is read and embedded. Any number of threads may
    use one object at once. Nothing here is for an event loop: call it from a thread.
    """

    def __init__(
        self,
        profile: AgentProfile,
        *,
        embedder: Any = None,
        extractor: StructuredDocExtractor | None = None,
        renderer: ResourceRenderer | None = None,
        env: Mapping[str, str] | None = None,
        progress: Told | None = None,
    ) -> None:
        """Nothing is read yet. `embedder` (with name, dims and embed, or one of LlamaIndex's),
        `extractor` and `renderer` replace what the profile would get; `progress` hears how far an
        indexing has come, in the thread that does it.

        Raises:
            ConfigError: there is no folder, or the settings do not make an embedder.
            MissingExtra: the extra `rag` is not installed.
        """
        block = profile.rag
        self._block = block
        documents = profile.resolve(block.documents_dir or "rag_corpus")
        _check(profile, documents)
        _installed()
        given = embedder is not None
        self._collection = Collection(
            documents=documents,
            storage=profile.resolve(block.storage_dir or "rag_index"),
            embedder=(
                as_embedder(embedder)
                if given
                else embedder_for(block, read_env() if env is None else env)
            ),
            extractor=extractor or StructuredDocExtractor(),
            chunk_size=block.chunk_size,
            chunk_overlap=block.chunk_overlap,
            stated_dims=block.embedding_dims,
        )
        self._store = Store(self._collection.storage)
        self._renderer = renderer or ResourceRenderer()
        self._told = progress or _quiet
        self._lock = threading.Lock()
        self._loading = threading.Lock()
        self._run: _Run | None = None
        self._closed = False
        self._snapshot: Snapshot | None = None

    def search(self, query: str, top_k: int | None = None) -> list[dict[str, Any]]:
        """The best passages, the best first: `text`, `score` (0 to 1, higher is better), `node_id`
        and `metadata` with `source`, `section`, `page` and `resources`.

        `top_k` None is the profile's. Passages below the profile's `score_threshold` are left out.
        The first search waits until the index is up to date.

        Raises:
            EmbedderChanged: the index was made with vectors of another size.
            EmbeddingError: what the embedder gives is no vector.
        """
        if not query.strip():
            return []
        self.ready()
        snapshot = self._current()
        if not snapshot.chunks:
            return []
        (vector,) = embedded(self._collection.embedder, [query])
        if len(vector) != snapshot.dims:
            raise EmbedderChanged(changed(self._collection, len(vector), snapshot.dims))
        hits = snapshot.search(
            query,
            vector,
            top_k=self._block.top_k if top_k is None else max(top_k, 1),
            threshold=self._block.score_threshold,
        )
        return [
            {
                "text": hit.chunk.text,
                "score": hit.score,
                "node_id": f"{snapshot.change}-{hit.position}",
                "metadata": {
                    "source": hit.chunk.path,
                    "section": hit.chunk.section,
                    "page": hit.chunk.page,
                    "resources": list(hit.chunk.resources),
                },
            }
            for hit in hits
        ]

    def get_resource(self, resource_id: str) -> str:
        """The table or image with this id (a passage's metadata has them), as text.

        Raises:
            LookupError: there is none.
        """
        self.ready()
        found = self._store.resource(resource_id.strip())
        if found is None:
            raise LookupError(
                "there is no resource with this id; the results of a search have them"
            )
        return self._renderer.render(found[1])

    def ready(self, timeout_s: float | None = None) -> Report | None:
        """Wait until the index is up to date, for `timeout_s` seconds at most: what was done, or
        None where it still goes on. The work itself is done once, in a thread of its own.

        Raises:
            Whatever stopped it; the next call begins anew.
        """
        with self._lock:
            if self._closed:
                raise RuntimeError("the documents are closed")
            if self._run is None:
                self._run = _Run(self._collection, self._store, self._told)
            run = self._run
        if not run.over.wait(timeout_s):
            return None
        if run.failure is not None:
            with self._lock:
                if self._run is run:
                    self._run = None
            raise run.failure
        return run.report

    def refresh(self, *, progress: Told | None = None) -> Report:
        """Compare the folder with the index now, also where that was done before; files that could
        not be read are tried again.

        Raises:
            Whatever stopped it. What was done until then is kept.
        """
        with self._lock:
            if self._run is not None and self._run.over.is_set():
                self._run = None
            if self._run is None and not self._closed:
                told = progress or self._told
                self._run = _Run(self._collection, self._store, told, given_up="tried again")
        report = self.ready()
        assert report is not None
        return report

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to be found, whatever one looks for."""
        self.ready()
        return not self._current().chunks

    @property
    def progress(self) -> Progress:
        """How far the indexing has come."""
        run = self._run
        return run.progress if run is not None else Progress(0, 0, 0)

    def as_retriever(self, top_k: int | None = None) -> retrievers.BaseRetriever:
        """The search as a retriever of LlamaIndex's, for its query engines."""
        return llama.retriever(lambda query: self.search(query, top_k))

    def close(self) -> None:
        """Stop an indexing that still goes on; what it has done is kept. Closing twice is fine."""
        with self._lock:
            self._closed = True
            run = self._run
        if run is not None:
            run.stop()

    def _current(self) -> Snapshot:
        """The index in memory, as it is on the disk now."""
        held = self._snapshot
        try:
            change = self._store.change()
        except sqlite3.Error:  # another process is just putting it aside
            change = held.change if held is not None else -1
        if held is not None and held.change == change:
            return held
        with self._loading:
            held = self._snapshot
            if held is None or held.change != change:
                held = self._snapshot = Snapshot(*self._store.load(self._collection.space))
        return held


class _Run:
    """One indexing, in a thread of its own."""

    def __init__(
        self, collection: Collection, store: Store, told: Told, *, given_up: GivenUp = "left"
    ) -> None:
        self.report: Report | None = None
        self.failure: Exception | None = None
        self.progress = Progress(0, 0, 0)
        self.over = threading.Event()
        self._told = told
        self._stop = threading.Event()
        self._work = (collection, store, given_up)
        self._thread = threading.Thread(target=self._do, name="edgeward index", daemon=True)
        self._thread.start()

    def _do(self) -> None:
        collection, store, given_up = self._work
        try:
            self.report = bring_up_to_date(
                collection,
                store,
                told=self._hear,
                stopped=self._stop.is_set,
                given_up=given_up,
            )
        except Exception as error:  # noqa: BLE001 - handed to whoever waits
            self.failure = error
        finally:
            self.over.set()

    def _hear(self, progress: Progress) -> None:
        self.progress = progress
        self._told(progress)

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(_CLOSING_S)


def _installed() -> None:
    missing = []
    for module, package in _NEEDED.items():
        try:
            found = importlib.util.find_spec(module)
        except ModuleNotFoundError:
            found = None
        if found is None:
            missing.append(package)
    if missing:
        text = f"documents (rag) need {', '.join(missing)}"
        raise MissingExtra(f"{text}: pip install 'edgeward[rag]'")


def _check(profile: AgentProfile, documents: Path) -> None:
    if documents.is_dir():
        return
    source = profile.source or "profile"
    if "rag" not in profile.model_fields_set:
        fix = "add `rag: {enabled: true, documents_dir: FOLDER}`"
        raise ConfigError(Problem(source, "agent.rag", "the profile has no documents", fix=fix))
    wrong = "is no folder" if documents.exists() else "there is no such folder"
    name = speak(str(profile.rag.documents_dir))
    fix = "make it and put the documents there; it is relative to the profile's folder"
    raise ConfigError(Problem(source, "agent.rag.documents_dir", f"{name}: {wrong}", fix=fix))
