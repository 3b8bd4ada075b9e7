"""The files of a skill: what is listed, and what a model may read.

A name from the model leads to an ordinary file inside the skill's folder or to a refusal that says
which names there are. Nothing in it is decoded, expanded or followed: no `..`, no absolute path,
no link, no `%2e`, no drive, no hidden file.
"""

from __future__ import annotations

import difflib
import os
import stat
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from ...guards.faults import words_of
from ...policies.problems import Problem, either, speak
from .signature import ToolRegistrationError

MAX_FILES = 1_000
"""Files and folders of one skill; whoever names a larger folder meant another one."""

MAX_DEPTH = 8
MAX_READ_BYTES = 200_000
"""Of a file that is longer, the beginning is given."""

MAX_NAME_CHARS = 500
LISTED = 30
"""File names of one sort in the tool's description."""


class SkillLoadError(ToolRegistrationError):
    """A skill that cannot be loaded, or a file of it that cannot be given."""


def listed(folder: Path, *, where: str) -> tuple[str, ...]:
    """The skill's readable files below `folder`, sorted, with `/` between the parts.

    Links, hidden files, compiled Python and names that cannot be printed are left out.

    Raises:
        SkillLoadError: it holds more than a skill may, or cannot be read.
    """
    found: list[str] = []
    seen = 0
    waiting = [(folder, "", 1)]
    while waiting:
        here, prefix, depth = waiting.pop()
        try:
            entries = sorted(os.scandir(here), key=lambda entry: entry.name)
        except OSError as error:
            wrong = f"cannot be read ({words_of(error)})"
            raise SkillLoadError(Problem(where, speak(prefix), wrong)) from None
        for entry in entries:
            seen += 1
            if seen > MAX_FILES:
                fix = "name the skill's own folder, and keep data and packages out of it"
                wrong = f"holds more than {MAX_FILES} files"
                raise SkillLoadError(Problem(where, "", wrong, fix=fix))
            if not _is_shown(entry.name) or entry.is_symlink():
                continue
            if entry.is_dir() and depth < MAX_DEPTH:
                waiting.append((Path(entry.path), f"{prefix}{entry.name}/", depth + 1))
            elif entry.is_file():
                found.append(prefix + entry.name)
    return tuple(sorted(found))


def _is_shown(name: str) -> bool:
    hidden = name.startswith(".") or name == "__pycache__" or name.endswith(".pyc")
    return not hidden and name.isprintable()


def inventory(files: Sequence[str]) -> str:
    """One line for the model: the names of the files, by where they lie.

    A file is listed by its bare name where no other file has it, and `read_file` takes that.
    """
    names = [file.rsplit("/", 1)[-1] for file in files]
    sorts: dict[str, list[str]] = {"scripts": [], "references": [], "resources": []}
    times = Counter(names)
    for file, name in zip(files, names, strict=True):
        top = file.split("/", 1)[0] if "/" in file else ""
        sort = top if top in ("scripts", "references") else "resources"
        sorts[sort].append(name if times[name] == 1 else file)
    parts = [f"{sort}: {_few(sorted(found))}" for sort, found in sorts.items()]
    return f"Bundled files — {'; '.join(parts)}."


def _few(names: Sequence[str]) -> str:
    shown = ", ".join(names[:LISTED])
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return f"{shown}{more}" or "None"


def read_file(folder: Path, name: str, *, skill: str) -> str:
    """The text of one of the skill's files; `folder` is the skill's folder, without links.

    A file that is no text, or longer than `MAX_READ_BYTES`, says so.

    Raises:
        SkillLoadError: the name leads out of the folder, or to no ordinary file.
    """
    path = _found(folder, name, skill)
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        number = os.open(path, flags)
    except OSError as error:
        _refuse(skill, name, f"cannot be read ({words_of(error)})")
    with os.fdopen(number, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            _refuse(skill, name, "is no ordinary file")
        data = file.read(MAX_READ_BYTES + 1)
    return _as_text(data, path.name, status.st_size)


def _as_text(data: bytes, name: str, size: int) -> str:
    whole = len(data) <= MAX_READ_BYTES
    try:
        text = data[:MAX_READ_BYTES].decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # A long text may have been cut in the middle of a letter.
        if whole or error.start < MAX_READ_BYTES - 4:
            return f"({name} is not text: {size} bytes)"
        text = data[: error.start].decode("utf-8-sig")
    if "\0" in text:
        return f"({name} is not text: {size} bytes)"
    return text if whole else f"{text}\n[cut here: {size - MAX_READ_BYTES} more bytes]"


def _found(folder: Path, name: str, skill: str) -> Path:
    """Where the file of this name lies."""
    parts = _parts(folder, name, skill)
    path = folder
    for part in parts:
        path /= part
        if path.is_symlink():
            _refuse(skill, name, "is a link, and links are not followed", folder=folder)
    if not path.exists() and len(parts) == 1:
        files = listed(folder, where=skill)
        same = [file for file in files if file.rsplit("/", 1)[-1] == parts[0]]
        if len(same) > 1:
            _refuse(skill, name, "is the name of several files", allowed=either(same))
        path = folder / same[0] if same else path
    if not path.exists():
        _refuse(skill, name, "there is no such file", folder=folder)
    if not path.is_file():
        _refuse(skill, name, "is no file", folder=folder)
    if not path.resolve().is_relative_to(folder):
        _refuse(skill, name, ESCAPES, folder=folder)
    return path


ESCAPES = "path escapes skill directory"


def _parts(folder: Path, name: str, skill: str) -> list[str]:
    """The parts of a relative path that stays below the folder as it is written."""
    if len(name) > MAX_NAME_CHARS or not name.isprintable():
        _refuse(skill, name, "is not a file's name", folder=folder)
    if name.startswith(("/", "~")) or "\\" in name or ":" in name:
        _refuse(skill, name, ESCAPES, folder=folder)
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if ".." in parts:
        _refuse(skill, name, ESCAPES, folder=folder)
    if not all(map(_is_shown, parts)):
        _refuse(skill, name, "hidden files are not given out", folder=folder)
    return parts


def _refuse(
    skill: str, name: str, wrong: str, *, allowed: str = "", folder: Path | None = None
) -> NoReturn:
    if folder is not None and not allowed:
        files = listed(folder, where=skill)
        near = difflib.get_close_matches(name[:MAX_NAME_CHARS], files, n=3)
        allowed = either(near or files, limit=10)
    raise SkillLoadError(Problem(skill, speak(name), wrong, allowed))
