"""Streams of the OpenAI door over HTTP: tokens, and what becomes of one that does not end."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import openai
import pytest

from edgeward import FirewallOpenAI, load_policy
from tests.wire.server import Events, Say, Wire

from . import openai_ways as ways
from .openai_chunks import STREAM, called, chunk, joined
from .openai_ways import ASKED, Joined
from .test_openai import MAIL, POLICY, READ


@pytest.fixture(autouse=True)
async def closed() -> AsyncIterator[None]:
    """No connection outlives its test."""
    yield
    await ways.close_all()


def test_a_usage_chunk_and_obfuscation_arrive(wire: Wire) -> None:
    """C76: the last chunk has no choice; `obfuscation` stays on the chunks that go out as they
    came."""
    events = [
        {**chunk(role="assistant", content=""), "obfuscation": "abc"},
        {**chunk("stop"), "obfuscation": "de"},
        {**chunk(), "choices": [], "usage": {"total_tokens": 9}},
        "data: [DONE]\n\n",
    ]
    wire.script(Events(events))
    more = {"stream_options": {"include_usage": True, "include_obfuscation": True}}
    got = list(ways.sync_client(wire, POLICY).chat.completions.create(**STREAM, **more))
    assert got[-1].usage.total_tokens == 9
    assert [getattr(c, "obfuscation", None) for c in got] == ["abc", "de", None]
    assert wire.requests[0].body["stream_options"] == more["stream_options"]


@pytest.mark.parametrize("usage", [(11, 7), None])
def test_streamed_tokens_count(usage: tuple[int, int] | None, wire: Wire) -> None:
    """C76: as the provider says, or by an estimate; the budget ends the conversation."""
    policy = load_policy({"version": 2, "tools": {"*": "allow"}, "token_budget_per_session": 15})
    client = ways.sync_client(wire, policy)
    said = "word " * 40
    wire.script(Say(said, usage=usage), Say(calls=[READ]))
    list(client.chat.completions.create(**STREAM, stream_options={"include_usage": True}))
    history = [*ASKED["messages"], {"role": "assistant", "content": said}]
    history.append({"role": "user", "content": "And now?"})
    reply = client.chat.completions.create(model="m", messages=history)
    assert "token budget" in reply.firewall["reason"]


def test_a_consumer_that_stops_early(wire: Wire) -> None:
    """The connection is closed; a call that was not whole is told as refused, text is not."""
    client = ways.sync_client(wire, POLICY)
    wire.script(Say("Some words to read. " * 20, calls=[READ]), Say("ok"))
    stream = client.chat.completions.create(**STREAM)
    for data in stream:
        if data.choices[0].delta.content:
            break
    assert stream.firewall is None
    stream.close()
    assert stream.firewall["action"] == "allow"
    assert stream.response.is_closed
    with client.chat.completions.create(**STREAM) as other:
        next(other)
    assert other.firewall is not None


def test_an_upstream_that_breaks_off(wire: Wire) -> None:
    """The SDK's own error; what was held back goes nowhere; the decision says why."""
    client = ways.sync_client(wire, POLICY)
    wire.script(Say("Hi.", calls=[READ], cut_after=6))
    stream = client.chat.completions.create(**STREAM)
    got: list[Any] = []
    with pytest.raises(Exception, match=r"(?i)connection|peer|reset"):
        got.extend(stream)
    assert "read_doc" not in str(got)
    assert "before the call was whole" in stream.firewall["reason"]


@pytest.mark.parametrize("done", [True, False])
def test_a_stream_that_ends_without_a_reason(done: bool, wire: Wire) -> None:
    """Where the provider says that it is done, calls count as whole; otherwise they do not."""
    events: list[Any] = [called(0, "read_doc", "{}", id="c1"), chunk(content="Hi.")]
    wire.script(Events([*events, *(["data: [DONE]\n\n"] if done else [])]))
    stream = ways.sync_client(wire, POLICY).chat.completions.create(**STREAM)
    made = Joined()
    for data in stream:
        made.add(data)
    got = made.end(stream)
    assert got.text == "Hi."
    assert got.calls == ([("read_doc", "{}")] if done else [])
    if not done:
        assert "before the call was whole" in got.firewall["reason"]


async def test_a_server_that_answers_whole(wire: Wire) -> None:
    """To a client that wants a stream: it is no stream, and nothing of it is read."""
    body = json.dumps({"choices": [], "object": "chat.completion"})
    wire.script(Events([body]))
    stream = ways.sync_client(wire, POLICY).chat.completions.create(**STREAM)
    with pytest.raises(openai.APIError, match="withheld"):
        list(stream)


def test_an_error_in_the_stream_is_the_sdks_own(wire: Wire) -> None:
    """As the provider sent it."""
    wire.script(Events([chunk(content="Hi"), {"error": {"message": "overloaded"}}]))
    with pytest.raises(openai.APIError, match="overloaded"):
        list(ways.sync_client(wire, POLICY).chat.completions.create(**STREAM))


def test_a_stream_that_somebody_has_read_already(wire: Wire) -> None:
    """A hook of the HTTP client's that looks at the body, say: it is guarded all the same."""
    http = openai.DefaultHttpxClient(event_hooks={"response": [lambda response: response.read()]})
    raw = openai.OpenAI(api_key="k", base_url=wire.openai_url, max_retries=0, http_client=http)
    wire.script(Say("Hi.", calls=[MAIL, READ]))
    made = Joined()
    with FirewallOpenAI(raw, POLICY) as client:
        stream = client.chat.completions.create(**STREAM)
        for data in stream:
            made.add(data)
    assert made.end(stream).calls == [("read_doc", READ.arguments)]


def test_comments_pass(wire: Wire) -> None:
    """Some providers keep the line open with them."""
    wire.script(Events([": PROCESSING\n\n", chunk("stop", content="Hi."), "data: [DONE]\n\n"]))
    got = list(ways.sync_client(wire, POLICY).chat.completions.create(**STREAM))
    assert joined([c.to_dict() for c in got]).text == "Hi."
