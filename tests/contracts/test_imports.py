"""The rooms import downwards only; SDKs, LangGraph and YAML stay where they belong."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .tree import ROOT, link_package


def contracts(folder: Path) -> subprocess.CompletedProcess[str]:
    """import-linter's verdict on the package in `folder`."""
    program = (
        "import sys; from importlinter.cli import lint_imports;"
        "sys.exit(lint_imports(config_filename=sys.argv[1], no_cache=True))"
    )
    return subprocess.run(
        [sys.executable, "-c", program, str(ROOT / "pyproject.toml")],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_import_contracts_hold(linked: Path) -> None:
    """All of them, on the tree as it is."""
    done = contracts(linked)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 broken" in done.stdout


@pytest.mark.parametrize(
    ("place", "line", "contract"),
    [
        ("guards/leak.py", "from ..policies import schema", "Rooms import downwards only"),
        ("nodes/leak.py", "from ..profiles import llm", "Rooms import downwards only"),
        ("policies/leak.py", "def f():\n    import openai", "Vendor SDKs"),
        ("profiles/leak.py", "import langgraph.graph", "LangGraph stays inside"),
        ("guards/leak.py", "import yaml", "The guard knows neither"),
        ("guards/leak.py", "import langchain_core", "The guard knows neither"),
    ],
)
def test_a_broken_contract_is_seen(tmp_path: Path, place: str, line: str, contract: str) -> None:
    """A module in the wrong room breaks the contract that is meant, also from within a function."""
    folder = link_package(tmp_path / "linked")
    room = folder / "edgeward" / Path(place).parts[0]
    real = room.resolve()
    room.unlink()
    shutil.copytree(real, room, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "edgeward" / place).write_text(f"{line}\n", encoding="utf-8")
    done = contracts(folder)
    assert done.returncode == 1, done.stdout + done.stderr
    broken = [text for text in done.stdout.splitlines() if " BROKEN" in text]
    assert any(text.startswith(contract) for text in broken), done.stdout
