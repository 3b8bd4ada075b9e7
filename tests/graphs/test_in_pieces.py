"""A key that is split over the calls of one turn, or over turns, does not leave whole."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from tests.fakes import Recorder, agent_graph, ask, on, turn

FIRST, SECOND = "sk-proj-Ab3dEf6hIj9k", "Lm2nOp5rSt8vWx1zAb4dEf7hIj0k"


def sent(recorder: Recorder) -> str:
    return "".join(arguments["what"] for _, arguments in recorder.runs)


@pytest.mark.parametrize("order", [(FIRST, SECOND), (SECOND, FIRST)])
def test_parallel_calls(order: tuple[str, str]) -> None:
    """Both halves in one turn: neither goes out; an ordinary call beside them does."""
    recorder = Recorder()
    calls = [("pay", {"what": half}, f"c{n}") for n, half in enumerate(order)]
    both = turn(*calls, ("pay", {"what": "the weather"}, "c9"))
    graph = agent_graph([both, "done"], tools=[recorder.tool("pay")])
    graph.invoke(ask())
    assert sent(recorder) == "the weather"


@pytest.mark.parametrize("count", [3, 5])
def test_more_parallel_calls(count: int) -> None:
    """In three or five parts, whatever their order."""
    key, size = FIRST + SECOND, -(-48 // count)
    parts = [key[at : at + size] for at in range(0, len(key), size)]
    for order in list(permutations(parts))[:: 7 if count == 5 else 1]:
        recorder = Recorder()
        calls: Any = [("pay", {"what": part}, f"c{n}") for n, part in enumerate(order)]
        agent_graph([turn(*calls), "done"], tools=[recorder.tool("pay")]).invoke(ask())
        assert recorder.runs == []


def test_successive_calls_and_runs() -> None:
    """One half in one run, the other after the user spoke again: the second stays."""
    recorder = Recorder()
    turns: list[Any] = [turn(("pay", {"what": FIRST}, "c0")), "done"]
    turns += [turn(("pay", {"what": SECOND}, "c1")), "done"]
    graph = agent_graph(turns, tools=[recorder.tool("pay")], checkpointer=InMemorySaver())
    graph.invoke(ask(), on())
    graph.invoke(ask(), on())
    assert sent(recorder) == FIRST


def test_another_thread_is_another_window() -> None:
    """What one thread sent is no piece of another's calls."""
    recorder = Recorder()
    turns = [lambda said: turn(("pay", {"what": said[-1].text}, "c0")), "done"]
    graph = agent_graph(turns, tools=[recorder.tool("pay")], checkpointer=InMemorySaver())
    graph.invoke(ask(FIRST), on("a"))
    graph.invoke(ask(SECOND), on("b"))
    assert sent(recorder) == FIRST + SECOND
