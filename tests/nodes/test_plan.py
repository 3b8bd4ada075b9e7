"""plan: what counts as a plan, how long it may be, and how its steps are walked (C74)."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, SystemMessage

from edgeward.nodes.plan import steps_in
from tests.fakes import Recorder, agent_graph, ask, on, turn

FORMS: dict[str, tuple[str, list[str]]] = {
    "fenced JSON with chatter": (
        'Sure!\n```json\n{"steps": ["Find", "Sum"]}\n```\nShall I?',
        ["Find", "Sum"],
    ),
    "a fence without a language": ('```\n["Find", "Sum"]\n```', ["Find", "Sum"]),
    "plain JSON": ('{"plan": ["Find", "Sum"]}', ["Find", "Sum"]),
    "a JSON list": ('["Find", "Sum"]', ["Find", "Sum"]),
    "JSON in a sentence": ('Here: {"steps": ["Find", "Sum"]} - good?', ["Find", "Sum"]),
    "JSON objects": ('[{"step": 1, "description": "Find"}, {"task": "Sum"}]', ["Find", "Sum"]),
    "numbers": ("1. Find\n2. Sum", ["Find", "Sum"]),
    "numbers in brackets": ("Plan:\n 1) Find\n 2) Sum\nDone.", ["Find", "Sum"]),
    "the word step": ("Step 1: Find\nStep 2: Sum", ["Find", "Sum"]),
    "dashes": ("- Find\n- Sum", ["Find", "Sum"]),
    "bold numbers": ("1. **Find**\n2. **Sum**", ["Find", "Sum"]),
    "a fenced list": ("```\n1. Find\n2. Sum\n```", ["Find", "Sum"]),
    "empty steps": ('{"steps": ["Find", "", " ", "Sum"]}', ["Find", "Sum"]),
    "no plan": ("I cannot plan", []),
    "nothing": ("", []),
    "an empty plan": ('{"steps": []}', []),
    "broken JSON": ('{"steps": ["Find", ', []),
    "deep JSON": ("[" * 5_000 + "]" * 5_000, []),
    "numbers in JSON": ("[1, 2]", []),
    "a number in a text": ("There are 3. Not a plan", []),
}


@pytest.mark.parametrize("case", FORMS)
def test_forms_of_a_plan(case: str) -> None:
    """Fenced JSON, lists and chatter around them are read; anything else has no steps."""
    text, steps = FORMS[case]
    assert steps_in(text) == steps


def planned(turns: list[Any], **options: Any) -> tuple[dict[str, Any], list[Any]]:
    """The state after a run of plan_and_solve, and the messages of every model call."""
    from langgraph.checkpoint.memory import InMemorySaver

    graph = agent_graph(
        turns, strategy="plan_and_solve", order="call", checkpointer=InMemorySaver(), **options
    )
    graph.invoke(ask("the task"), on())
    model = graph.nodes["act"].bound._work.model  # type: ignore[attr-defined]
    return graph.get_state(on()).values, model.requests


def test_three_phases() -> None:
    """A plan, each step in turn with what came before, and an answer from all results (D120)."""
    values, asked = planned(["1. Find\n2. Sum", "found 7", "summed", "the answer"])
    assert values["plan"]["steps"] == ["Find", "Sum"]
    assert values["plan"]["results"] == ["found 7", "summed"]
    assert values["messages"][-1].text == "the answer"
    assert [type(messages[0]) for messages in asked] == [SystemMessage] * 4
    assert "Do step 1 now" in asked[1][0].text
    assert "1. Find -> found 7" in asked[2][0].text
    assert "Do step 2 now" in asked[2][0].text
    assert "2. Sum -> summed" in asked[3][0].text
    assert "Do step" not in asked[3][0].text


def test_no_plan_is_one_step() -> None:
    """A reply in which there is no plan makes one step: the task."""
    values, _ = planned(["I cannot plan", "did it", "the answer"])
    assert values["plan"]["steps"] == ["the task"]


def test_plan_is_cut() -> None:
    """A plan of fifty steps is cut at max_steps."""
    plan = "\n".join(f"{n}. step {n}" for n in range(1, 51))
    values, asked = planned([plan, *["did it"] * 5, "the answer"], max_steps=5)
    assert len(values["plan"]["steps"]) == 5
    assert len(asked) == 7


def test_substeps_are_bounded() -> None:
    """A step that never ends is left after its rounds, and the others still have theirs."""
    recorder = Recorder()
    call = turn(("pay", {"what": "a"}, "c"))
    turns = ["1. Find\n2. Sum", call, call, call, call, "summed", "the answer"]
    values, _ = planned(turns, tools=[recorder.tool("pay")])
    assert values["plan"]["results"] == ["(not finished within its limit)", "summed"]
    assert len(recorder.runs) == 4


def test_step_that_names_no_tool() -> None:
    """A step that calls a tool which does not exist is not fatal."""
    values, _ = planned(["1. Find", turn(("serch", {}, "c")), "gave up", "the answer"])
    assert values["plan"]["results"] == ["gave up"]


def test_planner_that_plans_again() -> None:
    """A model that writes a plan in place of every answer comes to an end."""
    values, asked = planned(["1. Plan\n2. Plan again"] * 20, max_steps=3)
    assert len(asked) == 4
    assert values["run"]["stopped"] == ""


def test_second_task_has_a_plan_of_its_own() -> None:
    """The next message of the thread is planned anew."""
    from langgraph.checkpoint.memory import InMemorySaver

    graph = agent_graph(
        ["1. One", "first", "answer", "1. Two", "second", "answer"],
        strategy="plan_and_solve",
        order="call",
        checkpointer=InMemorySaver(),
    )
    graph.invoke(ask(), on())
    graph.invoke(ask(), on())
    assert graph.get_state(on()).values["plan"]["steps"] == ["Two"]


@pytest.mark.parametrize("given", [[], [AIMessage("x")], [SystemMessage("x")]], ids=repr)
def test_without_a_word_of_the_user(given: list[Any]) -> None:
    """A thread in which the user said nothing yet is planned all the same."""
    graph = agent_graph(["1. One", "first", "answer"], strategy="plan_and_solve", order="call")
    result = graph.invoke({"messages": given})
    assert result["messages"][-1].text == "answer"


def test_plan_holds_no_secret() -> None:
    """A key that the model writes into its plan or a result is not kept."""
    key = "sk-proj-TESTTESTTESTTESTTEST"
    values, _ = planned([f"1. Use {key}", f"used {key}", f"{key} was used"])
    assert key not in str(values)


def test_blank_result_is_not_the_one_before() -> None:
    """A step whose reply is empty does not take the reply of another step for its result."""
    values, _ = planned(["1. One\n2. Two", "first", "", "answer"])
    assert values["plan"]["results"][0] == "first"
    assert values["plan"]["results"][1] != "first"
