"""What a document is taken apart into, and the bounds that hold for each."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Protocol

MAX_FILE_BYTES = 50_000_000
MAX_UNPACKED_BYTES = 200_000_000
"""What the parts of a packed file (docx, epub) may come to."""
MAX_PARTS = 10_000
MAX_CHARS = 5_000_000
"""Text of one file; what goes on behind is left out, and that is noted."""
MAX_TABLE_CHARS = 80_000
"""A table must fit into one tool result, too."""
MAX_IMAGE_BYTES = 5_000_000
MAX_RESOURCES = 500
MAX_RESOURCE_BYTES = 40_000_000
"""Of one file's tables and images together."""
MAX_NOTE_CHARS = 500
WORK_S = 45.0
"""Seconds that an extractor goes on with a file; it then gives what it has."""


class NotExtracted(Exception):
    """A file gives no text; the message says why, in a few words without the file's name.

    `passing`: the file itself is not to blame, so that it is worth another try.
    """

    def __init__(self, reason: str, *, passing: bool = False) -> None:
        super().__init__(reason)
        self.passing = passing


@dataclass(frozen=True, slots=True)
class Resource:
    """A table or an image in a document, which chunks refer to by its id.

    `content` is a table's Markdown in UTF-8, or an image's bytes (empty where the document only
    refers to it).
    """

    kind: str
    content: bytes
    media_type: str = "text/markdown"
    caption: str = ""

    def id(self, source: str, position: int) -> str:
        """Its id in the index: the same as long as the document says the same."""
        digest = hashlib.sha256(f"{source}\0{position}\0".encode() + self.content)
        return f"{self.kind}-{digest.hexdigest()[:12]}"


def table(markdown: str, caption: str = "") -> Resource:
    """A table as a resource, cut at a row where it is too long."""
    if len(markdown) > MAX_TABLE_CHARS:
        cut = markdown.rfind("\n", 0, MAX_TABLE_CHARS)
        rows = markdown.count("\n", max(cut, 0)) or 1
        markdown = f"{markdown[: max(cut, 0)]}\n({rows} more rows were left out)"
    return Resource("table", markdown.encode("utf-8", "replace"), caption=caption)


@dataclass(frozen=True, slots=True)
class StructuredChunk:
    """One stretch of a document: a section, a page, a group of rows. It may be of any length: what
    is too long for the index is divided there.

    `section` is its heading; `page` counts from 1; `note` is for the report: what was left out.
    """

    text: str
    section: str = ""
    page: int | None = None
    resources: tuple[Resource, ...] = ()
    note: str = ""


class Source(os.PathLike[str]):
    """A file as extractors get it: its path, and the bytes that were read and hashed."""

    __slots__ = ("_data", "path")

    def __init__(self, path: str | PurePath, data: bytes) -> None:
        """`data` is the whole content of the file at `path`."""
        self.path = PurePath(path)
        self._data = data

    def __fspath__(self) -> str:
        return str(self.path)

    def __str__(self) -> str:
        return str(self.path)

    def __repr__(self) -> str:
        return f"Source({str(self.path)!r}, {len(self._data)} bytes)"

    @property
    def suffix(self) -> str:
        """The ending of its name, in small letters: `.pdf`."""
        return self.path.suffix.lower()

    def read_bytes(self) -> bytes:
        """Its content."""
        return self._data


class StructuredExtractor(Protocol):
    """Takes one kind of file apart."""

    def supports(self, source: Source) -> bool:
        """Whether it can read the file."""
        ...

    def extract(self, source: Source) -> Sequence[StructuredChunk]:
        """The file's text, in order.

        Raises:
            NotExtracted: it has none, for the reason in the message.
        """
        ...


@dataclass
class Gathered:
    """The chunks of one file as they come, within the bounds.

    `full` turns true when there is no use in going on; `notes` says what was left out.
    """

    chunks: list[StructuredChunk] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    full: bool = False
    _chars: int = 0
    _bytes: int = 0
    _resources: dict[int, Resource] = field(default_factory=dict)
    _until: float = field(default_factory=lambda: time.monotonic() + WORK_S)

    def add(
        self,
        text: str,
        *,
        section: str = "",
        page: int | None = None,
        resources: Sequence[Resource] = (),
    ) -> None:
        """Take one stretch, or as much of it as there is room for."""
        room = MAX_CHARS - self._chars
        if len(text) > room:
            text, self.full = text[:room], True
            self.note(f"only the first {MAX_CHARS:,} characters were read")
        kept = [resource for resource in resources if self._keeps(resource)]
        if len(kept) < len(resources):
            self.note(f"only the first {len(self._resources)} tables and images were kept")
        self._chars += len(text)
        if text.strip() or kept:
            self.chunks.append(StructuredChunk(text, section, page, tuple(kept)))
        if time.monotonic() > self._until and not self.full:
            self.full = True
            self.note(f"only what could be read in {WORK_S:g} s was kept")

    def _keeps(self, resource: Resource) -> bool:
        """Whether there is room for it, or it was kept before."""
        if id(resource) in self._resources:
            return True
        size = self._bytes + len(resource.content)
        if len(self._resources) >= MAX_RESOURCES or size > MAX_RESOURCE_BYTES:
            return False
        self._resources[id(resource)] = resource
        self._bytes = size
        return True

    def result(self) -> list[StructuredChunk]:
        """The chunks; the last one carries what there is to note.

        Raises:
            NotExtracted: there are none.
        """
        if not self.chunks:
            raise NotExtracted("has no text")
        *others, last = self.chunks
        return [*others, replace(last, note="; ".join(self.notes)[:MAX_NOTE_CHARS])]

    def note(self, text: str) -> None:
        """Something for the report, once."""
        if text not in self.notes:
            self.notes.append(text)
