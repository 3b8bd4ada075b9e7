"""The package passes the type checker, strictly."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .tree import ROOT


@pytest.mark.slow
def test_the_types_hold(linked: Path, tmp_path: Path) -> None:
    """`mypy --strict` has nothing to say of any module."""
    config = ROOT / "pyproject.toml"
    options = ["--strict", "--config-file", str(config), "--cache-dir", str(tmp_path / "cache")]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, "-p", "edgeward"],
        cwd=linked,
        env={**os.environ, "MYPYPATH": str(linked)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
