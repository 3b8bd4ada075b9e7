"""All the ways in which a program asks OpenAI's SDK for an answer, and what it gets each time.

A way takes the server and a policy, and says what reached the program. It uses the SDK as a program
does: real clients, real objects, over HTTP.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import openai

from edgeward.clients import FirewallOpenAI
from tests.wire.server import Wire

OLD = openai.VERSION.startswith("1.")
"""The oldest SDK that is supported has no Responses API, and its helpers are in beta."""

_OPENED: list[Any] = []

ASKED: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Go on."}]}


@dataclass
class Got:
    """What reached the program."""

    calls: list[tuple[str, Any]] = field(default_factory=list)
    text: str = ""
    finish: str = ""
    firewall: Any = None


Way = Callable[[Wire, Any], Awaitable[Got]]


def sync_client(wire: Wire, policy: Any, **more: Any) -> Any:
    """A guarded client."""
    http = openai.DefaultHttpxClient(verify=False)  # no certificates to load
    raw = openai.OpenAI(api_key="k", base_url=wire.openai_url, max_retries=0, http_client=http)
    _OPENED.append(raw)
    return FirewallOpenAI(raw, policy, **more)


def async_client(wire: Wire, policy: Any, **more: Any) -> Any:
    """A guarded client that is async."""
    http = openai.DefaultAsyncHttpxClient(verify=False)
    raw = openai.AsyncOpenAI(api_key="k", base_url=wire.openai_url, max_retries=0, http_client=http)
    _OPENED.append(raw)
    return FirewallOpenAI(raw, policy, **more)


async def close_all() -> None:
    """Close the connections of all clients."""
    while _OPENED:
        closing = _OPENED.pop().close()
        if closing is not None:
            await closing


def of_completion(reply: Any) -> Got:
    """What a completion holds, all choices together."""
    got = Got(firewall=getattr(reply, "firewall", None))
    for choice in reply.choices:
        message = choice.message
        got.text += message.content or message.refusal or ""
        got.finish = choice.finish_reason
        for call in message.tool_calls or []:
            inner = getattr(call, "function", None)
            pair = (inner.name, inner.arguments) if inner else (call.custom.name, call.custom.input)
            got.calls.append(pair)
        if message.function_call:
            got.calls.append((message.function_call.name, message.function_call.arguments))
    return got


class Joined:
    """What chunks come to, as a program puts them together."""

    def __init__(self) -> None:
        self.got = Got()
        self._calls: dict[Any, list[str]] = {}

    def add(self, chunk: Any) -> None:
        """One chunk more."""
        for choice in chunk.choices:
            delta = choice.delta
            self.got.text += delta.content or getattr(delta, "refusal", None) or ""
            self.got.finish = choice.finish_reason or self.got.finish
            for piece in delta.tool_calls or []:
                known = self._calls.setdefault((choice.index, piece.index), ["", ""])
                known[0] += piece.function.name or ""
                known[1] += piece.function.arguments or ""
            if delta.function_call:
                known = self._calls.setdefault((choice.index, "old"), ["", ""])
                known[0] += delta.function_call.name or ""
                known[1] += delta.function_call.arguments or ""

    def end(self, stream: Any) -> Got:
        """All of it."""
        self.got.calls = [(name, arguments) for name, arguments in self._calls.values()]
        self.got.firewall = stream.firewall
        return self.got


async def create(wire: Wire, policy: Any) -> Got:
    """Sync, whole."""
    return of_completion(sync_client(wire, policy).chat.completions.create(**ASKED))


async def create_async(wire: Wire, policy: Any) -> Got:
    """Async, whole."""
    return of_completion(await async_client(wire, policy).chat.completions.create(**ASKED))


async def parse(wire: Wire, policy: Any) -> Got:
    """`parse` without anything to parse."""
    client = sync_client(wire, policy)
    chat = client.beta.chat if OLD else client.chat
    return of_completion(chat.completions.parse(**ASKED))


async def parse_async(wire: Wire, policy: Any) -> Got:
    """The same, async, and under `beta`, where it was."""
    client = async_client(wire, policy)
    return of_completion(await client.beta.chat.completions.parse(**ASKED))


async def raw(wire: Wire, policy: Any) -> Got:
    """The raw response, parsed."""
    reply = sync_client(wire, policy).chat.completions.with_raw_response.create(**ASKED)
    return of_completion(reply.parse())


async def raw_async(wire: Wire, policy: Any) -> Got:
    """The raw response of the client's own view, parsed."""
    client = async_client(wire, policy).with_raw_response
    return of_completion((await client.chat.completions.create(**ASKED)).parse())


