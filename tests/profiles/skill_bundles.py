"""A skill's folder as the documents of the reference show it, for the tests of skills."""

from __future__ import annotations

from pathlib import Path

from edgeward import AgentProfile

HEAD = """---
name: tabular-report
description: Render a list of row dictionaries as a GitHub-flavored Markdown table.
author: kevin                  # optional
tags: [reporting, table]       # optional
version: 1.2
---
"""

BODY = "# Tabular Report\n\nUse this skill when you have row dicts and need a Markdown table."


def bundle(base: Path, head: str = HEAD, *, name: str = "tabular-report", **files: str) -> Path:
    """`skills/<name>` below `base`, as documented; `files` by name with `__` for `/`."""
    folder = base / "skills" / name
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(f"{head}\n{BODY}\n", encoding="utf-8")
    given = files or {"scripts__generate.py": "print('made')\n", "templates__header.md": "| a |\n"}
    for file, text in given.items():
        path = folder / file.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def profile_with(base: Path, **tools: object) -> AgentProfile:
    """A profile in `base` with these settings under `tools:`."""
    return AgentProfile.from_mapping({"id": "a", "name": "A", "tools": tools}, base_dir=base)
