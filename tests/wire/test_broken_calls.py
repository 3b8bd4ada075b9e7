"""Calls whose arguments are cut off, no object or in an older form: never mended or passed by."""

from __future__ import annotations

import json

import pytest
from langchain_core.messages import HumanMessage, ToolMessage

from edgeward.profiles.calls import BROKEN

from .server import Call, Events, Raw, Say
from .talk import TOOL
from .ways import WAYS, ask, model_for


@WAYS
@pytest.mark.parametrize(
    "text",
    ['{"a": 1', '{"a": 1} and more', '{"a": 1, "a": 2}', "[1, 2]", "null", '"x"', "{a: 1}"],
)
def test_broken_arguments_are_never_mended(wire, way, text):
    """Cut-off, trailing, repeated or no object at all: the call is invalid, with its text."""
    wire.script(Say("", [Call("add", text, "c1"), Call("ok", "{}", "c2")]))
    answer = ask(model_for(wire).bind_tools([TOOL]), "hi", way)
    assert [call["name"] for call in answer.tool_calls] == ["ok"]
    (broken,) = answer.invalid_tool_calls
    assert broken["name"] == "add"
    assert broken["args"].removeprefix(BROKEN) == text


@pytest.mark.parametrize("way", ["stream", "astream"])
def test_anthropic_cut_off_arguments_are_never_mended(wire, way):
    """A tool call that ran into max_tokens is not completed by guesswork."""
    wire.script(Say("", [Call("add", '{"path": "/tm')], finish="max_tokens"))
    answer = ask(model_for(wire, "anthropic").bind_tools([TOOL]), "hi", way)
    assert answer.tool_calls == []
    assert answer.invalid_tool_calls[0]["name"] == "add"


ODD = {
    "an object": ({"a": 1}, {"a": 1}),
    "null": (None, {}),
    "a list": ([1], None),
    "a number": (7, None),
}


@pytest.mark.filterwarnings("ignore:Pydantic serializer:UserWarning")  # LangChain's, of the SDK's
@pytest.mark.parametrize("case", ODD)
@pytest.mark.parametrize("way", ["invoke", "stream"])
def test_C25_arguments_that_are_no_text(wire, way, case):
    """Some servers send the object itself: it is read, and what is no object is a broken call."""
    sent, read = ODD[case]
    calls = [{"index": 0, "id": "c1", "function": {"name": "add", "arguments": sent}}]
    said = {"role": "assistant", "content": "", "tool_calls": [*calls, None]}
    if way == "stream":
        ends = {"choices": [{"index": 0, "delta": None, "finish_reason": "tool_calls"}]}
        wire.script(Events([{"choices": [{"index": 0, "delta": said}]}, ends, "data: [DONE]\n\n"]))
    else:
        wire.script(Raw({"choices": [{"message": said, "finish_reason": "tool_calls"}]}))
    answer = ask(model_for(wire, "vllm").bind_tools([TOOL]), "hi", way)
    assert [call["args"] for call in answer.tool_calls] == ([] if read is None else [read])
    assert len(answer.invalid_tool_calls) == (read is None)


@pytest.mark.filterwarnings("ignore:Pydantic serializer:UserWarning")  # LangChain's, of the SDK's
@pytest.mark.parametrize("function", [7, "add", [{}], {"name": 7}, {"name": ["add"]}])
@pytest.mark.parametrize("way", ["invoke", "stream"])
def test_a_call_whose_function_is_none_names_no_tool(wire, way, function):
    """It is read as one that names nothing, and ends no run."""
    said = {"role": "assistant", "tool_calls": [{"index": {}, "id": 3, "function": function}]}
    if way == "stream":
        ends = {"choices": [{"index": 0, "delta": None, "finish_reason": "tool_calls"}]}
        wire.script(Events([{"choices": [{"index": 0, "delta": said}]}, ends, "data: [DONE]\n\n"]))
    else:
        wire.script(Raw({"choices": [{"message": said, "finish_reason": "tool_calls"}]}))
    answer = ask(model_for(wire, "vllm").bind_tools([TOOL]), "hi", way)
    calls = [*answer.tool_calls, *answer.invalid_tool_calls]
    assert [(call["name"] or "", call["id"]) for call in calls] == [("", None)]


@pytest.mark.parametrize("case", [*ODD, "text"])
@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
def test_C25_input_that_is_no_object(wire, way, case):
    """The same where a server speaks Anthropic's format, and for arguments sent as text."""
    sent, read = ODD.get(case, ('{"a": 1}', {"a": 1}))
    fine = {"type": "tool_use", "id": "c2", "name": "add", "input": {"a": 2}}
    content = [{"type": "tool_use", "id": "c1", "name": "add", "input": sent}, fine]
    usage = {"input_tokens": 1, "output_tokens": 1}
    frame = {"id": "m", "type": "message", "role": "assistant", "model": "f", "usage": usage}
    wire.script(Raw({**frame, "content": content, "stop_reason": "tool_use"}))
    answer = ask(model_for(wire, "anthropic").bind_tools([TOOL]), "hi", way)
    known = [] if read is None else [read]
    assert [call["args"] for call in answer.tool_calls] == [*known, {"a": 2}]
    assert len(answer.invalid_tool_calls) == (read is None)


def test_broken_arguments_do_not_break_the_next_request(wire):
    """What a provider would fail to parse is not sent back to it."""
    wire.script(Say("", [Call("add", '{"a": 1', "c1")]), Say("ok"))
    model = model_for(wire, "vllm")
    called = model.invoke("hi")
    model.invoke([HumanMessage("hi"), called, ToolMessage("not JSON", tool_call_id="c1")])
    (sent,) = wire.requests[-1].body["messages"][1]["tool_calls"]
    assert json.loads(sent["function"]["arguments"]) == {}


def test_an_older_function_call_is_a_call(wire):
    """Servers that still answer with `function_call` cannot slip a call past."""
    message = {
        "role": "assistant",
        "content": "",
        "function_call": {"name": "f", "arguments": "{}"},
    }
    wire.script(Raw({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}))
    answer = model_for(wire).invoke("hi")
    assert answer.tool_calls[0]["name"] == "f"
    assert "function_call" not in answer.additional_kwargs


def test_a_custom_call_is_an_invalid_one(wire):
    """A call with free text has no arguments to judge."""
    call = {"id": "c1", "type": "custom", "custom": {"name": "sh", "input": "ls"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    wire.script(Raw({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}))
    answer = model_for(wire).invoke("hi")
    assert answer.tool_calls == []
    assert answer.invalid_tool_calls[0]["name"] == "sh"
