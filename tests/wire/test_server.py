"""The wire server against the vendors' real packages, and our models over it."""

from __future__ import annotations

import asyncio
import json

import anthropic
import openai
import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from edgeward.profiles.calls import BROKEN
from edgeward.profiles.llm import LLMBlock, LLMProviderError, build_model, resolve_llm

from .server import Call, Drop, Events, Fail, Raw, Say
from .ways import BOTH, KEY, WAYS, added, ask, model_for

TOOL = {
    "type": "function",
    "function": {
        "name": "add",
        "description": "Add.",
        "parameters": {"type": "object", "properties": {}, "required": []},
    },
}


def test_the_openai_package_understands_the_server(wire):
    """A whole answer, a stream and an error, read by OpenAI's own client."""
    wire.script(Say("Hi", [Call("add", '{"a": 1}')]), Say("Hello you"), Fail(401, "bad key"))
    client = openai.OpenAI(api_key=KEY, base_url=wire.openai_url, max_retries=0)
    messages = [{"role": "user", "content": "x"}]
    whole = client.chat.completions.create(model="m", messages=messages)
    assert whole.choices[0].message.tool_calls[0].function.arguments == '{"a": 1}'
    assert whole.usage.total_tokens == 18
    stream = client.chat.completions.create(model="m", messages=messages, stream=True)
    assert "".join(part.choices[0].delta.content or "" for part in stream) == "Hello you"
    with pytest.raises(openai.AuthenticationError):
        client.chat.completions.create(model="m", messages=messages)
    assert [seen.path for seen in wire.requests] == ["/v1/chat/completions"] * 3
    assert wire.requests[0].headers["authorization"] == f"Bearer {KEY}"
    client.close()


def test_the_anthropic_package_understands_the_server(wire):
    """A whole answer, a stream and an error, read by Anthropic's own client."""
    wire.script(Say("Hi", [Call("add", '{"a": 1}')]), Say("Hello you"), Fail(429, "slow"))
    client = anthropic.Anthropic(api_key=KEY, base_url=wire.url, max_retries=0)
    ask_for = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}]}
    whole = client.messages.create(**ask_for)
    assert whole.content[1].input == {"a": 1}
    with client.messages.stream(**ask_for) as stream:
        assert stream.get_final_text() == "Hello you"
    with pytest.raises(anthropic.RateLimitError):
        client.messages.create(**ask_for)
    assert KEY in " ".join(wire.requests[0].headers.values())
    client.close()


@BOTH
@WAYS
def test_text_and_usage_arrive(wire, provider, way):
    """D026, D027: both adapters answer by all four ways, with token counts."""
    wire.script(Say("Good day to you."))
    answer = ask(model_for(wire, provider), "hi", way)
    assert answer.text == "Good day to you."
    assert answer.usage_metadata is not None
    assert answer.usage_metadata["output_tokens"] == 7


@BOTH
@WAYS
def test_parallel_calls_arrive_whole(wire, provider, way):
    """Two calls in one answer, cut in pieces on the wire, come out as two calls."""
    wire.script(Say("", [Call("add", '{"a": 1, "b": 22}', "c1"), Call("now", "", "c2")]))
    answer = ask(model_for(wire, provider).bind_tools([TOOL]), "hi", way)
    calls = [(call["name"], call["args"], call["id"]) for call in answer.tool_calls]
    assert calls == [("add", {"a": 1, "b": 22}, "c1"), ("now", {}, "c2")]
    assert answer.invalid_tool_calls == []


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


def test_I8_no_piece_of_a_streamed_call_is_passed_on(wire):
    """A chunk holds all of a call or nothing of it."""
    wire.script(Say("", [Call("add", '{"a": 1, "b": 22}')]))
    chunks = list(model_for(wire).bind_tools([TOOL]).stream("hi"))
    held = [chunk for chunk in chunks if chunk.tool_call_chunks]
    assert len(held) == 1
    assert held[0].tool_calls[0]["args"] == {"a": 1, "b": 22}


def test_streamed_calls_without_index_stay_apart(wire):
    """Servers that send no position: a new id starts a new call."""
    calls = [Call("add", '{"a": 1}', "c1"), Call("sub", '{"b": 2}', "c2")]
    wire.script(Say("", calls, without_index=True))
    answer = added(model_for(wire, "vllm").stream("hi"))
    assert [(c["name"], c["args"]) for c in answer.tool_calls] == [
        ("add", {"a": 1}),
        ("sub", {"b": 2}),
    ]


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


def test_an_answer_by_another_role_is_the_model_s(wire):
    """Some servers say `model` where OpenAI says `assistant`."""
    said = {"role": "model", "content": "Good day."}
    wire.script(Raw({"choices": [{"index": 0, "message": said, "finish_reason": "stop"}]}))
    assert model_for(wire).invoke("hi").text == "Good day."


