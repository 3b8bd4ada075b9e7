"""What the source tree holds, as the contract tests look at it."""

from __future__ import annotations

import ast
import sys
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]

ROOMS = {
    "edgeward": "",
    "graphs": "graphs",
    "guards": "guards",
    "nodes": "nodes",
    "policies": "policies",
    "profiles": "profiles",
}
"""Folder of the tree -> folder of the package."""

CACHES = frozenset({"__pycache__", ".mypy_cache", ".ruff_cache"})


def files_of(folder: str, pattern: str = "*") -> list[Path]:
    """The files below a folder of the tree, without what tools left behind."""
    found = (ROOT / folder).rglob(pattern)
    return sorted(path for path in found if path.is_file() and not CACHES & set(path.parts))


def sources() -> list[Path]:
    """Every Python file of the rooms."""
    return [path for room in ROOMS for path in files_of(room, "*.py")]


def shown(path: Path) -> str:
    """A path as a test's name shows it."""
    return path.relative_to(ROOT).as_posix()


def packaged() -> set[str]:
    """What a wheel of this tree must hold: every file of every room, at its place."""
    return {
        str(PurePosixPath("edgeward", inside, path.relative_to(ROOT / room).as_posix()))
        for room, inside in ROOMS.items()
        for path in files_of(room)
    }


@cache
def pyproject() -> dict[str, Any]:
    """What `pyproject.toml` says."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@cache
def parsed(path: Path) -> ast.Module:
    """The syntax tree of a Python file."""
    return ast.parse(path.read_text(encoding="utf-8"))


def link_package(folder: Path) -> Path:
    """The package as it is when installed, made of links to the rooms; gives its parent folder.

    For tools that read packages as folders: in the tree the rooms lie beside the door.
    """
    package = folder / "edgeward"
    package.mkdir(parents=True)
    for entry in (ROOT / "edgeward").iterdir():
        if entry.name not in CACHES:
            (package / entry.name).symlink_to(entry)
    for room, inside in ROOMS.items():
        if inside:
            (package / inside).symlink_to(ROOT / room, target_is_directory=True)
    return folder
