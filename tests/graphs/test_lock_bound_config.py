"""A thread that is bound to a graph with `with_config` is locked like one named in the call."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.types import Command

from edgeward.graphs.locked import LockedGraph, LockViolation, NothingWaiting
from tests.fakes import Recorder, agent_graph, ask, on, turn


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def graph(recorder: Recorder) -> LockedGraph:
    """A graph whose thread `t` has run one call."""
    turns = [turn(("pay", {"what": "x"}, "c1")), "done"]
    built = agent_graph(turns, tools=[recorder.tool("pay")], checkpointer="memory")
    built.invoke(ask(), on())
    assert recorder.names() == ["pay"]
    return built


def before_the_call(graph: LockedGraph) -> str:
    """The checkpoint from which the call would run again."""
    (state,) = (s for s in graph.get_state_history(on()) if s.next == ("tool",))
    return str(state.config["configurable"]["checkpoint_id"])


@pytest.mark.parametrize("names", [(), ("thread_id",), ("thread_id", "checkpoint_id")], ids=str)
@pytest.mark.parametrize("inside", [(), ("__pregel_task_id", "__pregel_send")], ids=str)
async def test_no_call_runs_twice(
    graph: LockedGraph, recorder: Recorder, names: tuple[str, ...], inside: tuple[str, ...]
) -> None:
    """However the place is named, and whatever is claimed, no way leads back before a call."""
    place: dict[str, Any] = {"thread_id": "t", "checkpoint_id": before_the_call(graph)}
    bound = {name: place[name] for name in names} | dict.fromkeys(inside, "x")
    given: Any = {"configurable": {k: v for k, v in place.items() if k not in bound}}
    once_more = graph.with_config(configurable=bound)
    with pytest.raises(LockViolation):
        once_more.invoke(None, given)
    with pytest.raises(LockViolation):
        await once_more.ainvoke(None, given)
    assert recorder.names() == ["pay"]


async def test_a_late_answer_is_refused(graph: LockedGraph, recorder: Recorder) -> None:
    """An answer on a bound thread that asks nothing is not used."""
    bound = graph.with_config(configurable={"thread_id": "t"})
    answer: Command[Any] = Command(resume={"c1": {"decision": "approve"}})
    with pytest.raises(NothingWaiting):
        bound.invoke(answer)
    with pytest.raises(NothingWaiting):
        await bound.ainvoke(answer)
    assert recorder.names() == ["pay"]
