"""The scripted model: deterministic, without state between runs."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from edgeward.profiles.scripted import ScriptedModel, ScriptEnded, call

TALK = [HumanMessage("add 1 and 2")]


def test_turns_follow_the_conversation():
    """The number of assistant messages says which turn is due."""
    model = ScriptedModel(turns=[call("add", a=1, b=2), "It is 3."])
    first = model.invoke(TALK)
    assert first.tool_calls[0]["args"] == {"a": 1, "b": 2}
    talk = [*TALK, first, ToolMessage("3", tool_call_id=first.tool_calls[0]["id"])]
    assert model.invoke(talk).text == "It is 3."
    assert model.invoke(TALK).tool_calls[0]["name"] == "add"


def test_one_instance_serves_parallel_runs():
    """Every run sees the script from its beginning."""
    model = ScriptedModel(turns=["one", "two"])

    def run(_: int) -> list[str]:
        first = model.invoke(TALK)
        return [first.text, model.invoke([*TALK, first, HumanMessage("more")]).text]

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(run, range(40))) == [["one", "two"]] * 40


def test_the_end_of_the_script_says_how_many_turns_were_used():
    """Not an IndexError."""
    model = ScriptedModel(turns=["one"])
    with pytest.raises(ScriptEnded, match=r"1 turn\(s\), all used; turn 2"):
        model.invoke([*TALK, AIMessage("one")])


def test_a_turn_may_be_a_function_or_an_error():
    """A function sees the conversation."""
    model = ScriptedModel(turns=[lambda talk: f"{len(talk)} messages", TimeoutError("slow")])
    assert model.invoke(TALK).text == "1 messages"
    with pytest.raises(TimeoutError, match="slow"):
        model.invoke([*TALK, AIMessage("x")])


def test_what_is_no_turn_is_named():
    """By its place in the script; what a function gives counts as what stands there."""
    for turn in (3, lambda messages: None):
        with pytest.raises(TypeError, match=r"turn 2 is of type (int|NoneType); allowed: a text"):
            ScriptedModel(turns=["Hello.", turn]).invoke(
                [("user", "a"), ("ai", "b"), ("user", "c")]
            )


def test_streams_add_up_to_the_same_message():
    """Text in words, arguments in pieces, token counts at the end; sync and async."""
    turn = AIMessage("Let me  add.", tool_calls=[{"name": "add", "args": {"a": "ü"}, "id": "c"}])
    model = ScriptedModel(turns=[turn])

    async def stream():
        return [chunk async for chunk in model.astream(TALK)]

    for chunks in (list(model.stream(TALK)), asyncio.run(stream())):
        assert len(chunks) > 3
        whole = chunks[0]
        for chunk in chunks[1:]:
            whole += chunk
        assert whole.text == turn.text
        assert whole.tool_calls[0]["args"] == {"a": "ü"}
        assert whole.usage_metadata["total_tokens"] > 0
    assert asyncio.run(model.ainvoke(TALK)).usage_metadata["input_tokens"] > 0


def test_bound_tools_are_recorded_as_data():
    """The copy has the schemas, the script and the list of requests are shared."""
    model = ScriptedModel(turns=["x"])
    schema = {"type": "function", "function": {"name": "f", "parameters": {}, "description": ""}}
    bound = model.bind_tools([schema])
    assert bound.bound_tools[0]["function"]["name"] == "f"
    bound.invoke(TALK)
    assert model.bound_tools == []
    assert [talk[0].text for talk in model.requests] == ["add 1 and 2"]


def test_order_call_plays_one_turn_a_request():
    """For strategies whose requests are conversations of their own."""
    model = ScriptedModel(turns=["plan", "work"], order="call")
    assert [model.invoke(TALK).text for _ in range(2)] == ["plan", "work"]


def test_replies_are_not_shared():
    """Changing one answer does not change the script; ids are fresh."""
    turn = AIMessage("x", id="fixed")
    model = ScriptedModel(turns=[turn])
    first = model.invoke(TALK)
    first.content = "changed"
    assert model.invoke(TALK).text == "x"
    assert first.id != "fixed"


def test_broken_calls_are_streamed_as_they_are():
    """For tests of what a graph does with them."""
    broken = {"name": "add", "args": "[1", "id": "c", "error": None, "type": "invalid_tool_call"}
    model = ScriptedModel(turns=[AIMessage("", invalid_tool_calls=[broken])])
    assert model.invoke(TALK).invalid_tool_calls[0]["args"] == "[1"
    whole, *rest = model.stream(TALK)
    for chunk in rest:
        whole += chunk
    assert whole.tool_calls == []
    assert whole.invalid_tool_calls[0]["args"].endswith("[1")
