"""plan: how long a plan may be, how its steps are walked, and when it is made anew (C74, D120)."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langgraph.checkpoint.memory import InMemorySaver

from edgeward.nodes.plan import FAILED
from tests.fakes import Recorder, agent_graph, ask, on, turn


def planned(
    turns: list[Any], strategy: Any = "plan_and_solve", **options: Any
) -> tuple[dict[str, Any], list[Any]]:
    """The state after a run, and the messages of every model call."""
    graph = agent_graph(
        turns, strategy=strategy, order="call", checkpointer=InMemorySaver(), **options
    )
    graph.invoke(ask("the task"), on())
    model = graph.nodes["act"].bound._ruled.current.work.model  # type: ignore[attr-defined]
    return graph.get_state(on()).values, model.requests


def test_d120_three_phases() -> None:
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


def test_c74_no_plan_is_one_step() -> None:
    """A reply in which there is no plan makes one step: the task."""
    values, _ = planned(["I cannot plan", "did it", "the answer"])
    assert values["plan"]["steps"] == ["the task"]


def test_c74_plan_is_cut() -> None:
    """A plan of fifty steps is cut at max_steps."""
    plan = "\n".join(f"{n}. step {n}" for n in range(1, 51))
    values, asked = planned([plan, *["did it"] * 5, "the answer"], max_steps=5)
    assert len(values["plan"]["steps"]) == 5
    assert len(asked) == 7


def test_d120_substeps_are_bounded() -> None:
    """A step that never ends is left after its rounds, and the others still have theirs."""
    recorder = Recorder()
    call = turn(("pay", {"what": "a"}, "c"))
    turns = ["1. Find\n2. Sum", call, call, call, call, "summed", "the answer"]
    values, _ = planned(turns, tools=[recorder.tool("pay")])
    assert values["plan"]["results"] == ["(not finished within its limit)", "summed"]
    assert len(recorder.runs) == 4


def test_c74_step_that_names_no_tool() -> None:
    """A step that calls a tool which does not exist is not fatal."""
    values, _ = planned(["1. Find", turn(("serch", {}, "c")), "gave up", "the answer"])
    assert values["plan"]["results"] == ["gave up"]


def test_c74_planner_that_plans_again() -> None:
    """A model that writes a plan in place of every answer comes to an end."""
    values, asked = planned(["1. Plan\n2. Plan again"] * 20, max_steps=3)
    assert len(asked) == 4
    assert values["run"]["stopped"] == ""


CALL = turn(("pay", {"what": "a"}, "c"))
STUCK = [CALL, CALL, CALL]
"""A step that uses up its rounds: the guard lets three through."""


def test_an_incomplete_step_is_not_reported_as_answered() -> None:
    """The run says why it stopped, whatever the last answer makes of it (reference fault 1.3)."""
    turns = ["1. Find\n2. Sum", *STUCK, "summed", "all is well"]
    values, _ = planned(turns, tools=[Recorder().tool("pay")])
    assert values["plan"]["results"] == ["(not finished within its limit)", "summed"]
    assert values["run"]["stopped"] == "max_steps"
    values, _ = planned(["1. Find\n2. Sum", f"{FAILED}: no such file", "summed", "all is well"])
    assert values["run"]["stopped"] == "incomplete"
    values, _ = planned(["1. Find\n2. Sum", "", "summed", "all is well"])
    assert values["run"]["stopped"] == "incomplete"


CUT = AIMessage("The first half of", response_metadata={"finish_reason": "length"})


def test_a_step_whose_answer_was_cut_off_is_not_done() -> None:
    """The model reads that the end is missing, and the run is not reported as answered; the step
    after it is done all the same."""
    values, asked = planned(["1. Find\n2. Sum", CUT, "summed", "all is well"])
    cut, done = values["plan"]["results"]
    assert cut.startswith("The first half of [cut off here")
    assert (done, values["plan"]["failed"]) == ("summed", [0])
    assert cut in asked[2][0].text
    assert values["run"]["stopped"] == "incomplete"


@pytest.mark.parametrize(("end", "told"), [("content_filter", "the provider withheld"), ("", "")])
def test_what_a_step_ended_with_is_not_what_the_run_ended_with(end: str, told: str) -> None:
    """A step whose answer was withheld or empty is not done; the answer at the end is whole."""
    poor = AIMessage("Half" if end else "", response_metadata={"finish_reason": end})
    values, _ = planned(["1. Find\n2. Sum", poor, "summed", "the answer"])
    assert values["messages"][-1].text == "the answer"
    assert values["run"]["stopped"] == "incomplete"
    assert told in values["plan"]["results"][0]


def test_a_step_that_was_cut_off_is_planned_anew() -> None:
    """And where the other way went well, the run is answered."""
    values, _ = planned(["1. Find", CUT, "1. Ask", "asked", "done"], "plan_and_execute")
    assert values["plan"]["steps"] == ["Find", "Ask"]
    assert values["plan"]["results"][1] == "asked"
    assert values["run"]["stopped"] == ""


def test_a_failed_step_is_planned_anew() -> None:
    """plan_and_execute: other steps take the place of what was left, and the run is answered."""
    turns = ["1. Find\n2. Sum", f"{FAILED}: no such file", "1. Ask\n2. Count", "asked", "9", "nine"]
    values, asked = planned(turns, "plan_and_execute")
    assert values["plan"]["steps"] == ["Find", "Ask", "Count"]
    assert values["plan"]["results"] == [f"{FAILED}: no such file", "asked", "9"]
    assert values["run"]["stopped"] == ""
    assert "Step 1 could not be done" in asked[2][0].text
    assert f"1. Find -> {FAILED}: no such file" in asked[2][0].text
    assert values["messages"][-1].text == "nine"


def test_a_step_that_used_up_its_rounds_is_planned_anew() -> None:
    """And its reason to stop is gone where the other way went well."""
    turns = ["1. Find", *STUCK, "1. Ask", "asked", "done"]
    values, _ = planned(turns, "plan_and_execute", tools=[Recorder().tool("pay")])
    assert values["plan"]["steps"] == ["Find", "Ask"]
    assert values["run"]["stopped"] == ""


def test_c74_replanning_ends() -> None:
    """A planner whose every step fails is asked twice more, and the run says so."""
    plan = "1. Try\n2. Try more"
    turns = [plan, FAILED, plan, FAILED, plan, FAILED, FAILED, "gave up"]
    values, asked = planned(turns, "plan_and_execute")
    assert len(asked) == 8
    assert values["plan"]["replans"] == 2
    assert values["run"]["stopped"] == "incomplete"
    assert values["messages"][-1].text == "gave up"


@pytest.mark.parametrize("reply", [RuntimeError("down"), "", "I cannot plan", "{}"], ids=repr)
def test_a_plan_that_cannot_be_made_anew(reply: Any) -> None:
    """The steps that were left are done as they were planned."""
    turns = ["1. Find\n2. Sum", FAILED, reply, "summed", "the answer"]
    values, _ = planned(turns, "plan_and_execute")
    assert values["plan"]["results"] == [FAILED, "summed"]
    assert values["run"]["stopped"] == "incomplete"


def test_nothing_left_to_plan() -> None:
    """DONE ends the plan; the step that failed stays told."""
    values, _ = planned(["1. Find\n2. Sum", FAILED, "DONE.", "the answer"], "plan_and_execute")
    assert values["plan"]["steps"] == ["Find"]
    assert values["run"]["stopped"] == "incomplete"


def test_a_new_plan_is_cut() -> None:
    """Steps that did not fail and new ones together are no more than max_steps."""
    plan = "\n".join(f"{n}. step {n}" for n in range(1, 20))
    turns = [plan, "did 1", FAILED, plan, "did it", "did it", "the answer"]
    values, asked = planned(turns, "plan_and_execute", max_steps=3)
    assert len(values["plan"]["steps"]) == 4
    assert len(asked) == len(turns)


def test_no_request_ends_with_the_models_own_words() -> None:
    """Providers refuse that, or have the model go on with its sentence."""
    turns = ["1. Find\n2. Sum", FAILED, "1. Ask", "asked", "done"]
    _, asked = planned(turns, "plan_and_execute")
    assert all(not isinstance(messages[-1], AIMessage) for messages in asked)
    assert asked[1][-1].text == "the task"
    assert isinstance(asked[3][-1], HumanMessage)
    assert asked[3][-1].text == "Do step 2 now."


def test_the_planner_knows_which_tools_there_are() -> None:
    """Their names, and no more."""
    _, asked = planned(["1. Pay", "paid", "done"], tools=[Recorder().tool("pay")])
    assert "Tools at hand: pay." in asked[0][0].text


def test_second_task_has_a_plan_of_its_own() -> None:
    """The next message of the thread is planned anew."""
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
