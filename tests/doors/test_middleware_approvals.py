"""`FirewallMiddleware`: a call that waits for a person, and what is made of the answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command

from .middleware import ASKED, KEY, MASK, PAY, THREAD, agent, answers, run, ways
from .spies import Spy, calls

APPROVE: list[Any] = [{"type": "approve"}, {"c0": {"decision": "approve", "by": "Ann"}}]


REJECT: list[Any] = [
    {"type": "reject", "message": "too much"},
    {"c0": {"decision": "reject", "reason": "too much"}},
]


def edit(**arguments: Any) -> list[Any]:
    """An edit, in both spellings."""
    action = {"name": "pay", "args": arguments}
    return [
        {"type": "edit", "edited_action": action},
        {"c0": {"decision": "edit", "args": arguments}},
    ]


def paused(spy: Spy, policy: Any = PAY, *proposed: Any) -> Any:
    """An agent whose first call waits for a person."""
    given = proposed or (("pay", {"text": "rent", "amount": 900}),)
    return agent(policy, [spy], calls(*given), "Done.", checkpointer=InMemorySaver())


@ways
@pytest.mark.parametrize("answer", APPROVE)
async def test_an_approved_call_runs(way: str, answer: Any) -> None:
    """It waits, says why, and runs once it is approved."""
    spy = Spy("pay")
    runner = paused(spy)
    if way.startswith("a"):
        state = await runner.ainvoke(ASKED, THREAD)
    else:
        state = runner.invoke(ASKED, THREAD)
    (waiting,) = state["__interrupt__"]
    assert not spy.runs
    question = waiting.value
    assert (question["type"], question["tool_call_id"]) == ("tool_approval", "c0")
    assert question["args"] == {"text": "rent", "amount": 900}
    assert question["verdict"]["word"] == "ask"
    assert "not at most 10" in question["description"]
    state = await run(runner, way, Command(resume=answer), THREAD)
    assert spy.runs == [("rent", 900)]
    assert state["messages"][-1].content == "Done."


@pytest.mark.parametrize("answer", REJECT)
def test_a_rejected_call_is_answered(answer: Any) -> None:
    """It does not run, and the model is told why."""
    spy = Spy("pay")
    runner = paused(spy)
    runner.invoke(ASKED, THREAD)
    state = runner.invoke(Command(resume=answer), THREAD)
    assert not spy.runs
    assert answers(state)[0].content == "Not run: the user rejected this call: too much"


@pytest.mark.parametrize("answer", edit(text="rent", amount="8"))
def test_an_edited_call_runs_as_edited(answer: Any) -> None:
    """With the new arguments, as the schema reads them."""
    spy = Spy("pay")
    runner = paused(spy)
    runner.invoke(ASKED, THREAD)
    runner.invoke(Command(resume=answer), THREAD)
    assert spy.runs == [("rent", 8)]


@pytest.mark.parametrize("answer", edit(text=f"key {KEY}", amount=8) + edit(text="a", cc="b"))
def test_an_edited_call_is_judged_again(answer: Any) -> None:
    """What no person may approve is blocked in an edit, too."""
    spy = Spy("pay")
    runner = paused(spy)
    runner.invoke(ASKED, THREAD)
    state = runner.invoke(Command(resume=answer), THREAD)
    assert not spy.runs
    assert answers(state)[0].status == "error"
    assert KEY not in answers(state)[0].content


@pytest.mark.parametrize(
    "answer",
    [
        "yes",
        {"type": "respond", "message": "done"},
        {"c9": {"decision": "approve"}},
        {"c0": {"decision": "edit"}},
        {"type": "edit", "edited_action": {"name": "never", "args": {}}},
    ],
)
def test_a_wrong_answer_runs_nothing(answer: Any) -> None:
    """It is an error, and the call can be answered again."""
    spy = Spy("pay")
    runner = paused(spy)
    runner.invoke(ASKED, THREAD)
    with pytest.raises(ValueError, match="validation error"):
        runner.invoke(Command(resume=answer), THREAD)
    assert not spy.runs
    runner.invoke(Command(resume=APPROVE[0]), THREAD)
    assert spy.runs == [("rent", 900)]


def test_two_calls_wait_side_by_side() -> None:
    """Each has an interrupt of its own, and is answered by it."""
    spy = Spy("pay")
    runner = paused(
        spy, PAY, ("pay", {"text": "a", "amount": 20}), ("pay", {"text": "b", "amount": 30})
    )
    state = runner.invoke(ASKED, THREAD)
    by_call = {w.value["tool_call_id"]: w.id for w in state["__interrupt__"]}
    resume = {by_call["c0"]: {"type": "approve"}, by_call["c1"]: {"c1": {"decision": "reject"}}}
    state = runner.invoke(Command(resume=resume), THREAD)
    assert spy.runs == [("a", 20)]
    assert [m.status for m in answers(state)] == ["success", "error"]


def test_a_call_that_waits_runs_under_no_checkpointer() -> None:
    """Where nothing can be kept, nothing can be asked, and the call does not run."""
    spy = Spy("pay")
    runner = agent(PAY, [spy], calls(("pay", {"text": "rent", "amount": 900})), "Done.")
    assert runner.invoke(ASKED)["__interrupt__"]
    assert not spy.runs


@pytest.mark.parametrize("word", ["ask", "redact"])
def test_a_thread_goes_on_in_another_process(word: str, tmp_path: Path) -> None:
    """What waits is answered there, and a call is still judged by what was masked in it."""
    spy = Spy("search")
    policy = {"version": 2, "tools": {"search": word}}
    for given in (ASKED, Command(resume={"type": "approve"}), {"messages": [("user", "And?")]}):
        if given == Command(resume={"type": "approve"}) and word != "ask":
            continue
        with SqliteSaver.from_conn_string(str(tmp_path / "threads.sqlite")) as saver:
            said = calls(("search", {"text": "hi" if word == "ask" else KEY}))
            runner = agent(policy, [spy], said, "Done.", "More.", checkpointer=saver)
            state = runner.invoke(given, THREAD)
    assert spy.runs == [("hi", 1) if word == "ask" else (MASK, 1)]
    assert state["messages"][-1].content == "More."
    assert KEY.encode() not in b"".join(p.read_bytes() for p in tmp_path.iterdir())
