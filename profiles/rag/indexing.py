"""Brings an index up to date with its folder: what is new or changed is read and embedded, what is
gone is forgotten, everything else stays as it is."""

from __future__ import annotations

import json
import logging
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from ..embedded import embedded
from ..embedding import Embedder
from ..minilm import count_tokens
from .chunking import split
from .content import NotExtracted, Source, StructuredChunk
from .corpus import list_files, read_file
from .embedders import window
from .extraction import StructuredDocExtractor
from .isolation import Reader
from .lexical import counted
from .store import Chunk, Document, Entry, Store

BATCH = 64
"""Vectors that are asked for at once, and kept at once."""
READING = 1
"""Changes when the built-in extractors read otherwise, so that every document is read anew."""

_log = logging.getLogger("edgeward.rag")


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the indexing has come: files out of all files, chunks embedded, the file's name."""

    done: int
    total: int
    chunks: int
    name: str = ""


@dataclass(slots=True)
class Report:
    """What came of an indexing. Names are paths below the folder of documents."""

    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    unchanged: int = 0
    chunks: int = 0
    """Chunks that were embedded."""
    skipped: list[tuple[str, str]] = field(default_factory=list)
    """Files that cannot be searched, each with the reason."""
    notes: list[str] = field(default_factory=list)


Told = Callable[[Progress], None]
GivenUp = Literal["left", "tried again"]


class Stopped(RuntimeError):
    """The indexing was told to stop. What was done until then is kept."""


class EmbedderChanged(RuntimeError):
    """The embedder gives vectors of another size than those of the index."""


@dataclass(frozen=True, slots=True)
class Collection:
    """A folder of documents, and how they are read, divided and embedded."""

    documents: Path
    storage: Path
    embedder: Embedder
    extractor: StructuredDocExtractor
    chunk_size: int
    chunk_overlap: int
    stated_dims: int | None = None

    @property
    def space(self) -> str:
        """What documents must have in common to be searched together."""
        return json.dumps(
            [
                READING,
                self.embedder.name,
                self.stated_dims,
                self.chunk_size,
                self.chunk_overlap,
                self.extractor.own,
            ]
        )


def bring_up_to_date(
    collection: Collection,
    store: Store,
    *,
    told: Told,
    stopped: Callable[[], bool],
    given_up: GivenUp = "left",
) -> Report:
    """Compare the folder with the index, by the files' content, and make up the difference.

    `told` hears of the progress; once `stopped` says so, it ends at the next file. `given_up` says
    what becomes of files that could not be read and have not changed: they are left, or tried
    again. An index that nobody may write to is used as it is.

    Raises:
        Stopped, EmbedderChanged, and what the embedder raises. What was done is kept.
    """
    if store.is_read_only():
        note = "the index cannot be written to; it is searched as it is"
        _log.warning("%s", note)
        return Report(notes=[note])

    def go_on() -> None:
        if stopped():
            raise Stopped("the indexing was stopped")

    with store.only_one(go_on):
        return _Update(collection, store, told, go_on, given_up).run()


