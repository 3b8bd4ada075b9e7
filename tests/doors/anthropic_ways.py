"""All the ways in which a program asks Anthropic's SDK for an answer, and what it gets each time.

A way takes the server and a policy, and says what reached the program. It uses the SDK as a program
does: real clients, real objects, over HTTP.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import anthropic
from pydantic import TypeAdapter

from edgeward import FirewallAnthropic
from tests.wire.server import Wire

_OPENED: list[Any] = []
_EVENTS: Any = TypeAdapter(anthropic.types.RawMessageStreamEvent)

ASKED: dict[str, Any] = {
    "model": "m",
    "max_tokens": 64,
    "messages": [{"role": "user", "content": "Go on."}],
}


@dataclass
class Got:
    """What reached the program."""

    calls: list[tuple[str, Any]] = field(default_factory=list)
    text: str = ""
    stop: str = ""
    kinds: list[str] = field(default_factory=list)
    firewall: Any = None


Way = Callable[[Wire, Any], Awaitable[Got]]


def sync_client(wire: Wire, policy: Any, **more: Any) -> Any:
    """A guarded client."""
    http = anthropic.DefaultHttpxClient(verify=False)  # no certificates to load
    raw = anthropic.Anthropic(api_key="k", base_url=wire.url, max_retries=0, http_client=http)
    _OPENED.append(raw)
    return FirewallAnthropic(raw, policy, **more)


def async_client(wire: Wire, policy: Any, **more: Any) -> Any:
    """A guarded client that is async."""
    http = anthropic.DefaultAsyncHttpxClient(verify=False)
    raw = anthropic.AsyncAnthropic(api_key="k", base_url=wire.url, max_retries=0, http_client=http)
    _OPENED.append(raw)
    return FirewallAnthropic(raw, policy, **more)


async def close_all() -> None:
    """Close the connections of all clients."""
    while _OPENED:
        closing = _OPENED.pop().close()
        if closing is not None:
            await closing


def of_message(message: Any) -> Got:
    """What a message holds."""
    got = Got(stop=message.stop_reason, firewall=getattr(message, "firewall", None))
    for block in message.content:
        got.kinds.append(block.type)
        if block.type == "text":
            got.text += block.text
        elif block.type.endswith("tool_use"):
            got.calls.append((block.name, block.input))
    return got


def of_json(data: dict[str, Any]) -> Got:
    """What a body holds, which no SDK object has read."""
    got = of_message(anthropic.types.Message.model_validate(data))
    assert got.firewall == data["firewall"]
    return got


class Joined:
    """What events come to, as a program puts them together by their positions."""

    def __init__(self) -> None:
        self.got = Got()
        self._blocks: list[Any] = []
        self._spelled: dict[int, str] = {}

    def add(self, event: Any) -> None:
        """One event more."""
        if event.type == "content_block_start":
            assert event.index == len(self._blocks)
            self._blocks.append(event.content_block)
            self._spelled[event.index] = ""
        elif event.type == "content_block_delta":
            delta = event.delta
            for name in ("text", "partial_json"):
                self._spelled[event.index] += getattr(delta, name, "")
        elif event.type == "message_delta":
            self.got.stop = event.delta.stop_reason

    def end(self, firewall: Any) -> Got:
        """All of it."""
        for index, block in enumerate(self._blocks):
            self.got.kinds.append(block.type)
            spelled = self._spelled[index]
            if block.type == "text":
                self.got.text += block.text + spelled
            elif block.type.endswith("tool_use"):
                self.got.calls.append((block.name, json.loads(spelled) if spelled else block.input))
        self.got.firewall = firewall
        return self.got


async def create(wire: Wire, policy: Any) -> Got:
    """Sync, whole."""
    return of_message(sync_client(wire, policy).messages.create(**ASKED))


async def create_async(wire: Wire, policy: Any) -> Got:
    """Async, whole."""
    return of_message(await async_client(wire, policy).messages.create(**ASKED))


async def create_beta(wire: Wire, policy: Any) -> Got:
    """Under `beta`."""
    return of_message(sync_client(wire, policy).beta.messages.create(**ASKED, betas=["x-1"]))


async def create_beta_async(wire: Wire, policy: Any) -> Got:
    """Under `beta`, async."""
    return of_message(await async_client(wire, policy).beta.messages.create(**ASKED))


async def parse(wire: Wire, policy: Any) -> Got:
    """`parse` without anything to parse."""
    return of_message(sync_client(wire, policy).messages.parse(**ASKED))


async def parse_async(wire: Wire, policy: Any) -> Got:
    """The same, async, under `beta`."""
    return of_message(await async_client(wire, policy).beta.messages.parse(**ASKED))


async def raw(wire: Wire, policy: Any) -> Got:
    """The raw response, parsed."""
    return of_message(sync_client(wire, policy).messages.with_raw_response.create(**ASKED).parse())


async def raw_async(wire: Wire, policy: Any) -> Got:
    """The raw response of the client's own view, parsed."""
    client = async_client(wire, policy).with_raw_response
    return of_message(await (await client.messages.create(**ASKED)).parse())


