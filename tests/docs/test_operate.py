"""`docs/operate.md` is a session: its files are written, its commands run, in order, as shown."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from .blocks import ROOT, blocks_of

PAGE = ROOT / "docs" / "operate.md"


def run(command: str, folder: Path) -> str:
    """What a command prints; the project's own is this interpreter's."""
    own = f'"{sys.executable}" -m edgeward '
    done = subprocess.run(
        re.sub(r"^edgeward ", own.replace("\\", "/"), command),
        shell=True,
        cwd=folder,
        env={**os.environ, "COLUMNS": "500", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


def test_the_page_is_a_session(tmp_path: Path) -> None:
    """What each command prints is what stands there."""
    shown, printed, output = [], [], ""
    for block in blocks_of(PAGE):
        if block.language == "yaml" and block.file:
            path = tmp_path / block.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            output = run(f"\"{sys.executable}\" -c '{block.text}'", tmp_path)
        elif not block.language:
            shown.append(block.text.strip())
            printed.append(output.strip())
        elif block.language == "console":
            for step in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
                command, _, expected = step.partition("\n")
                shown.append(f"$ {command}\n{expected.strip()}")
                printed.append(f"$ {command}\n{run(command, tmp_path).strip()}")
    assert printed == shown
    assert len(shown) > 6
