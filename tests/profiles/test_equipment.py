"""What a profile equips an agent with, and that it is closed once."""

from __future__ import annotations

import gc

import pytest

from edgeward import AgentProfile, ScriptedModel, load_policy, load_strategy
from edgeward.graphs.compile import Parts, compile_strategy
from edgeward.profiles.equipment import Equipment, Given, equip


def test_everything_is_closed_once_whatever_fails_to_close() -> None:
    """The last opened is closed first, and a failure keeps nothing open."""
    closed: list[str] = []

    def fails() -> None:
        closed.append("second")
        raise OSError("gone")

    opened = Equipment(closers=(lambda: closed.append("first"), fails))
    with pytest.raises(OSError, match="gone"):
        opened.close()
    assert closed == ["second", "first"]


def test_a_profile_without_tools_equips_with_nothing() -> None:
    """And closing it twice is fine."""
    found = equip(AgentProfile.from_mapping({"id": "a", "name": "A"}))
    assert found.tools == ()
    found.close()
    found.close()


@pytest.mark.parametrize("given", [object(), "memory", {"add": 1}])
def test_a_memory_that_is_none_is_refused(given: object) -> None:
    """Else nothing would be kept, and nobody would hear of it."""
    profile = AgentProfile.from_mapping({"id": "a", "name": "A"})
    with pytest.raises(TypeError, match=r"memory: a \w+ has neither search_records"):
        equip(profile, Given(memory=given))


@pytest.mark.parametrize("way", ["closed", "closed twice", "forgotten"])
def test_a_graph_closes_once_what_it_was_equipped_with(way: str) -> None:
    """When it is told to, and at the latest when nothing refers to it."""
    closed: list[str] = []
    parts = Parts(
        policy=load_policy(None),
        model=ScriptedModel(),
        equipment=Equipment(closers=(lambda: closed.append("x"),)),
    )
    graph = compile_strategy(load_strategy("simple"), parts)
    for _ in range(("forgotten", "closed", "closed twice").index(way)):
        graph.close()
    assert len(closed) == (way != "forgotten")
    del graph
    gc.collect()
    assert closed == ["x"]
