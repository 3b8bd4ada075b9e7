"""All the ways in which a program asks Google's SDK for an answer, and what it gets each time.

A way takes the server and a policy, and says what reached the program. It uses the SDK as a program
does: real clients, real objects, over HTTP.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import httpx
from google import genai
from google.genai import types

from edgeward import FirewallGoogleGenerativeAI
from tests.wire.server import Wire

_OPENED: list[Any] = []

ASKED: dict[str, Any] = {"model": "m", "contents": "Go on."}


@dataclass
class Got:
    """What reached the program."""

    calls: list[tuple[str, Any]] = field(default_factory=list)
    text: str = ""
    finish: str = ""
    firewall: Any = None

    def add(self, reply: Any) -> None:
        """A response, or a piece of one: all candidates."""
        for one in reply.candidates or []:
            self.finish = one.finish_reason.name if one.finish_reason else self.finish
            for part in (one.content and one.content.parts) or []:
                self.text += part.text or "" if not part.thought else ""
                if part.function_call:
                    self.calls.append((part.function_call.name, part.function_call.args))


Way = Callable[[Wire, Any], Awaitable[Got]]


def raw_client(wire: Wire, *, vertexai: bool = False) -> genai.Client:
    """A client that nothing guards."""
    sync, other = httpx.Client(verify=False), httpx.AsyncClient(verify=False)
    _OPENED.extend((sync, other))
    clients: dict[str, Any] = {"httpx_client": sync, "httpx_async_client": other}
    if "httpx_client" not in types.HttpOptions.model_fields:  # google-genai 1.40
        clients = {"client_args": {"verify": False}, "async_client_args": {"verify": False}}
    options = types.HttpOptions(base_url=wire.url, timeout=20_000, **clients)
    made = genai.Client(api_key="k", http_options=options, vertexai=vertexai)
    _OPENED.append(made)  # that version closes its connections when nobody holds the client itself
    return made


def client(wire: Wire, policy: Any, *, vertexai: bool = False, **more: Any) -> Any:
    """A guarded client, sync and async."""
    return FirewallGoogleGenerativeAI(raw_client(wire, vertexai=vertexai), policy, **more)


async def close_all() -> None:
    """Close the connections of all clients."""
    while _OPENED:
        closing = _OPENED.pop()
        if isinstance(closing, httpx.AsyncClient):
            await closing.aclose()
        elif hasattr(closing, "close"):
            closing.close()


def whole(reply: Any) -> Got:
    """What a response holds."""
    got = Got(firewall=reply.firewall)
    got.add(reply)
    return got


def joined(stream: Any) -> Got:
    """What a stream comes to."""
    got = Got()
    assert stream.firewall is None
    for piece in stream:
        got.add(piece)
    got.firewall = stream.firewall
    return got


async def joined_async(stream: Any) -> Got:
    """What an async stream comes to."""
    got = Got()
    assert stream.firewall is None
    async for piece in stream:
        got.add(piece)
    got.firewall = stream.firewall
    return got


async def generate(wire: Wire, policy: Any) -> Got:
    """`models.generate_content`."""
    return whole(client(wire, policy).models.generate_content(**ASKED))


async def generate_async(wire: Wire, policy: Any) -> Got:
    """`aio.models.generate_content`."""
    return whole(await client(wire, policy).aio.models.generate_content(**ASKED))


async def stream(wire: Wire, policy: Any) -> Got:
    """`models.generate_content_stream`."""
    return joined(client(wire, policy).models.generate_content_stream(**ASKED))


async def stream_async(wire: Wire, policy: Any) -> Got:
    """`aio.models.generate_content_stream`."""
    found = client(wire, policy).aio.models.generate_content_stream(**ASKED)
    return await joined_async(await found)


async def aio_alone(wire: Wire, policy: Any) -> Got:
    """A client's `aio` that was wrapped by itself."""
    guarded = FirewallGoogleGenerativeAI(raw_client(wire).aio, policy)
    return whole(await guarded.models.generate_content(**ASKED))


async def caller_s(wire: Wire, policy: Any) -> Got:
    """A copy for somebody."""
    return whole(client(wire, policy).serving(user="u").models.generate_content(**ASKED))


def _chat(chats: Any) -> tuple[Any, Any]:
    """A chat, and the message that is still to be sent."""
    asked = ASKED["contents"]
    *before, last = asked if isinstance(asked, list) else [asked]
    message = last if isinstance(last, str) else [types.Part(**part) for part in last["parts"]]
    return chats.create(model="m", history=before), message


async def chat(wire: Wire, policy: Any) -> Got:
    """`chats.create(...).send_message`."""
    made, message = _chat(client(wire, policy).chats)
    return whole(made.send_message(message))


async def chat_async(wire: Wire, policy: Any) -> Got:
    """`aio.chats.create(...).send_message`."""
    made, message = _chat(client(wire, policy).aio.chats)
    return whole(await made.send_message(message))


async def chat_stream(wire: Wire, policy: Any) -> Got:
    """`chats.create(...).send_message_stream`."""
    made, message = _chat(client(wire, policy).chats)
    return joined(made.send_message_stream(message))


async def chat_stream_async(wire: Wire, policy: Any) -> Got:
    """`aio.chats.create(...).send_message_stream`."""
    made, message = _chat(client(wire, policy).aio.chats)
    return await joined_async(await made.send_message_stream(message))


WHOLE: list[Way] = [generate, generate_async, aio_alone, caller_s, chat, chat_async]
STREAMED: list[Way] = [stream, stream_async, chat_stream, chat_stream_async]
ALL = [*WHOLE, *STREAMED]
