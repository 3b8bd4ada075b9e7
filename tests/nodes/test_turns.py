"""What a program hands over as a conversation is made one that a provider takes (C04)."""

from __future__ import annotations

import random

import pytest
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from edgeward.nodes._base import open_run
from edgeward.nodes._turns import ABANDONED, whole_turns
from edgeward.policies.schema import load_policy
from tests.fakes import agent_graph, on
from tests.steps import steps_of


def said(*ids: str) -> AIMessage:
    """A message that proposes calls with these ids."""
    return AIMessage("", tool_calls=[{"name": "t", "args": {}, "id": one} for one in ids])


def got(call_id: str, text: str = "") -> ToolMessage:
    """A result."""
    return ToolMessage(text or f"result of {call_id}", tool_call_id=call_id)


def shape(messages: list[BaseMessage]) -> str:
    """The messages in short: `u` user, `s` system, `a` model, a result by its id, `-` a note."""
    letters = {"human": "u", "system": "s", "ai": "a"}
    return " ".join(
        letters.get(m.type) or ("-" if m.text == ABANDONED else m.tool_call_id)  # type: ignore[attr-defined]
        for m in messages
    )


USER, SYSTEM = HumanMessage("go"), SystemMessage("Be brief.")
CASES = {
    "a result without its call": ([got("z"), USER], "u"),
    "one in the middle": ([USER, AIMessage("x"), got("z"), USER], "u a u"),
    "a call without its result": ([USER, said("a", "b"), got("a"), USER], "u a a - u"),
    "one that is long ago": ([USER, said("a"), USER, AIMessage("x"), USER], "u a - u a u"),
    "a word between call and result": ([USER, said("a"), USER, got("a")], "u a a u"),
    "a system message between": ([USER, said("a"), SYSTEM, got("a"), USER], "u a a s u"),
    "two results of one call": ([USER, said("a"), got("a"), got("a"), USER], "u a a u"),
    "results in another order": ([said("a", "b"), got("b"), got("a"), USER], "a b a u"),
    "one id in two turns": ([said("a"), got("a"), said("a"), got("a"), USER], "a a a a u"),
    "the same, one result": ([said("a"), USER, said("a"), got("a"), USER], "a - u a a u"),
    "a result before its call": ([got("a"), USER, said("a"), USER], "u a - u"),
}


@pytest.mark.parametrize("case", CASES)
def test_each_call_is_followed_by_its_result(case: str) -> None:
    """A result is put behind its call, or a note where there is none; one without a call goes."""
    messages, expected = CASES[case]
    whole = whole_turns(messages)
    assert shape(list(whole)) == expected
    assert whole_turns(whole) is whole


def test_what_is_whole_is_left_alone() -> None:
    """The same sequence, whatever the order of the results; and what lies before `start`."""
    messages = [USER, said("a", "b"), got("b"), got("a"), AIMessage("done"), USER]
    assert whole_turns(messages) is messages
    older = [got("z"), *messages]
    assert whole_turns(older, 1) is older


def test_any_conversation_becomes_one_that_a_provider_takes() -> None:
    """Whatever was cut out of it or mixed up, behind each call stand its results and no others."""
    source = random.Random(7)
    for _ in range(300):
        messages = [
            USER,
            said("a", "b"),
            got("a"),
            got("b"),
            USER,
            said("c"),
            got("c"),
            USER,
            SYSTEM,
        ]
        source.shuffle(messages)
        whole = list(whole_turns(messages[: source.randrange(len(messages))]))
        for position, message in enumerate(whole):
            ids = {call["id"] for call in getattr(message, "tool_calls", [])}
            behind = {getattr(m, "tool_call_id", "") for m in whole[position + 1 :][: len(ids)]}
            assert behind == ids
        calls = sum(len(getattr(m, "tool_calls", [])) for m in whole)
        assert sum(isinstance(m, ToolMessage) for m in whole) == calls


async def test_a_conversation_from_elsewhere_goes_on() -> None:
    """A model is asked with whole turns only, at the first run of a thread and at later ones."""
    graph = agent_graph(["one", "two"], checkpointer="memory", order="call")
    first = [got("z"), USER, said("a"), USER]
    values = await graph.ainvoke({"messages": first}, on())
    assert shape(values["messages"]) == "u a - u a"
    values = await graph.ainvoke({"messages": [got("y"), HumanMessage("and now?")]}, on())
    assert shape(values["messages"]) == "u a - u a u a"
    assert values["messages"][-1].text == "two"


async def test_a_conversation_of_which_nothing_is_left() -> None:
    """A result alone is none: the run begins with an empty thread, and goes on from there."""
    graph = agent_graph(["one", "two"], checkpointer="memory", order="call")
    assert shape((await graph.ainvoke({"messages": [got("z")]}, on()))["messages"]) == "a"
    assert shape((await graph.ainvoke({"messages": [USER]}, on()))["messages"]) == "a u a"


def test_results_without_a_name_cost_what_they_are() -> None:
    """Whose results they are is looked up once for all messages that a program hands over."""
    policy = load_policy({"version": 2, "tools": {"t": "allow"}, "private": ["t"]})

    def steps(calls: int) -> int:
        given = [m for n in range(calls) for m in (said(f"c{n}"), got(f"c{n}"))]
        messages = [USER, *given, HumanMessage("and now?")]
        return steps_of(lambda: open_run({"messages": messages}, policy))

    steps(10)
    assert steps(800) < 4.4 * steps(200)
