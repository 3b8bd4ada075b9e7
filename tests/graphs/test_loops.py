"""A run that goes in circles is told, then ended; honest polling is left alone (C22)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from langchain_core.messages import AIMessage, SystemMessage
from langgraph.checkpoint.memory import InMemorySaver

from edgeward.graphs.build import build_graph
from edgeward.profiles.scripted import ScriptedModel, call

from fakes import ask, on


def answering(name: str, results: Iterator[str]) -> Callable[..., str]:
    """A tool that gives one result after the other."""

    def tool(what: str = "") -> str:
        """Does something."""
        return next(results)

    tool.__name__ = name
    return tool


def again(name: str, times: int = 12, **arguments: Any) -> list[AIMessage]:
    """The same call again and again."""
    return [call(name, call_id=f"{name}_{n}", **arguments) for n in range(times)]


def played(turns: list[Any], strategy: str = "react", **rules: Any) -> tuple[int, str, list[int]]:
    """How often the model was asked, why the run stopped, and when the model was told."""
    model = ScriptedModel(turns=turns, order="call")
    tools = [
        answering("search", itertools.repeat("nothing found")),
        answering("wait", itertools.repeat("ok")),
        answering("poll", iter([f"{n}%" for n in range(0, 101, 5)])),
        answering("flicker", itertools.cycle(["busy", "queued"])),
        answering("run_shell", itertools.repeat("never")),
    ]
    policy = {"version": 2, "default": "allow", "tools": {"run_shell": "block"}, **rules}
    graph = build_graph(
        strategy,
        model=model,
        tools=tools,
        policy=policy,
        max_steps=30,
        checkpointer=InMemorySaver(),
    )
    messages = graph.invoke(ask(), on())["messages"]
    answered = {m.tool_call_id for m in messages if m.type == "tool"}
    assert all(c["id"] in answered for m in messages if m.type == "ai" for c in m.tool_calls)
    told = [
        number
        for number, request in enumerate(model.requests)
        if any(isinstance(m, SystemMessage) and "nothing new came of it" in m.text for m in request)
    ]
    return len(model.requests), graph.get_state(on()).values["run"]["stopped"], told


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("run_shell", {"what": "ls"}), ("serch", {"q": "x"}), ("search", {"what": "x"})],
)
def test_C22_the_same_call_is_told_after_three_and_ended_after_five(
    name: str, arguments: dict[str, Any]
) -> None:
    """A denied tool, a tool that does not exist, and one that always says the same."""
    assert played(again(name, **arguments)) == (5, "loop", [3])


def test_C22_polling_with_changing_results_goes_through() -> None:
    """Each result is new, so nothing is counted."""
    assert played([*again("poll", 6), "done"]) == (7, "", [])


def test_polling_with_a_wait_in_between_goes_through() -> None:
    """The wait always says the same; that the poll moves on is progress enough."""
    turns = [x for pair in zip(again("wait", 8), again("poll", 8), strict=True) for x in pair]
    assert played([*turns, "done"]) == (17, "", [])


def test_a_result_that_flickers_is_no_loop() -> None:
    """The count begins again whenever the result differs from the last."""
    assert played([*again("flicker", 8), "done"]) == (9, "", [])


def test_a_circle_of_two_calls_ends() -> None:
    """A, B, A, B: both repeat, and nothing new comes of either."""
    turns = [x for pair in zip(again("search"), again("wait"), strict=True) for x in pair]
    asked, stopped, _ = played(turns)
    assert (asked, stopped) == (9, "loop")


def test_refused_calls_are_no_progress() -> None:
    """New calls that are refused as well do not hide the one that repeats."""
    refused = [call("run_shell", call_id=f"r{n}", what=str(n)) for n in range(12)]
    turns = [x for pair in zip(again("serch"), refused, strict=True) for x in pair]
    asked, stopped, _ = played(turns)
    assert (asked, stopped) == (9, "loop")


def test_other_arguments_are_another_call() -> None:
    """Work on many things with one tool is no loop."""
    turns = [call("search", call_id=f"c{n}", what=str(n)) for n in range(12)]
    assert played([*turns, "done"]) == (13, "", [])


def test_arguments_that_cannot_be_read_repeat_as_well() -> None:
    """A model that writes the same broken call is ended, too."""
    broken = {"name": "search", "args": '{"what": "x', "error": "cut", "type": "invalid_tool_call"}
    turns = [AIMessage("", invalid_tool_calls=[{**broken, "id": f"b{n}"}]) for n in range(9)]
    assert played(turns) == (5, "loop", [3])


def test_the_same_call_many_times_in_one_turn_counts_once() -> None:
    """The model could not know what would come of it."""
    calls = [{"name": "search", "args": {"what": "x"}, "id": f"c{n}"} for n in range(6)]
    assert played([AIMessage("", tool_calls=calls), "done"]) == (2, "", [])


@pytest.mark.parametrize(
    ("repeats", "expected"),
    [(8, (8, "loop", [4])), ({"search": 10}, (10, "loop", [6])), ({"wait": 50}, (5, "loop", [3]))],
)
def test_the_bound_is_the_policys(repeats: Any, expected: tuple[int, str, list[int]]) -> None:
    """For all tools, or for the one that is named as fit for waiting."""
    assert played(again("search", what="x"), limits={"repeats": repeats}) == expected


def test_a_plan_ends_with_a_sum_of_what_there_is() -> None:
    """The loop ends the walk through the plan; the closing node still answers."""
    turns = ["1. look\n2. look again", *again("search", 2), "half", *again("search", 9)]
    asked, stopped, _ = played([*turns, "the end"], "plan_and_solve", limits={"repeats": 2})
    assert stopped == "loop"
    assert asked <= 5
