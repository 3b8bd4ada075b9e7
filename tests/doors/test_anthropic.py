"""The Anthropic door: however a program asks, it gets what the policy lets through, and no more."""

from __future__ import annotations

import copy
import json
from collections.abc import AsyncIterator
from typing import Any

import anthropic
import pytest
from pydantic import BaseModel

from edgeward import load_policy
from tests.wire.messages import SIGNATURE
from tests.wire.server import Call, Events, Fail, Raw, Say, Wire

from . import anthropic_ways as ways
from .anthropic_ways import ASKED, Way

KEY = "sk-proj-A1b2C3d4E5f6G7h8A1b2C3d4"
MASK = "[REDACTED:openai_key]"
POLICY = load_policy(
    {"version": 1, "tool_denylist": ["send_email"], "egress_allowlist": ["example.com"]}
)
BLOCKED = "[Edgeward] Action blocked by policy."

MAIL = Call("send_email", '{"to": "a@evil.test"}', "t1")
READ = Call("read_doc", '{"path": "a.md"}', "t2")
FOUND = [("read_doc", {"path": "a.md"})]

every = pytest.mark.parametrize("way", ways.ALL, ids=lambda way: way.__name__)


@pytest.fixture(autouse=True)
async def closed() -> AsyncIterator[None]:
    """No connection outlives its test."""
    yield
    await ways.close_all()


@every
async def test_a_denied_call_never_arrives_and_its_sibling_does(way: Way, wire: Wire) -> None:
    """In every way to ask, sync and async, whole and streamed (F034)."""
    wire.script(Say("Both.", calls=[MAIL, READ]))
    got = await way(wire, POLICY)
    assert got.calls == FOUND
    assert (got.text, got.kinds) == ("Both.", ["text", "tool_use"])
    assert got.stop == "tool_use"
    assert got.firewall["action"] == "block"
    assert got.firewall["stripped_tool_calls"] == ["t1"]
    (blocked,) = got.firewall["blocked_calls"]
    assert (blocked["name"], blocked["arguments"]) == ("send_email", '{"to":"[REDACTED:email]"}')
    assert "evil.test" in blocked["reasons"][1]


@every
async def test_a_reply_with_nothing_left_says_so(way: Way, wire: Wire) -> None:
    """C29: no call follows, and the block message stands where nothing else does."""
    wire.script(Say(calls=[MAIL]))
    got = await way(wire, POLICY)
    assert (got.calls, got.text, got.kinds) == ([], BLOCKED, ["text"])
    assert got.stop == "end_turn"
    assert got.firewall["rule_fired"] == "tool_denylist"


@every
async def test_a_secret_in_the_text_is_masked(way: Way, wire: Wire) -> None:
    """The decision says `redact`; a block beside it stays a block."""
    wire.script(Say(f"key {KEY} done"), Say(f"key {KEY} done", calls=[MAIL]))
    got = await way(wire, POLICY)
    assert got.text == f"key {MASK} done"
    assert got.firewall["action"] == "redact"
    got = await way(wire, POLICY)
    assert (got.calls, got.text, got.stop) == ([], f"key {MASK} done", "end_turn")
    assert got.firewall["action"] == "block"


@every
async def test_a_harmless_answer_is_as_it_was(way: Way, wire: Wire) -> None:
    """Thinking, text and calls; the decision says `allow`, and nothing else."""
    wire.script(Say("Fine.", calls=[READ], reasoning=f"I saw {KEY}."))
    got = await way(wire, POLICY)
    assert (got.calls, got.text) == (FOUND, "Fine.")
    assert got.kinds == ["thinking", "text", "tool_use"]
    assert got.firewall == {
        "action": "allow",
        "reason": None,
        "rule_fired": None,
        "stripped_tool_calls": [],
        "blocked_calls": [],
    }


@every
@pytest.mark.parametrize("denied", [{"default": "block"}, {"tools": {"sk-*": "block"}}])
async def test_a_decision_quotes_no_secret_that_is_a_name_or_an_id(
    way: Way, wire: Wire, denied: dict[str, Any]
) -> None:
    """A model may call a key, and answer to one; what is told of the call is fit to log."""
    policy = load_policy({"version": 2, "default": "allow", **denied})
    wire.script(Say(calls=[Call(KEY, "{}", KEY)]))
    got = await way(wire, policy)
    assert got.calls == []
    assert got.firewall["stripped_tool_calls"] == [MASK]
    assert got.firewall["blocked_calls"][0]["name"] == MASK
    assert f"tool '{MASK}' is " in got.firewall["reason"]
    assert KEY not in json.dumps(got.firewall)


