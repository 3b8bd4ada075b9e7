"""The fenced blocks of the project's documents."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("**/*.md"))]

_FENCE = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"\A# (?P<name>[\w./-]+\.(?:yaml|py))\n")


@dataclass(frozen=True)
class Block:
    """One fenced block. `file` is the name that its first comment line gives it, or empty."""

    document: Path
    line: int
    language: str
    text: str

    @property
    def file(self) -> str:
        named = _FILE.match(self.text)
        return named["name"] if named else ""

    @property
    def place(self) -> str:
        return f"{self.document.relative_to(ROOT).as_posix()}:{self.line}"


def blocks(*languages: str) -> list[Block]:
    """The blocks in these languages, of all documents."""
    return [block for path in DOCUMENTS for block in blocks_of(path) if block.language in languages]


def blocks_of(document: Path) -> list[Block]:
    """Every fenced block of a document, in order."""
    text = document.read_text(encoding="utf-8")
    return [
        Block(document, text.count("\n", 0, found.start()) + 1, found["language"], found["text"])
        for found in _FENCE.finditer(text)
    ]


def marked_commands(document: Path) -> dict[str, str]:
    """The command lines that a comment `# edgeward: <name>` marks, by name.

    Raises:
        AssertionError: two lines have one name.
    """
    commands: dict[str, str] = {}
    for block in blocks_of(document):
        for line in block.text.splitlines():
            command, mark, name = line.partition("# edgeward: ")
            if mark:
                assert name not in commands, f"two lines are marked {name!r}"
                commands[name] = command.strip()
    return commands
