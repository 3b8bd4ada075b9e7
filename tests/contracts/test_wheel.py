"""What is installed is the tree: every file of every room, and nothing beside `edgeward`."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

import edgeward

from .tree import CACHES, ROOMS, ROOT, packaged, pyproject

INFO = f"edgeward-{pyproject()['project']['version']}.dist-info"
BUILD = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> zipfile.Path:
    """A wheel of a copy of the tree, made by the build backend that `pyproject.toml` names."""
    folder = tmp_path_factory.mktemp("build")
    copy = folder / "tree"
    copy.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    for room in ROOMS:
        # Python may just be writing there: a test that runs beside this one imports the package.
        shutil.copytree(ROOT / room, copy / room, ignore=shutil.ignore_patterns(*CACHES))
    dist = folder / "dist"
    dist.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", BUILD, str(dist)],
        cwd=copy,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = dist.glob("*.whl")
    return zipfile.Path(wheel)


def split(names: list[str]) -> tuple[set[str], set[str]]:
    """File names below `edgeward/`, and the top-level names of all others."""
    ours = {name for name in names if name.startswith("edgeward/")}
    return ours, {name.partition("/")[0] for name in set(names) - ours}


def test_the_wheel_holds_the_tree(built: zipfile.Path) -> None:
    """Every module, every YAML file, the whole assistant bundle, `py.typed`; nothing more."""
    ours, others = split([name for name in built.root.namelist() if not name.endswith("/")])
    assert ours == packaged()
    assert {"edgeward/py.typed", "edgeward/profiles/assistant/profile.yaml"} <= ours
    assert "edgeward/policies/default.yaml" in ours
    assert others == {INFO}


def test_the_wheel_offers_the_command(built: zipfile.Path) -> None:
    """The command line is there under its name, and the wheel is made for every platform."""
    info = built / INFO
    assert "edgeward = edgeward.cli:main" in (info / "entry_points.txt").read_text("utf-8")
    assert "Tag: py3-none-any" in (info / "WHEEL").read_text("utf-8")
    assert "License-File: LICENSE" in (info / "METADATA").read_text("utf-8")


def test_the_suite_runs_on_this_tree() -> None:
    """The package under test is this tree itself, or a wheel with the same files."""
    door = Path(edgeward.__file__).resolve().parent
    if door == ROOT / "edgeward":  # an editable install
        return
    files = [file.as_posix() for file in metadata.files("edgeward") or []]
    installed = {name for name in split(files)[0] if "__pycache__" not in name}
    assert installed == packaged()
    assert all(
        (door.parent / name).read_bytes() == (ROOT / source).read_bytes()
        for name, source in sources_of(packaged())
    )


def sources_of(names: set[str]) -> list[tuple[str, str]]:
    """Each file of the package, and where in the tree it comes from."""
    rooms = {inside: room for room, inside in ROOMS.items() if inside}
    pairs = []
    for name in sorted(names):
        _, first, *rest = name.split("/")
        room = rooms.get(first)
        pairs.append((name, "/".join([room, *rest]) if room and rest else name))
    return pairs