async def raw_body(wire: Wire, policy: Any) -> Got:
    """The raw response's own text, which no SDK object has read."""
    client = sync_client(wire, policy)
    reply = client.chat.completions.with_raw_response.create(**ASKED)
    assert json.loads(reply.content) == json.loads(reply.text) == reply.http_response.json()
    return of_json(json.loads(reply.text))


def of_json(data: dict[str, Any]) -> Got:
    """What a body holds."""
    got = Got(firewall=data["firewall"])
    for choice in data["choices"]:
        message = choice["message"]
        got.text += message.get("content") or message.get("refusal") or ""
        got.finish = choice["finish_reason"]
        for call in message.get("tool_calls") or []:
            got.calls.append((call["function"]["name"], call["function"]["arguments"]))
    return got


async def streaming_response(wire: Wire, policy: Any) -> Got:
    """A streaming response, read in bytes."""
    client = sync_client(wire, policy)
    with client.chat.completions.with_streaming_response.create(**ASKED) as reply:
        return of_json(json.loads(b"".join(reply.iter_bytes(7))))


async def streaming_response_async(wire: Wire, policy: Any) -> Got:
    """A streaming response, parsed."""
    client = async_client(wire, policy)
    async with client.chat.completions.with_streaming_response.create(**ASKED) as reply:
        return of_completion(await reply.parse())


async def copied(wire: Wire, policy: Any) -> Got:
    """A copy with options."""
    client = sync_client(wire, policy).with_options(timeout=5).copy(max_retries=0)
    return of_completion(client.chat.completions.create(**ASKED))


async def copied_async(wire: Wire, policy: Any) -> Got:
    """A copy of the async client."""
    client = async_client(wire, policy).with_options(timeout=5)
    return of_completion(await client.chat.completions.create(**ASKED))


async def stream(wire: Wire, policy: Any) -> Got:
    """Chunk by chunk."""
    joined = Joined()
    reply = sync_client(wire, policy).chat.completions.create(**ASKED, stream=True)
    for chunk in reply:
        joined.add(chunk)
    return joined.end(reply)


async def stream_async(wire: Wire, policy: Any) -> Got:
    """Chunk by chunk, async."""
    joined = Joined()
    client = async_client(wire, policy)
    async with await client.chat.completions.create(**ASKED, stream=True) as reply:
        async for chunk in reply:
            joined.add(chunk)
    return joined.end(reply)


async def raw_stream(wire: Wire, policy: Any) -> Got:
    """A raw response whose stream is read."""
    joined = Joined()
    client = sync_client(wire, policy)
    reply = client.chat.completions.with_raw_response.create(**ASKED, stream=True).parse()
    for chunk in reply:
        joined.add(chunk)
    return joined.end(reply)


async def streaming_response_stream(wire: Wire, policy: Any) -> Got:
    """A streaming response whose lines of events are read."""
    joined = Joined()
    client = sync_client(wire, policy)
    method = client.chat.completions.with_streaming_response.create
    with method(**ASKED, stream=True) as reply:
        lines = [line.removeprefix("data: ") for line in reply.iter_lines()]
    for line in lines:
        if line.startswith("{"):
            joined.add(openai.types.chat.ChatCompletionChunk.model_validate_json(line))
    joined.got.firewall = reply.http_response.request.extensions["edgeward"].firewall
    return joined.end(joined.got)


async def helper(wire: Wire, policy: Any) -> Got:
    """The helper that gives events, and the whole in the end."""
    client = sync_client(wire, policy)
    chat = client.beta.chat if OLD else client.chat
    with chat.completions.stream(**ASKED) as reply:
        got = of_completion(reply.get_final_completion())
        assert reply.firewall == got.firewall
    return got


