"""A local server that speaks OpenAI's chat completions and responses, Anthropic's messages, Gemini.

Scripted by a list of replies, one a request; it records what it was sent. Plain and streamed
answers are made from the same reply: a client that asks for a stream gets events, and arguments
of tool calls are cut in pieces, as the services do.
"""

from __future__ import annotations

import fcntl
import json
import socket
import struct
import termios
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from . import gemini, messages, responses


@dataclass(frozen=True)
class Call:
    """A tool call; `arguments` is the text as sent, well-formed or not."""

    name: str
    arguments: str = "{}"
    id: str = "call_1"
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Say:
    """An answer with text and tool calls; `reasoning` goes into the vendor's place for it."""

    text: str = ""
    calls: Sequence[Call] = ()
    reasoning: str = ""
    finish: str = ""
    usage: tuple[int, int] | None = (11, 7)
    cut_after: int | None = None
    """In a stream: break the connection after so many events."""
    ends_early: bool = False
    """In a stream: end it in good order, but without the closing events."""
    without_index: bool = False
    """In an OpenAI stream: leave out the position of tool calls, as some servers do."""


@dataclass(frozen=True)
class Fail:
    """An HTTP error."""

    status: int
    message: str = "no"
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Raw:
    """Any JSON body, or any text, with status 200."""

    body: Any
    content_type: str = "application/json"


@dataclass(frozen=True)
class Events:
    """A stream as given: a dict becomes an event (named by its `type`), a text stays as it is."""

    events: Sequence[Any]
    cut_after: int | None = None
    """Break the connection after so many."""


@dataclass(frozen=True)
class Late:
    """The answer comes after so many seconds, or never: a client with a time limit gives up."""

    seconds: float = 30.0


@dataclass(frozen=True)
class Drop:
    """No answer at all: the connection is reset."""


