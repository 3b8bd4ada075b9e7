"""What providers are sent: one system message, no blank text, thinking as it came."""

from __future__ import annotations

import json

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from edgeward import AgentConfig, ReActAgent
from edgeward.profiles.sent import EMPTY, GO_ON, sendable_messages

from .messages import SIGNATURE
from .server import Call, Raw, Say
from .talk import add, nothing, profile
from .ways import BOTH, EVERY, STREAMS, ask, model_for


def test_several_system_messages_become_one_in_front():
    """Their texts in order; messages that are in order are not touched."""
    human = HumanMessage("hi")
    made = sendable_messages([SystemMessage("One."), human, SystemMessage("Two.")])
    assert [m.type for m in made] == ["system", "human"]
    assert made[0].text == "One.\n\nTwo."
    assert made[1] is human


def test_system_messages_of_blocks_are_joined_too():
    """A block with a cache mark stays what it is."""
    marked = {"type": "text", "text": "One.", "cache_control": {"type": "ephemeral"}}
    (made,) = sendable_messages([SystemMessage([marked]), SystemMessage("Two.")])
    assert made.content == [marked, {"type": "text", "text": "Two."}]


@EVERY
def test_every_provider_gets_one_system_message(wire, provider):
    """Anthropic takes no second one, and the templates of served models none behind the first."""
    wire.script(Say("x"))
    talk = [SystemMessage("One."), HumanMessage("hi"), SystemMessage("Two.")]
    model_for(wire, provider).invoke(talk)
    body = wire.requests[-1].body
    if provider == "anthropic":
        assert body["system"] == "One.\n\nTwo."
    else:
        assert [m["role"] for m in body["messages"]] == ["system", "user"]
        assert body["messages"][0]["content"] == "One.\n\nTwo."


BLANKS = {
    "a tool that gave nothing": [
        HumanMessage("go"),
        AIMessage("", tool_calls=[{"name": "f", "args": {}, "id": "c1"}]),
        ToolMessage("", tool_call_id="c1"),
    ],
    "a tool that gave a line break": [
        HumanMessage("go"),
        AIMessage(" ", tool_calls=[{"name": "f", "args": {}, "id": "c1"}]),
        ToolMessage("\n", tool_call_id="c1"),
    ],
    "a turn without a word": [HumanMessage("go"), AIMessage(""), HumanMessage("again")],
    "a turn of thoughts": [
        HumanMessage("go"),
        AIMessage([{"type": "thinking", "thinking": "hm", "signature": "s"}]),
        HumanMessage("again"),
    ],
    "a blank block": [HumanMessage([{"type": "text", "text": " "}, {"type": "text", "text": "a"}])],
    "a blank word of the user": [HumanMessage("  ")],
    "a blank system message": [SystemMessage(" "), HumanMessage("go")],
}


def texts(value):
    """Every text that a request holds."""
    if isinstance(value, dict):
        for name, item in value.items():
            if name in ("text", "content") and isinstance(item, str):
                yield item
            yield from texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)


@BOTH
@pytest.mark.parametrize("case", BLANKS)
def test_C86_no_blank_text_is_sent(wire, provider, case):
    """Nothing that a provider would refuse for being empty, now and in every later request."""
    wire.script(Say("x"))
    model_for(wire, provider).invoke(BLANKS[case])
    body = wire.requests[-1].body
    assert all(text.strip() for text in texts(body["messages"]))
    assert "thinking" not in json.dumps(body["messages"])


@BOTH
async def test_C86_a_tool_that_gives_nothing_does_not_end_the_thread(wire, provider):
    """The model reads a note, and the thread goes on."""
    wire.script(Say("", [Call("nothing", "", "c1")]), Say("Done."), Say("Again."))
    config = AgentConfig(profile=profile(wire, provider), tools=[nothing], policy="allow_all")
    async with ReActAgent(config) as agent:
        await agent.run("go", thread="t")
        assert (await agent.run("and on", thread="t")).final_answer == "Again."
    for seen in wire.requests:
        assert all(text.strip() for text in texts(seen.body["messages"]))


