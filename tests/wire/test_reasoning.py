"""Reasoning and signatures: beside the answer, and back to the provider that wants them."""

from __future__ import annotations

import json

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from .server import Call, Fail, Say
from .talk import TOOL
from .ways import WAYS, ask, model_for


@WAYS
def test_D031_C35_reasoning_is_kept_out_of_the_answer(wire, way):
    """The thought is beside the answer, and the answer is clean."""
    wire.script(Say("Four.", reasoning="two and two"))
    answer = ask(model_for(wire, "deepseek"), "hi", way)
    assert answer.text == "Four."
    assert answer.additional_kwargs["reasoning_content"] == "two and two"


def two_rounds(model, wire, reply, way):
    """A run of two rounds with one tool between them; returns the second answer."""
    first = HumanMessage("add")
    wire.replies[:0] = [Say("", [Call("add", '{"a": 1}', "c1")], reasoning="I must add")]
    wire.replies[1:] = [reply, reply]
    bound = model.bind_tools([TOOL])
    called = ask(bound, [first], way)
    # As after a checkpoint: only plain data survives.
    called = AIMessage(
        content=called.content,
        tool_calls=called.tool_calls,
        additional_kwargs=json.loads(json.dumps(called.additional_kwargs)),
    )
    return ask(bound, [first, called, ToolMessage("3", tool_call_id="c1")], way)


def wants_reasoning(seen):
    """A provider that refuses a tool turn without its reasoning."""
    turn = [m for m in seen.body["messages"] if m["role"] == "assistant"]
    good = all(m.get("reasoning_content") == "I must add" for m in turn)
    return Say("3") if good else Fail(400, "Missing reasoning_content")


def refuses_reasoning(seen):
    """A provider that refuses the field."""
    bad = any("reasoning_content" in m for m in seen.body["messages"])
    return Fail(400, "unexpected field") if bad else Say("3")


@WAYS
@pytest.mark.parametrize("provider", ["deepseek", "openai", "vllm"])
@pytest.mark.parametrize("reply", [wants_reasoning, refuses_reasoning])
def test_C35_reasoning_goes_back_to_who_wants_it(wire, way, provider, reply):
    """A two-round tool run succeeds with a provider that wants the field and one that refuses."""
    assert two_rounds(model_for(wire, provider), wire, reply, way).text == "3"


def test_C35_reasoning_does_not_go_to_another_provider(wire):
    """After a switch the new provider sees nothing of the old one's thought."""
    thought = AIMessage(
        "",
        tool_calls=[{"name": "add", "args": {}, "id": "c1"}],
        additional_kwargs={"reasoning_content": "x", "edgeward": {"provider": "deepseek"}},
    )
    talk = [HumanMessage("a"), thought, ToolMessage("3", tool_call_id="c1")]
    wire.script(Say("3"))
    model_for(wire, "qwen").invoke(talk)
    assert "reasoning_content" not in json.dumps(wire.requests[-1].body)


SIGNED = {"extra_content": {"google": {"thought_signature": "abc"}}}


@WAYS
def test_C34_a_signature_comes_back_with_its_call(wire, way):
    """The second request repeats the field, also after the message went through plain data."""
    model = model_for(wire, "google").bind_tools([TOOL])
    wire.script(
        Say("", [Call("add", "{}", "c1"), Call("add", "{}", "c2", extra=SIGNED)]), Say("done")
    )
    called = ask(model, [HumanMessage("a")], way)
    again = AIMessage(
        content=called.content,
        tool_calls=called.tool_calls,
        additional_kwargs=json.loads(json.dumps(called.additional_kwargs)),
    )
    answers = [ToolMessage("1", tool_call_id="c1"), ToolMessage("2", tool_call_id="c2")]
    ask(model, [HumanMessage("a"), again, *answers], way)
    sent = wire.requests[-1].body["messages"][1]["tool_calls"]
    assert "extra_content" not in sent[0]
    assert sent[1]["extra_content"] == SIGNED["extra_content"]
    wire.script(Say("done"))
    ask(model_for(wire, "qwen"), [HumanMessage("a"), again, *answers], way)
    assert "thought_signature" not in json.dumps(wire.requests[-1].body)


THINKING = [
    ("<think>use it</think>Answer 4", "Answer 4"),
    ("use it</think>Answer 4", "Answer 4"),
    ("<think>cut off", ""),
    (
        '<think><tool_call>{"name": "run_shell", "arguments": {}}</tool_call></think>',
        "",
    ),
    ("No tags < here > at all", "No tags < here > at all"),
]


@WAYS
@pytest.mark.parametrize(("text", "answer"), THINKING)
def test_C40_thinking_tags_are_no_part_of_the_answer(wire, way, text, answer):
    """Whole, unclosed or closed only: the thought is cut out, and no call in it is run."""
    wire.script(Say(text))
    said = ask(model_for(wire, "vllm", model="Qwen/Qwen3-8B"), "hi", way)
    assert said.text == answer
    assert said.tool_calls == []
    if answer != text:
        assert said.additional_kwargs["reasoning_content"]