@pytest.mark.parametrize("way", ways.STREAMED, ids=lambda way: way.__name__)
async def test_arguments_that_do_not_parse_never_arrive(way: Way, wire: Wire) -> None:
    """Broken JSON is refused with the reason; the valid call of the same turn stays (C25)."""
    broken = Call("read_doc", '{"path": "a.md", "text": "unfinis', "t1")
    wire.script(Say(calls=[broken, READ]))
    got = await way(wire, POLICY)
    assert got.calls == FOUND
    assert "not valid JSON" in got.firewall["reason"]


@every
async def test_the_providers_errors_are_the_sdks_own(way: Way, wire: Wire) -> None:
    """A rate limit, with its headers."""
    wire.script(Fail(429, "slow down", {"retry-after": "7"}))
    with pytest.raises(anthropic.RateLimitError) as caught:
        await way(wire, POLICY)
    assert caught.value.response.headers["retry-after"] == "7"


@every
async def test_what_an_error_says_is_the_providers_own(way: Way, wire: Wire) -> None:
    """To middleware, too, which sees replies that are errors."""
    wire.script(Fail(400, "no such model"))
    with pytest.raises(anthropic.BadRequestError) as caught:
        await way(wire, POLICY)
    error = {"type": "invalid_request_error", "message": "no such model"}
    assert caught.value.body == {"type": "error", "error": error}


def test_retries_are_the_sdks_own(wire: Wire) -> None:
    """A request that is tried again is masked again, and judged once."""
    client = ways.sync_client(wire, POLICY).with_options(max_retries=1)
    wire.script(Fail(429, "slow", {"retry-after-ms": "1"}), Say(calls=[READ]))
    asked = iter([{"role": "user", "content": KEY}])
    reply = client.messages.create(model="m", max_tokens=9, messages=asked)
    assert ways.of_message(reply).calls == FOUND
    assert [seen.body["messages"][0]["content"] for seen in wire.requests] == [MASK, MASK]


def message(*blocks: Any, stop: str = "tool_use", **more: Any) -> Raw:
    """A message with these blocks."""
    usage = {"input_tokens": 11, "output_tokens": 7}
    frame = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "usage": usage}
    content = {"content": list(blocks), "stop_reason": stop, "stop_sequence": None}
    return Raw({**frame, **content, **more})


def use(name: str, given: Any = None, call_id: str = "t1", **more: Any) -> dict[str, Any]:
    """A call's block."""
    return {"type": "tool_use", "id": call_id, "name": name, "input": given or {}, **more}


THINKING = {"type": "thinking", "thinking": f"the key is {KEY}", "signature": SIGNATURE}
HIDDEN = {"type": "redacted_thinking", "data": "EmwKAhgB"}
TEXT = {"type": "text", "text": "Now."}


def test_thinking_stays_in_place_and_signed(wire: Wire) -> None:
    """C71: one of two calls is refused; the next request carries the first three as they came."""
    client = ways.sync_client(wire, POLICY)
    wire.script(
        message(THINKING, HIDDEN, TEXT, use("send_email"), use("read_doc", call_id="t2")), Say("ok")
    )
    reply = client.messages.create(**ASKED)
    back = {"role": "assistant", "content": reply.content}
    result = {"type": "tool_result", "tool_use_id": "t2", "content": "fine"}
    answered = [*ASKED["messages"], back, {"role": "user", "content": [result]}]
    client.messages.create(model="m", max_tokens=9, messages=answered)
    sent = wire.requests[1].body["messages"][1]["content"]
    assert sent[:2] == [THINKING, HIDDEN]
    assert [block["type"] for block in sent[2:]] == ["text", "tool_use"]
    assert sent[3]["id"] == "t2"


def test_an_emptied_reply_can_be_sent_back(wire: Wire) -> None:
    """Its thinking stays before the block message, which is a block of the SDK's own class."""
    client = ways.sync_client(wire, POLICY)
    wire.script(message(THINKING, use("send_email")), Say("ok"))
    reply = client.messages.create(**ASKED)
    assert isinstance(reply.content[1], anthropic.types.TextBlock)
    assert reply.content[1].text == BLOCKED
    assert reply.stop_reason == "end_turn"
    client.messages.create(model="m", max_tokens=9, messages=[*ASKED["messages"], reply.to_param()])
    content = wire.requests[1].body["messages"][1]["content"]
    assert content[0] == THINKING
    assert content[1]["text"] == BLOCKED
    assert "firewall" not in json.dumps(wire.requests[1].body)


