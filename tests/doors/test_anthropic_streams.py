"""Streams of the Anthropic door over HTTP: tokens, and what becomes of one that does not end."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import anthropic
import httpx2
import pytest

from edgeward import FirewallAnthropic, load_policy
from tests.wire.server import Events, Raw, Say, Wire

from . import anthropic_ways as ways
from .anthropic_events import STREAM, TEXT, framed, said
from .anthropic_ways import ASKED
from .test_anthropic import BLOCKED, FOUND, MAIL, MASK, POLICY, READ, message


@pytest.fixture(autouse=True)
async def closed() -> AsyncIterator[None]:
    """No connection outlives its test."""
    yield
    await ways.close_all()


@pytest.mark.parametrize("ends", ["whole", "early", "reset"])
def test_streamed_tokens_count(ends: str, wire: Wire) -> None:
    """C76: as the provider says, or by an estimate; the budget ends the conversation."""
    policy = load_policy({"version": 2, "tools": {"*": "allow"}, "token_budget_per_session": 15})
    client = ways.sync_client(wire, policy)
    words = "word " * 40
    cut = 8 if ends == "reset" else None
    wire.script(Say(words, ends_early=ends == "early", cut_after=cut), Say(calls=[READ]))
    stream = client.messages.create(**STREAM)
    if ends == "reset":
        with pytest.raises((anthropic.APIError, httpx2.HTTPError)):
            list(stream)
    else:
        list(stream)
    history = [*ASKED["messages"], {"role": "assistant", "content": words}]
    history.append({"role": "user", "content": "And now?"})
    reply = client.messages.create(**{**ASKED, "messages": history})
    assert "token budget" in reply.firewall["reason"]


def test_a_consumer_that_stops_early(wire: Wire) -> None:
    """The connection is closed; the decision is there."""
    client = ways.sync_client(wire, POLICY)
    wire.script(*[Say("Some words to read. " * 20, calls=[READ])] * 2)
    stream = client.messages.create(**STREAM)
    for data in stream:
        if data.type == "content_block_delta":
            break
    assert stream.firewall is None
    stream.close()
    assert stream.firewall["action"] == "allow"
    assert stream.response.is_closed
    with client.messages.stream(**ASKED) as other:
        next(iter(other))
    assert other.firewall is not None


async def test_an_async_consumer_that_stops_early(wire: Wire) -> None:
    """The same."""
    client = ways.async_client(wire, POLICY)
    wire.script(Say("Some words to read. " * 20, calls=[READ]))
    async with client.messages.stream(**ASKED) as stream:
        async for text in stream.text_stream:
            assert text
            break
    assert stream.firewall["action"] == "allow"


@pytest.mark.parametrize("name", ["messages", "beta.messages"])
def test_an_upstream_that_breaks_off(name: str, wire: Wire) -> None:
    """The SDK's own error; what was held back goes nowhere; the decision says why."""
    client = ways.sync_client(wire, POLICY)
    resource = client.beta.messages if name.startswith("beta") else client.messages
    wire.script(Say("Hi there.", calls=[READ], cut_after=11))
    stream = resource.create(**STREAM)
    got = []
    with pytest.raises((anthropic.APIError, httpx2.HTTPError)):
        got += list(stream)
    assert "before the call was whole" in stream.firewall["reason"]
    assert all(event.type != "message_stop" for event in got)


def test_an_end_without_the_closing_events(wire: Wire) -> None:
    """In good order, but early: the text's end arrives, masked; a whole call was judged."""
    client = ways.sync_client(wire, POLICY)
    wire.script(Say(TEXT, calls=[MAIL, READ], ends_early=True))
    with client.messages.stream(**ASKED) as stream:
        got = ways.of_message(stream.get_final_message())
    assert (got.text, got.calls) == (f"key {MASK} done", FOUND)
    assert stream.firewall["action"] == "block"


def test_an_error_in_the_stream_is_the_sdks_own(wire: Wire) -> None:
    """As the provider sent it."""
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "overloaded"}}
    start, begun, *_ = framed(said("Hi."))
    wire.script(*[Events([start, begun, error])] * 2)
    client = ways.sync_client(wire, POLICY)
    stream = client.messages.create(**STREAM)
    with pytest.raises(anthropic.APIStatusError, match="overloaded"):
        list(stream)
    assert stream.firewall["action"] == "allow"
    with (
        pytest.raises(anthropic.APIStatusError, match="overloaded"),
        client.beta.messages.stream(**ASKED) as helper,
    ):
        helper.until_done()


def test_a_server_that_answers_whole(wire: Wire) -> None:
    """To a client that wants a stream: it is no stream, and nothing of it is read."""
    body = message({"type": "tool_use", "id": "t1", "name": "send_email", "input": {}})
    wire.script(body, body, Raw(json.dumps(body.body, indent=1)))
    client = ways.sync_client(wire, POLICY)
    with pytest.raises(anthropic.APIStatusError, match="withheld"):
        list(client.messages.create(**STREAM))
    for _ in range(2):
        with client.messages.with_streaming_response.create(**STREAM) as reply:
            assert b"send_email" not in b"".join(reply.iter_bytes())


def test_a_stream_that_somebody_has_read_already(wire: Wire) -> None:
    """A hook of the HTTP client's that looks at the body, say: it is guarded all the same."""
    http = anthropic.DefaultHttpxClient(
        event_hooks={"response": [lambda response: response.read()]}
    )
    raw = anthropic.Anthropic(api_key="k", base_url=wire.url, max_retries=0, http_client=http)
    wire.script(Say("Hi.", calls=[MAIL, READ]))
    with FirewallAnthropic(raw, POLICY) as client, client.messages.stream(**ASKED) as stream:
        assert ways.of_message(stream.get_final_message()).calls == FOUND


def test_bodies_that_are_no_message(wire: Wire) -> None:
    """Content that is a text, or is none, is read as what it comes to."""
    frame = message().body
    wire.script(
        Raw({**frame, "content": TEXT, "stop_reason": "end_turn"}),
        Raw({**frame, "content": {"type": "tool_use", "name": "send_email", "id": "x"}}),
        Raw({**frame, "content": None}),
    )
    client = ways.sync_client(wire, POLICY)
    texts = [[b.text for b in client.messages.create(**ASKED).content] for _ in range(3)]
    assert texts == [[f"key {MASK} done"], [BLOCKED], []]