@dataclass
class Seen:
    """One recorded request."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


class Wire:
    """The running server."""

    def __init__(self) -> None:
        self.replies: list[Any] = []
        self.requests: list[Seen] = []
        self.over = threading.Event()
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def url(self) -> str:
        """What an Anthropic client takes as its base."""
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def openai_url(self) -> str:
        """What an OpenAI client takes as its base."""
        return f"{self.url}/v1"

    def script(self, *replies: Any) -> None:
        """Set the replies; a callable is given the request and makes the reply."""
        self.replies = list(replies)

    def take(self, seen: Seen) -> Any:
        with self._lock:
            self.requests.append(seen)
            reply = self.replies.pop(0) if self.replies else Fail(418, "the script is at its end")
        return reply(seen) if callable(reply) else reply

    def __enter__(self) -> Wire:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    def handle_error(self, *_: Any) -> None:
        """Clients that hang up are part of the tests."""


def _handler(wire: Wire) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            """Keep quiet."""

        def do_POST(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            body = json.loads(self.rfile.read(length) or b"{}")
            headers = {name.lower(): value for name, value in self.headers.items()}
            seen = Seen(self.path, headers, body)
            reply = wire.take(seen)
            if isinstance(reply, Late):
                wire.over.wait(reply.seconds)
                self._reset()
            elif isinstance(reply, Drop):
                self._reset()
            elif isinstance(reply, Fail):
                self._json(reply.status, _error(reply, self.path), reply.headers)
            elif isinstance(reply, Raw):
                text = reply.body if isinstance(reply.body, str) else json.dumps(reply.body)
                self._send(200, text.encode(), reply.content_type, {})
            elif isinstance(reply, Events):
                self._stream([_event(event) for event in reply.events], reply)
            elif body.get("stream") or gemini.is_stream(self.path):
                self._stream(list(_events(reply, seen)), reply)
            else:
                self._json(200, _body(reply, self.path), {})

        def do_GET(self) -> None:
            self.do_POST()

        def do_DELETE(self) -> None:
            self.do_POST()

        def _json(self, status: int, body: Any, headers: Mapping[str, str]) -> None:
            self._send(status, json.dumps(body).encode(), "application/json", headers)

        def _send(
            self, status: int, body: bytes, content_type: str, headers: Mapping[str, str]
        ) -> None:
            self.send_response(status)
            self.send_header("content-type", content_type)
            self.send_header("content-length", str(len(body)))
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def _stream(self, events: list[str], reply: Say | Events) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            for event in events[: reply.cut_after]:
                data = event.encode()
                self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
                self.wfile.flush()
            if reply.cut_after is not None:
                self._reset()
                return
            self.wfile.write(b"0\r\n\r\n")

        def _reset(self) -> None:
            # What the other side has not confirmed yet would never arrive.
            for _ in range(5_000):  # it may be gone itself
                if not any(fcntl.ioctl(self.connection, termios.TIOCOUTQ, bytes(4))):
                    break
                time.sleep(0.001)
            # Linger of zero seconds: the other side gets a reset, not a polite end.
            linger = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.close_connection = True
            self.connection.close()
            self.wfile = self.rfile = open("/dev/null", "rb")  # noqa: SIM115

        def finish(self) -> None:
            if not self.wfile.closed and self.wfile.readable():
                self.wfile.close()
                return
            super().finish()

    return Handler


def _body(reply: Say, path: str) -> dict[str, Any]:
    if path.startswith("/v1/messages"):
        return messages.body(reply)
    if path.startswith("/v1/responses"):
        return responses.body(reply)
    if gemini.is_ours(path):
        return gemini.body(reply)
    return _openai_body(reply)


def _events(reply: Say, seen: Seen) -> Iterator[str]:
    if seen.path.startswith("/v1/messages"):
        return map(_event, messages.events(reply))
    if seen.path.startswith("/v1/responses"):
        return map(_event, responses.events(reply))
    if gemini.is_ours(seen.path):
        return map(_event, gemini.events(reply))
    return _openai_events(reply, seen.body)


def _event(event: Any) -> str:
    if isinstance(event, str):
        return event
    name = f"event: {event['type']}\n" if "type" in event else ""
    return f"{name}data: {json.dumps(event)}\n\n"


def _error(reply: Fail, path: str) -> dict[str, Any]:
    if gemini.is_ours(path):
        return gemini.error(reply.status, reply.message)
    if path.startswith("/v1/messages"):
        kinds = {400: "invalid_request_error", 401: "authentication_error", 429: "rate_limit_error"}
        kind = kinds.get(reply.status, "api_error")
        return {"type": "error", "error": {"type": kind, "message": reply.message}}
    return {"error": {"message": reply.message, "type": "error", "code": None, "param": None}}


def _pieces(text: str, parts: int = 3) -> list[str]:
    size = max(1, -(-len(text) // parts))
    return [text[at : at + size] for at in range(0, len(text), size)]


def _openai_body(reply: Say) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
    if reply.reasoning:
        message["reasoning_content"] = reply.reasoning
    if reply.calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
                **call.extra,
            }
            for call in reply.calls
        ]
    finish = reply.finish or ("tool_calls" if reply.calls else "stop")
    body: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "fake-1",
        "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
    }
    if reply.usage:
        body["usage"] = _openai_usage(reply.usage)
    return body


def _openai_usage(usage: tuple[int, int]) -> dict[str, int]:
    read, written = usage
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


def _openai_events(reply: Say, body: Mapping[str, Any]) -> Iterator[str]:
    def chunk(delta: Any, finish: str | None = None) -> str:
        choices = [{"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}]
        return _data({**_CHUNK, "choices": choices})

    yield chunk({"role": "assistant", "content": ""})
    for piece in _pieces(reply.reasoning):
        yield chunk({"reasoning_content": piece})
    for piece in _pieces(reply.text, 5):
        yield chunk({"content": piece})
    for index, call in enumerate(reply.calls):
        place = {} if reply.without_index else {"index": index}
        first = {"id": call.id, "type": "function", **call.extra}
        yield chunk(
            {"tool_calls": [{**place, **first, "function": {"name": call.name, "arguments": ""}}]}
        )
        for piece in _pieces(call.arguments):
            yield chunk({"tool_calls": [{**place, "function": {"arguments": piece}}]})
    if reply.ends_early:
        return
    yield chunk({}, reply.finish or ("tool_calls" if reply.calls else "stop"))
    if reply.usage and (body.get("stream_options") or {}).get("include_usage"):
        yield _data({**_CHUNK, "choices": [], "usage": _openai_usage(reply.usage)})
    yield "data: [DONE]\n\n"


_CHUNK = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "fake-1"}


def _data(value: Any) -> str:
    return f"data: {json.dumps(value)}\n\n"


@pytest.fixture
def wire() -> Iterator[Wire]:
    """A running server without replies; set them with `wire.script(...)`."""
    with Wire() as running:
        yield running
