"""Fixtures for the tests of profiles: the wire server, and a profile written to disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from edgeward.profiles.schema import AgentProfile
from tests.wire.server import wire

__all__ = ["load", "wire"]

Load = Callable[..., AgentProfile]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Write `text` (the lines below `agent:`) as a bundle, and load it."""

    def loaded(text: str, **files: str) -> AgentProfile:
        for name, content in files.items():
            file = tmp_path / name.replace("__", "/").replace("_DOT_", ".")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content, encoding="utf-8")
        lines = "".join(f"  {line}\n" if line else "\n" for line in text.strip("\n").split("\n"))
        (tmp_path / "profile.yaml").write_text(f"agent:\n{lines}", encoding="utf-8")
        return AgentProfile.from_yaml(tmp_path / "profile.yaml")

    return loaded