async def helper_async(wire: Wire, policy: Any) -> Got:
    """The same, async, event by event."""
    client = async_client(wire, policy)
    async with client.beta.chat.completions.stream(**ASKED) as reply:
        chunks = [event.chunk async for event in reply if event.type == "chunk"]
        joined = Joined()
        for chunk in chunks:
            joined.add(chunk)
        final = of_completion(await reply.get_final_completion())
        got = joined.end(reply)
    assert (got.calls, got.text) == (final.calls, final.text)
    return got


WHOLE: list[Way] = [
    create,
    create_async,
    parse,
    parse_async,
    raw,
    raw_async,
    raw_body,
    streaming_response,
    streaming_response_async,
    copied,
    copied_async,
]
STREAMED: list[Way] = [
    stream,
    stream_async,
    raw_stream,
    streaming_response_stream,
    helper,
    helper_async,
]


def of_response(reply: Any) -> Got:
    """What a response of the Responses API holds."""
    got = Got(text=reply.output_text, finish=reply.status)
    got.firewall = getattr(reply, "firewall", None)
    for item in reply.output:
        if item.type != "message":
            got.calls.append((getattr(item, "name", item.type), getattr(item, "arguments", None)))
        else:
            got.text += "".join(p.refusal for p in item.content if p.type == "refusal")
    return got


INPUT: dict[str, Any] = {"model": "m", "input": "Go on."}


async def respond(wire: Wire, policy: Any) -> Got:
    """A response, sync."""
    return of_response(sync_client(wire, policy).responses.create(**INPUT))


async def respond_async(wire: Wire, policy: Any) -> Got:
    """A response, async, on a copy."""
    client = async_client(wire, policy).copy(timeout=5)
    return of_response(await client.responses.create(**INPUT))


async def respond_parse(wire: Wire, policy: Any) -> Got:
    """`parse` without anything to parse."""
    return of_response(sync_client(wire, policy).responses.parse(**INPUT))


async def respond_raw(wire: Wire, policy: Any) -> Got:
    """The raw response, parsed."""
    client = sync_client(wire, policy)
    return of_response(client.responses.with_raw_response.create(**INPUT).parse())


async def respond_stream(wire: Wire, policy: Any) -> Got:
    """Events; what the deltas say is what the end says."""
    reply = sync_client(wire, policy).responses.create(**INPUT, stream=True)
    return _events(list(reply), reply)


async def respond_stream_async(wire: Wire, policy: Any) -> Got:
    """Events, async."""
    reply = await async_client(wire, policy).responses.create(**INPUT, stream=True)
    return _events([event async for event in reply], reply)


async def respond_helper(wire: Wire, policy: Any) -> Got:
    """The helper, and the whole in the end."""
    with sync_client(wire, policy).responses.stream(**INPUT) as reply:
        got = of_response(reply.get_final_response())
        assert reply.firewall == got.firewall
    return got


async def respond_helper_async(wire: Wire, policy: Any) -> Got:
    """The helper, async."""
    async with async_client(wire, policy).responses.stream(**INPUT) as reply:
        got = of_response(await reply.get_final_response())
        assert reply.firewall == got.firewall
    return got


def _events(events: list[Any], stream: Any) -> Got:
    got = of_response(next(e.response for e in events if e.type == "response.completed"))
    said = [e.delta for e in events if e.type in ("response.output_text.delta", _REFUSED)]
    assert "".join(said) == got.text
    done = [e.item for e in events if e.type == "response.output_item.done"]
    assert [item.type for item in done if item.type != "message"] == [
        e.item.type
        for e in events
        if e.type == "response.output_item.added" and e.item.type != "message"
    ]
    spelled = [e.delta for e in events if e.type == "response.function_call_arguments.delta"]
    assert "".join(spelled) == "".join(a or "" for _, a in got.calls)
    assert stream.firewall == got.firewall
    return got


_REFUSED = "response.refusal.delta"

RESPONSES: list[Way] = (
    []
    if OLD
    else [
        respond,
        respond_async,
        respond_parse,
        respond_raw,
        respond_stream,
        respond_stream_async,
        respond_helper,
        respond_helper_async,
    ]
)

ALL = [*WHOLE, *STREAMED, *RESPONSES]