@EVERY
def test_the_model_has_neither_the_first_word_nor_the_last(wire, provider):
    """A greeting in front, a history that ends with an answer: some providers refuse either."""
    wire.script(Say("Well."))
    model_for(wire, provider).invoke([SystemMessage("Be kind."), AIMessage("Hello!")])
    sent = [m for m in wire.requests[0].body["messages"] if m["role"] != "system"]
    assert [m["role"] for m in sent] == ["user", "assistant", "user"]
    assert [m["content"] for m in sent] == [EMPTY, "Hello!", GO_ON]


def test_a_note_stands_for_an_empty_result():
    """Not an empty block, and no result that is missing."""
    (note,) = sendable_messages([ToolMessage("", tool_call_id="c1")])
    assert note.content == EMPTY


@pytest.mark.parametrize("redacted", [True, False])
async def test_C71_thinking_comes_back_unchanged_and_in_place(wire, redacted):
    """Signed and redacted thoughts stand before their call in the next request, word for word."""
    thought = {"type": "thinking", "thinking": "I must add.", "signature": SIGNATURE}
    hidden = [{"type": "redacted_thinking", "data": "EmwKAhgB"}] if redacted else []
    text = {"type": "text", "text": "I add."}
    use = {"type": "tool_use", "id": "c1", "name": "add", "input": {"a": 1, "b": 2}}
    content = [thought, *hidden, text, use]
    frame = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m"}
    usage = {"input_tokens": 3, "output_tokens": 2}
    ends = {"stop_reason": "tool_use", "stop_sequence": None, "usage": usage}
    wire.script(Raw({**frame, **ends, "content": content}), Say("3"))
    config = AgentConfig(profile=profile(wire, "anthropic"), tools=[add], policy="allow_all")
    async with ReActAgent(config) as agent:
        assert (await agent.run("1 + 2?")).final_answer == "3"
    sent = wire.requests[1].body["messages"][1]["content"]
    assert sent[: len(content) - 1] == content[:-1]
    assert (sent[-1]["id"], sent[-1]["input"]) == ("c1", {"a": 1, "b": 2})


@STREAMS
def test_C71_streamed_thinking_comes_back_too(wire, way):
    """Put together from its pieces, with its signature."""
    reply = Say("I add.", [Call("add", '{"a": 1, "b": 2}', "c1")], reasoning="I must add.")
    wire.script(reply, Say("3"))
    model = model_for(wire, "anthropic").bind_tools([add])
    said = ask(model, "1 + 2?", way)
    talk = [HumanMessage("1 + 2?"), said, ToolMessage("3", tool_call_id="c1")]
    ask(model, talk, way)
    sent = wire.requests[1].body["messages"][1]["content"]
    assert [block["type"] for block in sent] == ["thinking", "text", "tool_use"]
    assert (sent[0]["thinking"], sent[0]["signature"]) == ("I must add.", SIGNATURE)
    assert sent[2]["input"] == {"a": 1, "b": 2}


def test_a_talk_with_calls_names_its_tools_to_anthropic(wire):
    """Where the last word is asked for without tools: they are named, and none may be called."""
    said = AIMessage("", tool_calls=[{"name": "add", "args": {"a": 1}, "id": "c1"}])
    wire.script(Say("3"), Say("x"))
    model = model_for(wire, "anthropic")
    model.invoke([HumanMessage("go"), said, ToolMessage("3", tool_call_id="c1")])
    model.invoke("hi")
    with_calls, without = (seen.body for seen in wire.requests)
    assert [tool["name"] for tool in with_calls["tools"]] == ["add"]
    assert with_calls["tool_choice"] == {"type": "none"}
    assert "tools" not in without
