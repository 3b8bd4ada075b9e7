"""The files of a folder of documents: those that are really in it."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ...guards.faults import words_of
from .content import NotExtracted

MAX_FILES = 100_000
MAX_READ_BYTES = 500_000_000
"""Of one file: an extractor of the user's own may take more than the built-in ones do."""


@dataclass(frozen=True, slots=True)
class Listing:
    """What a folder holds: the files by their path below it, in order, and what is left out."""

    files: tuple[str, ...]
    skipped: tuple[tuple[str, str], ...] = ()
    """Path and reason. Hidden files and folders are left out without a word."""


def list_files(root: Path, *, without: Path | None = None) -> Listing:
    """The files below `root`; `without` is a folder that is none of them (the index).

    Links are not followed, and neither are they read: what a link leads to may lie anywhere.
    """
    inside: list[str] = []
    skipped: list[tuple[str, str]] = []
    barred = None if without is None else without.resolve()

    def closed(error: OSError) -> None:
        skipped.append((_shown(_below(root, Path(error.filename))), "is a closed folder"))

    for folder, folders, names in os.walk(root.resolve(), onerror=closed, followlinks=False):
        here = Path(folder)
        kept = []
        for name in sorted(folders):
            path = here / name
            if name.startswith(".") or path == barred:
                continue
            if path.is_symlink():
                skipped.append((_shown(_below(root, path)), "is a link"))
            else:
                kept.append(name)
        folders[:] = kept
        for name in sorted(names):
            if name.startswith((".", "~$")):
                continue
            below = _below(root, here / name)
            if reason := _barred(here / name, below):
                skipped.append((_shown(below), reason))
            else:
                inside.append(below)
    skipped += [(name, f"is one too many: {MAX_FILES:,} are read") for name in inside[MAX_FILES:]]
    return Listing(tuple(inside[:MAX_FILES]), tuple(skipped))


def _barred(path: Path, below: str) -> str:
    """Why a file is none that can be read, if so."""
    try:
        mode = path.lstat().st_mode
    except OSError as error:  # it was there a moment ago
        return f"cannot be read ({words_of(error)})"
    if not stat.S_ISREG(mode):
        return "is a link" if stat.S_ISLNK(mode) else "is no file"
    return "" if _shown(below) == below else "has a name that is no text"


def _shown(below: str) -> str:
    """A path as text, also where the system's bytes for it are none."""
    return below.encode("utf-8", "replace").decode()


def _below(root: Path, path: Path) -> str:
    return path.relative_to(root.resolve()).as_posix()


def read_file(root: Path, name: str) -> tuple[bytes, str]:
    """A file's content and its SHA-256, both of one reading.

    Raises:
        NotExtracted: it is gone, cannot be read, is too big, or leads out of the folder.
    """
    base = root.resolve()
    path = base / name
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    flags |= getattr(os, "O_BINARY", 0)
    try:
        if path.parent.resolve() != path.parent:
            raise NotExtracted("leads out of the folder")
        with open(os.open(path, flags), "rb") as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode):
                raise NotExtracted("is no file")
            if about.st_size > MAX_READ_BYTES:
                raise NotExtracted(f"is bigger than {MAX_READ_BYTES:,} bytes")
            data = b"".join(_pieces(file))
    except OSError as error:
        raise NotExtracted(f"cannot be read ({words_of(error)})", passing=True) from error
    return data, hashlib.sha256(data).hexdigest()


def _pieces(file: object) -> Iterator[bytes]:
    left = MAX_READ_BYTES
    while left > 0 and (piece := file.read(min(left, 1 << 20))):  # type: ignore[attr-defined]
        left -= len(piece)
        yield piece