class _Update:
    """One run over the folder, by whoever holds the index."""

    def __init__(
        self,
        collection: Collection,
        store: Store,
        told: Told,
        go_on: Callable[[], None],
        given_up: GivenUp,
    ) -> None:
        self.collection, self.store, self.told, self.go_on = collection, store, told, go_on
        self.given_up = given_up
        self.space = collection.space
        self.report = Report()
        self.waiting: list[tuple[Entry, list[_Part]]] = []
        self.done = self.total = 0

    def run(self) -> Report:
        report, collection = self.report, self.collection
        if note := self.store.prepare():
            self.note(note)
        known = self.store.documents()
        listing = list_files(collection.documents, without=collection.storage)
        for name, reason in listing.skipped:
            self.skip(name, reason)
        report.removed = sorted(known.keys() - set(listing.files))
        if report.removed:
            self.store.put([], gone=report.removed)
        if any(about.space != self.space for about in known.values()):
            self.note("the embedder, the chunks or the extractors changed: documents are read anew")
        self.total = len(listing.files)
        with Reader() as reader:
            for name in listing.files:
                self.go_on()
                self.file(name, known.get(name), reader)
                self.done += 1
                self.tell(name)
            self.flush()
        self.tell("")
        return report

    def file(self, name: str, known: Document | None, reader: Reader) -> None:
        """Take in one file, unless it is as it was."""
        report, digest = self.report, ""
        try:
            data, digest = read_file(self.collection.documents, name)
            again = known and known.refused and self.given_up == "tried again"
            if known and (known.digest, known.space) == (digest, self.space) and not again:
                report.unchanged += 1
                if known.refused:
                    self.skip(name, known.refused)
                return
            source = Source(self.collection.documents / name, data)
            found = self.collection.extractor.extract(source, reader=reader)
            for note in filter(None, (chunk.note for chunk in found)):
                self.note(f"{name}: {note}")
            entry, parts = _divided(self.collection, name, Document(digest, self.space), found)
        except NotExtracted as error:
            self.skip(name, str(error))
            if not error.passing or known:
                about = Document("" if error.passing else digest, self.space, str(error))
                self.store.put([Entry(name, about)])
            return
        (report.changed if known else report.added).append(name)
        self.waiting.append((entry, parts))
        if sum(len(parts) for _, parts in self.waiting) >= BATCH:
            self.flush()

    def flush(self) -> None:
        """Embed and keep what was read since the last time."""
        texts = [text for _, parts in self.waiting for part in parts for text in part.windows]
        vectors: list[bytes] = []
        dims = self.store.dims(self.space)
        for first in range(0, len(texts), BATCH):
            self.go_on()
            batch = texts[first : first + BATCH]
            for vector in embedded(self.collection.embedder, batch):
                dims = dims or len(vector)
                if len(vector) != dims:
                    raise EmbedderChanged(changed(self.collection, len(vector), dims))
                vectors.append(array("f", vector).tobytes())
            if len(texts) > BATCH:
                self.tell(self.waiting[-1][0].path)
        place = iter(vectors)
        entries = []
        for entry, parts in self.waiting:
            chunks = [part.chunk(entry.path, dims, place) for part in parts]
            entries.append(Entry(entry.path, entry.document, chunks, entry.resources))
            self.report.chunks += len(chunks)
        if entries:
            self.store.put(entries)
        self.waiting = []

    def tell(self, name: str) -> None:
        self.told(Progress(self.done, self.total, self.report.chunks, name))

    def skip(self, name: str, reason: str) -> None:
        self.report.skipped.append((name, reason))
        _log.warning("%s is left out: %s", ascii(name), reason)

    def note(self, text: str) -> None:
        self.report.notes.append(text)
        _log.warning("%s", ascii(text)[1:-1])


@dataclass(frozen=True, slots=True)
class _Part:
    """A chunk before it is embedded. `windows`: what the embedder takes in at once."""

    text: str
    section: str
    page: int | None
    resources: tuple[str, ...]
    windows: Sequence[str]

    def chunk(self, path: str, dims: int, vectors: Iterator[bytes]) -> Chunk:
        """The chunk with its vectors, the next ones of `vectors`."""
        joined = b"".join(next(vectors) for _ in self.windows)
        words = counted(self.text)
        return Chunk(path, self.text, self.section, self.page, self.resources, words, dims, joined)


def _divided(
    collection: Collection, name: str, about: Document, found: Sequence[StructuredChunk]
) -> tuple[Entry, list[_Part]]:
    size, overlap = collection.chunk_size, collection.chunk_overlap
    bound = window(collection.embedder) or size
    ids: dict[int, str] = {}
    resources = []
    parts = []
    for chunk in found:
        for one in chunk.resources:
            if id(one) not in ids:
                ids[id(one)] = one.id(name, len(ids))
                resources.append((ids[id(one)], replace(one, caption=_storable(one.caption))))
        held = tuple(dict.fromkeys(ids[id(one)] for one in chunk.resources))
        for text in split(_storable(chunk.text), size=size, overlap=overlap, count=count_tokens):
            whole = [text] if bound >= size else []
            windows = whole or split(text, size=bound, overlap=0, count=count_tokens)
            parts.append(_Part(text, _storable(chunk.section), chunk.page, held, windows))
    return Entry(name, about, (), resources), parts


def _storable(text: str) -> str:
    """The text without what is no text: half of a surrogate pair."""
    return text.encode("utf-8", "replace").decode()


def changed(collection: Collection, got: int, expected: int) -> str:
    """What is said where vectors of two sizes come together."""
    return (
        f"the embedder {collection.embedder.name} gives vectors of {got} numbers, and those of the"
        f" index have {expected}; name the model that was meant, or delete {collection.storage} to"
        " have every document embedded anew"
    )