@BOTH
@WAYS
@pytest.mark.parametrize("status", [400, 401, 404, 429, 500])
def test_D037_an_error_keeps_its_status_and_no_key(wire, provider, way, status):
    """The typed error has the status, the cause, and no key anywhere, traceback included."""
    import traceback

    wire.script(Fail(status, f"Incorrect API key provided: {KEY}"))
    with pytest.raises(LLMProviderError) as caught:
        ask(model_for(wire, provider), "hi", way)
    assert caught.value.status == status
    assert caught.value.provider == provider
    assert caught.value.__cause__ is not None
    shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
    assert KEY not in shown


@BOTH
def test_errors_that_pass_are_tried_again(wire, provider):
    """429 and 500 are retried with the package's back-off, 400 is not."""
    quick = {"retry-after-ms": "1", "retry-after": "0"}
    wire.script(Fail(429, headers=quick), Fail(500, headers=quick), Say("there"))
    assert model_for(wire, provider, max_retries=2).invoke("hi").text == "there"
    assert len(wire.requests) == 3
    wire.script(Fail(400), Say("never"))
    with pytest.raises(LLMProviderError):
        model_for(wire, provider, max_retries=2).invoke("hi")


@BOTH
@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
def test_a_reset_connection_is_a_provider_error(wire, provider, way):
    """No answer at all has no status, and is said so."""
    wire.script(Drop())
    with pytest.raises(LLMProviderError) as caught:
        ask(model_for(wire, provider), "hi", way)
    assert caught.value.status is None


@BOTH
@pytest.mark.parametrize("way", ["stream", "astream"])
@pytest.mark.parametrize("reply", [Say("Good day to you", cut_after=4), Say("x", ends_early=True)])
def test_a_cut_stream_is_an_error_and_no_answer(wire, provider, way, reply):
    """Cut in the middle, or ended politely but too early: never taken for a whole answer."""
    wire.script(reply)
    with pytest.raises(LLMProviderError):
        ask(model_for(wire, provider), "hi", way)


@pytest.mark.parametrize(
    "body",
    [
        {"choices": []},
        {"choices": None},
        {},
        {"choices": [{"index": 0, "message": None, "finish_reason": "stop"}]},
        {"error": {"message": "overloaded"}, "choices": []},
        "not json at all",
    ],
)
@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
def test_an_answer_without_content_is_a_provider_error(wire, body, way):
    """Empty choices and the like are told as what they are, not as an IndexError."""
    wire.script(Raw(body))
    with pytest.raises(LLMProviderError):
        ask(model_for(wire, "vllm"), "hi", way)


def test_a_page_in_place_of_an_answer_is_a_provider_error(wire):
    """A proxy's HTML with status 200."""
    wire.script(Raw("<html>sign in</html>", "text/html"))
    with pytest.raises(LLMProviderError):
        model_for(wire).invoke("hi")


def test_missing_usage_is_no_fault(wire):
    """Not every server counts tokens."""
    wire.script(Say("hi", usage=None))
    assert model_for(wire, "vllm").invoke("x").usage_metadata is None


def test_D030_reasoning_models_get_no_temperature(wire):
    """o3-mini and gpt-5 refuse one; other models get what the profile says."""
    for model, sent in (("o3-mini", False), ("o1", False), ("gpt-5-mini", False), ("m", True)):
        wire.script(Say("x"))
        model_for(wire, model=model, temperature=0.5, max_tokens=99).invoke("hi")
        assert ("temperature" in wire.requests[-1].body) is sent, model


def test_D2_anthropic_gets_no_temperature(wire):
    """The current API has no such parameter."""
    wire.script(Say("x"))
    model_for(wire, "anthropic", temperature=0.5, max_tokens=99).invoke("hi")
    assert "temperature" not in wire.requests[-1].body
    assert wire.requests[-1].body["max_tokens"] == 99


def test_other_providers_get_the_field_names_they_know(wire):
    """`max_completion_tokens` is OpenAI's own; the others know `max_tokens`."""
    wire.script(Say("x"))
    model_for(wire, "deepseek", max_tokens=5).invoke("hi")
    assert wire.requests[-1].body["max_tokens"] == 5
    assert "max_completion_tokens" not in wire.requests[-1].body


def test_nothing_of_openai_is_told_to_other_providers(wire, monkeypatch):
    """Organisation, project and key of OPENAI_* do not travel."""
    for name in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, "sk-other-secret")
    wire.script(Say("x"), Say("x"))
    model_for(wire, "deepseek").invoke("hi")
    asyncio.run(model_for(wire, "deepseek").ainvoke("hi"))
    assert "sk-other-secret" not in json.dumps([seen.headers for seen in wire.requests])