SERVER = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}}
RESULTS = {
    "type": "web_search_tool_result",
    "tool_use_id": "s1",
    "content": [
        {
            "type": "web_search_result",
            "title": f"About {KEY}",
            "url": "https://example.com/",
            "encrypted_content": KEY,
            "page_age": None,
        }
    ],
}
MCP = {"type": "mcp_tool_use", "id": "m1", "name": "send_email", "server_name": "x", "input": {}}
MCP_BACK = {"type": "mcp_tool_result", "tool_use_id": "m1", "is_error": False, "content": "sent"}


def test_calls_that_the_provider_ran_are_judged(wire: Wire) -> None:
    """A refused one goes with what it gave back; of one that stays the result is masked."""
    client = ways.sync_client(wire, POLICY)
    wire.script(message(SERVER, RESULTS, MCP, MCP_BACK, TEXT, stop="end_turn"))
    reply = client.beta.messages.create(**ASKED)
    kinds = ["server_tool_use", "web_search_tool_result", "text"]
    assert [block.type for block in reply.content] == kinds
    (found,) = reply.content[1].content
    assert (found.title, found.encrypted_content) == (f"About {MASK}", KEY)
    assert reply.firewall["stripped_tool_calls"] == ["m1"]
    assert reply.stop_reason == "end_turn"


@pytest.mark.parametrize("streamed", [False, True])
def test_a_paused_turn_whose_call_is_refused_is_not_resumed(streamed: bool, wire: Wire) -> None:
    """To send it back would run the call again."""
    policy = {"version": 1, "tool_denylist": ["web_search"]}
    client = ways.sync_client(wire, policy)
    if streamed:
        wire.script(Say(calls=[Call("web_search", "{}", "s1", SERVER)], finish="pause_turn"))
        with client.messages.stream(**ASKED) as stream:
            reply = stream.get_final_message()
    else:
        wire.script(message(SERVER, stop="pause_turn"))
        reply = client.messages.create(**ASKED)
    assert (reply.stop_reason, reply.content[0].text) == ("end_turn", BLOCKED)


@pytest.mark.parametrize(
    "block",
    [
        {"type": "hologram", "id": "t1", "to": "https://evil.test/"},
        {"type": "tool_use", "id": "t1", "input": {}},
        {"type": "tool_use", "id": "t1", "name": "", "input": {}},
        {"type": "tool_use", "id": "t1", "name": ["read_doc"], "input": {}},
        {"type": "tool_use", "id": "t1", "name": "read_doc", "input": ["x"]},
        {"id": "t1", "name": "read_doc", "input": {}},
        {"type": "remote_tool_use", "id": "t1", "name": "send_email", "input": {}},
        "read_doc",
    ],
)
def test_what_is_no_call_that_we_know_is_refused(block: Any, wire: Wire) -> None:
    """Nothing passes because it is new; whole or streamed."""
    client = ways.sync_client(wire, POLICY)
    start = {"type": "content_block_start", "index": 0, "content_block": block}
    stop = {"type": "content_block_stop", "index": 0}
    wire.script(message(block), Events([start, stop, {"type": "message_stop"}]))
    reply = client.messages.create(**ASKED)
    assert [block.type for block in reply.content] == ["text"]
    assert reply.firewall["action"] == "block"
    stream = client.messages.create(**ASKED, stream=True)
    assert [event.type for event in stream] == ["message_stop"]
    assert stream.firewall["action"] == "block"


def test_equal_ids_do_not_strip_their_siblings(wire: Wire) -> None:
    """A call is taken out by where it stands. Of two with one id the second is refused."""
    calls = [use("read_doc"), use("send_email"), use("search", call_id="t3")]
    wire.script(message(*calls), Say("", calls=[READ, Call("send_email", "{}", "t2")]))
    client = ways.sync_client(wire, POLICY)
    got = ways.of_message(client.messages.create(**ASKED))
    assert [name for name, _ in got.calls] == ["read_doc", "search"]
    with client.messages.stream(**ASKED) as stream:
        assert ways.of_message(stream.get_final_message()).calls == FOUND


