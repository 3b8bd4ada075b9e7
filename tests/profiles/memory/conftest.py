"""A memory in a folder of the test's own, with an embedder that is fast."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from edgeward.profiles.memory.memory import Mem0Memory
from edgeward.profiles.memory.records import Note, Scope
from edgeward.profiles.schema import AgentProfile
from tests.fakes import WordEmbedder

Make = Callable[..., Mem0Memory]

ALICE = Scope("bot", "alice")
BOB = Scope("bot", "bob")


def said(text: str, **more: Any) -> Note:
    """A note of what the user said."""
    return Note(text, "trajectory", **{"role": "user", "trust": "user", **more})


@pytest.fixture
def make(tmp_path) -> Iterator[Make]:
    """Open the memory of a profile with these keys in its `memory:` mapping; all are closed."""
    made: list[Mem0Memory] = []

    def opened(*, agent: str = "bot", embedder: Any = None, **block: Any) -> Mem0Memory:
        profile = AgentProfile.from_mapping(
            {"id": agent, "name": "B", "memory": block}, base_dir=tmp_path
        )
        made.append(Mem0Memory(profile, embedder=embedder or WordEmbedder()))
        return made[-1]

    yield opened
    for memory in made:
        memory.close()
