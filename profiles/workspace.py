"""The folder that a run of a file-based agent works in: its inbox, its documents, its outbox.

Tools ask for it with `workspace(...)` on every call, so that one loaded tool serves any number of
runs. First that applies:

1. the folder of an enclosing `use_workspace(folder)` (kept per thread and per task: runs side by
   side do not meet);
2. the environment variable `EDGEWARD_WORKSPACE` (a path; for servers and shells);
3. `<name>-workspace` below the current directory.

A folder that does not exist yet is created from the seed: a first run has something to work on.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

VARIABLE = "EDGEWARD_WORKSPACE"

_chosen: ContextVar[Path | None] = ContextVar("edgeward_workspace", default=None)


@contextmanager
def use_workspace(folder: str | Path) -> Iterator[Path]:
    """Every tool that runs inside this block works in `folder` (created on first use)."""
    path = Path(folder).absolute()
    token = _chosen.set(path)
    try:
        yield path
    finally:
        _chosen.reset(token)


def workspace(name: str, *, seed: Path) -> Path:
    """The folder to work in now, as an absolute path; created from `seed` if it is not there.

    Raises:
        FileNotFoundError: there is neither such a folder nor a seed to create it from.
    """
    stated = os.environ.get(VARIABLE, "").strip()
    folder = _chosen.get() or Path(stated or f"{name}-workspace").absolute()
    if not folder.is_dir():
        copy_seed(seed, to=folder)
    return folder


def copy_seed(seed: Path, *, to: Path) -> None:
    """Copy the seed folder to `to`, whole or not at all; a folder that is there stays as it is.

    The copy is made beside its place and renamed into it: of two tools that run side by side in a
    first step, neither sees a half-filled folder.
    """
    to.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".edgeward-", dir=to.parent) as beside:
        copy = Path(beside) / "seed"
        shutil.copytree(seed, copy)
        try:
            copy.rename(to)
        except OSError:
            if not to.is_dir():
                raise