@BOTH
def test_headers_of_the_environment_do_not_travel(wire, provider, monkeypatch):
    """What a variable adds for one service is no other's business."""
    for vendor in ("OPENAI", "ANTHROPIC"):
        monkeypatch.setenv(f"{vendor}_CUSTOM_HEADERS", "x-gateway: sk-other-secret")
        monkeypatch.setenv(f"{vendor}_AUTH_TOKEN", "sk-other-secret")
    wire.script(Say("x"), Say("x"))
    model_for(wire, provider).invoke("hi")
    asyncio.run(model_for(wire, provider).ainvoke("hi"))
    assert len(wire.requests) == 2
    assert "sk-other-secret" not in json.dumps([seen.headers for seen in wire.requests])


@BOTH
def test_no_key_is_in_a_log(wire, provider, caplog):
    """With everything logged that the packages have to say."""
    caplog.set_level(1)
    for name in ("openai", "anthropic", "httpx2", "httpcore2"):
        caplog.set_level(1, logger=name)
    wire.script(Say("x"), Fail(401, f"bad key {KEY}"))
    model_for(wire, provider).invoke("hi")
    with pytest.raises(LLMProviderError):
        model_for(wire, provider).invoke("hi")
    assert caplog.records
    assert KEY not in caplog.text


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


def test_broken_arguments_do_not_break_the_next_request(wire):
    """What a provider would fail to parse is not sent back to it."""
    wire.script(Say("", [Call("add", '{"a": 1', "c1")]), Say("ok"))
    model = model_for(wire, "vllm")
    called = model.invoke("hi")
    model.invoke([HumanMessage("hi"), called, ToolMessage("not JSON", tool_call_id="c1")])
    (sent,) = wire.requests[-1].body["messages"][1]["tool_calls"]
    assert json.loads(sent["function"]["arguments"]) == {}


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


def test_C16_the_model_does_not_show_its_key(wire):
    """Neither the model's repr nor its serialised form holds the key."""
    from langchain_core.load import dumps

    for provider in ("openai", "anthropic"):
        model = model_for(wire, provider)
        assert KEY not in repr(model) + str(model) + dumps(model)
        assert KEY not in repr(model._identifying_params)


def test_D028_one_profile_three_environments_three_providers(wire):
    """The environment alone switches provider and adapter."""
    names = set()
    for provider, prefix in (
        ("deepseek", "DEEPSEEK"),
        ("qwen", "QWEN"),
        ("anthropic", "ANTHROPIC"),
    ):
        url = wire.url if provider == "anthropic" else wire.openai_url
        env = {
            "AGENT_LAB_LLM_PROVIDER": provider,
            f"{prefix}_API_KEY": KEY,
            f"{prefix}_MODEL": "m",
            f"{prefix}_BASE_URL": url,
        }
        wire.script(Say(provider))
        model = build_model(resolve_llm(LLMBlock(), env))
        assert model.invoke("hi").text == provider
        names.add((type(model).__name__, getattr(model, "provider_name", "")))
    assert len(names) == 3


def test_models_work_in_one_event_loop_after_another(wire):
    """A connection kept from a loop that is gone is not used again."""
    wire.script(*[Say("x")] * 4)
    for provider in ("openai", "anthropic"):
        model = model_for(wire, provider)
        for _ in range(2):
            assert asyncio.run(model.ainvoke("hi")).text == "x"


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


@BOTH
async def test_a_stream_may_be_left_early(wire, provider):
    """Nothing complains, and the next request works."""
    wire.script(Say("Good day to you and all of yours"), Say("again"))
    model = model_for(wire, provider)
    async for chunk in model.astream("hi"):
        if chunk.text:
            break
    assert (await model.ainvoke("hi")).text == "again"


def test_tools_reach_the_provider_as_described(wire):
    """The schemas of a registry arrive as they are, with both providers."""
    from edgeward.profiles.tools.python import as_tool
    from edgeward.profiles.tools.registry import ToolRegistry

    def tag(tags: list, mode: str = "a") -> str:
        """Tag it."""
        return mode

    schemas = ToolRegistry([(as_tool(tag), "here")]).schemas()
    wire.script(Say("x"), Say("x"))
    model_for(wire).bind_tools(schemas).invoke("hi")
    assert wire.requests[-1].body["tools"] == schemas
    model_for(wire, "anthropic").bind_tools(schemas).invoke("hi")
    (sent,) = wire.requests[-1].body["tools"]
    assert sent["input_schema"] == schemas[0]["function"]["parameters"]
