"""A policy file with a given text."""

from __future__ import annotations

from pathlib import Path


def write(folder: Path, text: str) -> Path:
    """A policy file with this text."""
    path = folder / "policy.yaml"
    path.write_text(text, encoding="utf-8")
    return path