async def raw_body(wire: Wire, policy: Any) -> Got:
    """The raw response's own text, which no SDK object has read."""
    reply = sync_client(wire, policy).beta.messages.with_raw_response.create(**ASKED)
    assert json.loads(reply.read()) == json.loads(reply.text()) == reply.http_response.json()
    return of_json(json.loads(reply.text()))


async def streaming_response(wire: Wire, policy: Any) -> Got:
    """A streaming response, read in bytes."""
    client = sync_client(wire, policy)
    with client.messages.with_streaming_response.create(**ASKED) as reply:
        return of_json(json.loads(b"".join(reply.iter_bytes(7))))


async def streaming_response_async(wire: Wire, policy: Any) -> Got:
    """A streaming response, parsed."""
    client = async_client(wire, policy)
    async with client.messages.with_streaming_response.create(**ASKED) as reply:
        return of_message(await reply.parse())


async def copied(wire: Wire, policy: Any) -> Got:
    """A copy with options, and one with middleware."""
    client = sync_client(wire, policy).with_options(timeout=5).copy(max_retries=0)
    client = client.with_middleware(lambda request, call_next: call_next(request))
    return of_message(client.messages.create(**ASKED))


async def copied_async(wire: Wire, policy: Any) -> Got:
    """A copy of the async client."""
    client = async_client(wire, policy).with_options(timeout=5)
    return of_message(await client.messages.create(**ASKED))


async def stream(wire: Wire, policy: Any) -> Got:
    """Event by event."""
    joined = Joined()
    reply = sync_client(wire, policy).messages.create(**ASKED, stream=True)
    for event in reply:
        joined.add(event)
    return joined.end(reply.firewall)


async def stream_async(wire: Wire, policy: Any) -> Got:
    """Event by event, async, under `beta`."""
    joined = Joined()
    client = async_client(wire, policy)
    async with await client.beta.messages.create(**ASKED, stream=True) as reply:
        async for event in reply:
            joined.add(event)
    return joined.end(reply.firewall)


async def raw_stream(wire: Wire, policy: Any) -> Got:
    """A raw response whose stream is read, on a copy with middleware."""
    joined = Joined()
    client = sync_client(wire, policy).with_middleware(
        lambda request, call_next: call_next(request)
    )
    reply = client.messages.with_raw_response.create(**ASKED, stream=True).parse()
    for event in reply:
        joined.add(event)
    return joined.end(reply.firewall)


async def streaming_response_stream(wire: Wire, policy: Any) -> Got:
    """A streaming response whose lines of events are read."""
    joined = Joined()
    client = sync_client(wire, policy)
    method = client.messages.with_streaming_response.create
    with method(**ASKED, stream=True) as reply:
        lines = [line.removeprefix("data: ") for line in reply.iter_lines()]
    told = None
    for line in lines:
        if line.startswith("{"):
            data = json.loads(line)
            told = data.get("firewall", told)
            if data["type"] != "ping":
                joined.add(_EVENTS.validate_python(data))
    return joined.end(told)


async def helper(wire: Wire, policy: Any) -> Got:
    """The helper, and the whole in the end."""
    with sync_client(wire, policy).messages.stream(**ASKED) as reply:
        got = of_message(reply.get_final_message())
        assert reply.firewall == got.firewall
    return got


async def helper_text(wire: Wire, policy: Any) -> Got:
    """The text alone, then the whole, under `beta`."""
    with sync_client(wire, policy).beta.messages.stream(**ASKED) as reply:
        text = "".join(reply.text_stream)
        got = of_message(reply.get_final_message())
        assert got.text == text
        if text:
            assert reply.get_final_text() == text
    return got


async def helper_async(wire: Wire, policy: Any) -> Got:
    """The same, async, event by event; what each block's end says is what the whole says."""
    async with async_client(wire, policy).messages.stream(**ASKED) as reply:
        events = [event async for event in reply]
        await reply.until_done()
        got = of_message(await reply.get_final_message())
        assert reply.firewall == got.firewall
    blocks = [event.content_block for event in events if event.type == "content_block_stop"]
    assert [block.type for block in blocks] == got.kinds
    assert "".join(event.text for event in events if event.type == "text") == got.text
    joined = Joined()
    for event in events:
        joined.add(event)
    assert joined.end(got.firewall).text == got.text
    return got


async def runner(wire: Wire, policy: Any) -> Got:
    """The first message of a tool runner."""
    client = sync_client(wire, policy)
    return of_message(next(iter(client.beta.messages.tool_runner(**ASKED, tools=[]))))


async def runner_async(wire: Wire, policy: Any) -> Got:
    """The same, async."""
    client = async_client(wire, policy)
    async for message in client.beta.messages.tool_runner(**ASKED, tools=[]):
        return of_message(message)
    raise AssertionError("no message")


WHOLE: list[Way] = [
    create,
    create_async,
    create_beta,
    create_beta_async,
    parse,
    parse_async,
    raw,
    raw_async,
    raw_body,
    streaming_response,
    streaming_response_async,
    copied,
    copied_async,
    runner,
    runner_async,
]
STREAMED: list[Way] = [
    stream,
    stream_async,
    raw_stream,
    streaming_response_stream,
    helper,
    helper_text,
    helper_async,
]
ALL = [*WHOLE, *STREAMED]
