"""Graphs can be copied and pickled; what comes out is a guarded graph with a key of its own."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cloudpickle
import pytest

from edgeward import LockedGraph, LockViolation, ScriptedModel, build_graph
from edgeward.profiles.scripted import call


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def graph(checkpointer: str | Path | None = None) -> LockedGraph:
    """A graph whose model adds once."""
    model = ScriptedModel(turns=[call("add", a=1, b=2), "It is 3.", "Yes."])
    policy = {
        "version": 2,
        "tools": {"add": "allow"},
        "arg_rules": [{"name": "no", "reason": "no", "regex": "forbidden"}],
    }
    return build_graph("react", policy=policy, model=model, tools=[add], checkpointer=checkpointer)


def pickled(value: LockedGraph) -> LockedGraph:
    """The graph after a round trip through bytes."""
    made: LockedGraph = cloudpickle.loads(cloudpickle.dumps(value))
    return made


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickled])
@pytest.mark.parametrize("kept", [None, "memory", "sqlite"])
def test_copy_runs(
    copied: Callable[[LockedGraph], LockedGraph], kept: str | None, tmp_path: Path
) -> None:
    """A copy of any kind runs, keeps its threads where the original does, and stays locked."""
    where: Any = tmp_path / "threads.sqlite" if kept == "sqlite" else kept
    original = graph(where)
    made = copied(original)
    thread = {"configurable": {"thread_id": "one"}} if kept else {}
    messages = made.invoke({"messages": [("user", "1 + 2?")]}, thread)["messages"]
    assert [m.text for m in messages] == ["1 + 2?", "", "3", "It is 3."]
    if kept == "sqlite":
        again = original.invoke({"messages": [("user", "Sure?")]}, thread)["messages"]
        assert again[-1].text == "Yes."
    with pytest.raises(LockViolation):
        made.update_state(thread, {})
    for each in {id(g.checkpointer): g.checkpointer for g in (original, made)}.values():
        if kept == "sqlite":
            each.close()


def test_settings_survive() -> None:
    """What was bound with `with_config` is bound in the copy too."""
    bound = graph().with_config(tags=["mine"])
    assert pickled(bound).config["tags"] == ["mine"]
