"""A profile with a memory, and agents that play turns with it."""

from __future__ import annotations

import pytest

from edgeward import (
    AgentConfig,
    AgentProfile,
    Mem0Memory,
    ReActAgent,
    RunContext,
    ScriptedModel,
)
from edgeward.profiles.memory.records import Scope
from tests.fakes import WordEmbedder
from tests.wire.server import wire

__all__ = ["wire"]

ALICE = RunContext(user="alice")
SCOPE = Scope("bot", "alice")


@pytest.fixture
def profile(tmp_path):
    """A profile with a memory, in a folder of its own."""
    return AgentProfile.from_mapping({"id": "bot", "name": "B", "memory": {}}, base_dir=tmp_path)


@pytest.fixture
def memory(profile):
    """Its memory, with an embedder that is fast."""
    with Mem0Memory(profile, embedder=WordEmbedder()) as made:
        yield made


def agent(profile, memory, turns, kind=ReActAgent, **more):
    """An agent that plays these turns; without reflection unless it is asked for."""
    more = {"policy": "allow_all", "reflect_after_run": False, **more}
    model = ScriptedModel(turns=turns, order="call")
    return kind(AgentConfig(profile=profile, llm=model, memory=memory, **more))


def kept(memory, scope=SCOPE):
    """(tag, text) of what is kept."""
    return [(r.note.memory_type, r.note.text) for r in memory.records(scope)]


OUTCOME = ("outcome", "Task: read it\nAnswer: done")