@pytest.mark.parametrize("way", [ways.create, ways.stream, ways.helper])
async def test_masked_arguments_arrive_masked(way: Way, wire: Wire) -> None:
    """A verdict of `redact` lets the call through with its secrets masked."""
    policy = {"version": 2, "tools": {"post": "redact"}}
    wire.script(Say(calls=[Call("post", json.dumps({"text": KEY}))]))
    got = await way(wire, policy)
    assert got.calls == [("post", {"text": MASK})]


class Answer(BaseModel):
    """A structured answer."""

    key: str


def test_what_is_parsed_is_what_was_masked(wire: Wire) -> None:
    """A parsed answer holds the mask; where all was refused there is no text to be parsed."""
    client = ways.sync_client(wire, POLICY)
    answers = [Say(json.dumps({"key": KEY})), Say(calls=[MAIL])]
    wire.script(*answers, *answers)
    reply = client.messages.parse(**ASKED, output_format=Answer)
    assert reply.parsed_output == Answer(key=MASK)
    reply = client.messages.parse(**ASKED, output_format=Answer)
    assert (reply.parsed_output, reply.content, reply.stop_reason) == (None, [], "refusal")
    with client.messages.stream(**ASKED, output_format=Answer) as stream:
        assert stream.get_final_message().parsed_output == Answer(key=MASK)
    with client.messages.stream(**ASKED, output_format=Answer) as stream:
        reply = stream.get_final_message()
    assert (reply.content, reply.stop_reason) == ([], "refusal")


def test_a_reply_that_cannot_be_read_is_withheld(wire: Wire) -> None:
    """It might hold anything."""
    nonsense = ["event: message_start\ndata: nonsense\n\n"]
    wire.script(Raw("send_email()", "text/plain"), Raw([1]), Events(nonsense))
    client = ways.sync_client(wire, POLICY)
    for _ in range(2):
        with pytest.raises(ValueError, match="no JSON object; it was withheld"):
            client.messages.create(**ASKED)
    with pytest.raises(anthropic.APIStatusError, match="withheld"):
        list(client.messages.create(**ASKED, stream=True))


PLAIN = {"type": "text", "text": f"key {KEY}"}
SENT: list[dict[str, Any]] = [
    {"role": "user", "content": [
        {"type": "text", "text": f"it is {KEY}", "cache_control": {"type": "ephemeral"}},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": KEY}},
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": KEY}},
    ]},
    {"role": "assistant", "content": [
        THINKING, {"type": "text", "text": "ok"},
        use("read_doc", {"to": "a.b@example.com", "n": 1}, "toolu_sk_1"), SERVER, RESULTS,
    ]},
    {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "toolu_sk_1", "content": [PLAIN]},
        {"type": "tool_result", "tool_use_id": "toolu_2", "content": f"token {KEY}"},
        PLAIN,
    ]},
]  # fmt: skip


def test_a_request_is_walked_whole_and_the_callers_objects_stay(wire: Wire) -> None:
    """C01, C28: text, blocks, results and inputs are masked; ids and signatures stay
    (F035, X5)."""
    client = ways.sync_client(wire, POLICY)
    wire.script(*[Say("ok")] * 4, Raw({"input_tokens": 3}))
    given = copy.deepcopy(SENT)
    asked: dict[str, Any] = {"model": "m", "max_tokens": 9, "system": [PLAIN]}
    client.messages.create(**asked, messages=given)
    assert given == SENT
    assert PLAIN["text"].endswith(KEY)
    body = wire.requests[0].body
    assert body["system"][0]["text"] == f"key {MASK}"
    first, second, third = (message["content"] for message in body["messages"])
    assert first[0] == {**SENT[0]["content"][0], "text": f"it is {MASK}"}
    assert first[1] == SENT[0]["content"][1]
    assert first[2]["source"]["data"] == MASK
    assert second[0] == THINKING
    assert second[2]["input"] == {"to": "[REDACTED:email]", "n": 1}
    assert second[4]["content"][0]["encrypted_content"] == KEY
    assert [block["tool_use_id"] for block in third[:2]] == ["toolu_sk_1", "toolu_2"]
    assert third[0]["content"][0]["text"] == third[2]["text"] == f"key {MASK}"
    assert third[1]["content"] == f"token {MASK}"
    client.messages.create(**asked, messages=iter(given))
    client.beta.messages.create(**asked, messages=[], extra_body={"messages": given})
    client.messages.with_raw_response.create(**asked, messages=tuple(given))
    client.messages.count_tokens(model="m", messages=given, system=[PLAIN])
    assert [seen.body["messages"] for seen in wire.requests[1:]] == [body["messages"]] * 4
