"""Servers over HTTP that misbehave: calls fail at once, bounded, and nothing is sent elsewhere."""

from __future__ import annotations

import gzip
import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from edgeward.profiles.tools.mcp import http
from edgeward.profiles.tools.mcp.failures import McpServerError

from .conftest import Opened
from .serving import tool

TEXT = {"content": [{"type": "text", "text": "ran"}]}


class Bad:
    """A streamable HTTP server whose answers to calls are `answer(handler, message)`'s."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.answer: Callable[[Any, dict[str, Any]], None] = lambda h, m: reply(h, m, TEXT)
        self.hello: Callable[[Any, dict[str, Any]], None] | None = None
        bad = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: Any) -> None:
                """Nothing."""

            def do_GET(self) -> None:
                bad.requests.append((self.path, dict(self.headers)))
                self.send_response(405)
                self.send_header("content-length", "0")
                self.end_headers()

            do_DELETE = do_GET

            def do_POST(self) -> None:
                bad.requests.append((self.path, dict(self.headers)))
                message = json.loads(self.rfile.read(int(self.headers["content-length"])))
                bad.serve(self, message)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.port = self._server.server_address[1]

    def serve(self, handler: Any, message: dict[str, Any]) -> None:
        """One message of the client."""
        match message.get("method"):
            case "initialize" if self.hello is not None:
                self.hello(handler, message)
            case "initialize":
                told = {
                    "protocolVersion": message["params"]["protocolVersion"],
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "bad", "version": "1"},
                }
                reply(handler, message, told)
            case "tools/list":
                reply(handler, message, {"tools": [tool("go")]})
            case "tools/call":
                self.answer(handler, message)
            case _:
                raw(handler, 202, b"")

    def entry(self, **more: Any) -> dict[str, Any]:
        """Its entry in a profile."""
        url = f"http://127.0.0.1:{self.port}/mcp?key=SECRET"
        return {"name": "bad", "transport": "streamable_http", "url": url, "timeout": 20, **more}

    def stop(self) -> None:
        """End it."""
        self._server.shutdown()
        self._server.server_close()


def raw(handler: Any, status: int, body: bytes, **headers: str) -> None:
    """A response as it is."""
    handler.send_response(status)
    for name, value in {"content-length": str(len(body)), **headers}.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(body)


def reply(handler: Any, message: dict[str, Any], result: Any) -> None:
    """The result of a request as JSON."""
    body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()
    raw(handler, 200, body, content_type="application/json")


@pytest.fixture
def bad() -> Iterator[Bad]:
    """A server of that kind."""
    server = Bad()
    yield server
    server.stop()


def unauthorized(handler: Any, message: dict[str, Any]) -> None:
    """No key, or a wrong one."""
    raw(handler, 401, b"SECRET")


def elsewhere(handler: Any, message: dict[str, Any]) -> None:
    """C64: the metadata service of a cloud."""
    raw(handler, 307, b"", location="http://169.254.169.254/latest/?key=SECRET")


def packed(handler: Any, message: dict[str, Any]) -> None:
    """A little that unpacks to a lot."""
    body = gzip.compress(b" " * 50_000_000)
    raw(handler, 200, body, content_type="application/json", content_encoding="gzip")


def huge(handler: Any, message: dict[str, Any]) -> None:
    """More than is taken."""
    raw(handler, 200, b" " * 300_000, content_type="application/json")


def events(body: bytes) -> Callable[[Any, dict[str, Any]], None]:
    """A stream of events that ends."""

    def sent(handler: Any, message: dict[str, Any]) -> None:
        raw(handler, 200, body, content_type="text/event-stream")

    return sent


def gone(handler: Any, message: dict[str, Any]) -> None:
    """Half an answer, then nothing."""
    handler.send_response(200)
    handler.send_header("content-type", "text/event-stream")
    handler.send_header("content-length", "1000")
    handler.end_headers()
    handler.wfile.write(b"event: message\n")
    handler.close_connection = True


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        (unauthorized, "it answers HTTP 401: headers may lack a key"),
        (elsewhere, "it answers HTTP 307: a redirect to another server, which is not followed"),
        (packed, "it packs its answers"),
        (huge, "a message of more than 100,000 bytes"),
        (events(b""), "it closed the connection before it had answered"),
        (events(b"data: {}\n\n"), "MCP server bad: it "),
        (events(b": " + b"x" * 300_000), "a message of more than 100,000 bytes"),
        (gone, "cannot be reached"),
        (lambda h, m: raw(h, 200, b"nonsense", content_type="application/json"), "no message"),
        (lambda h, m: raw(h, 200, b"<html>", content_type="text/html"), "no message"),
        (lambda h, m: raw(h, 503, b""), "it answers HTTP 503"),
    ],
)
def test_C32_C64_a_call_that_gets_no_answer_fails_at_once(
    bad: Bad,
    opened: Opened,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    answer: Any,
    cause: str,
) -> None:
    """It says why, holds nothing of the URL, and the next call has a new session."""
    monkeypatch.setattr(http, "MAX_MESSAGE_BYTES", 100_000)
    tools = opened(bad.entry(sse_read_timeout=300))
    bad.answer = answer
    said = tools["go"].invoke({})
    assert cause in said  # and not that it does not answer within 300 s
    assert "SECRET" not in said + caplog.text
    bad.answer = lambda handler, message: reply(handler, message, TEXT)
    while "tried again" in (said := tools["go"].invoke({})):
        time.sleep(0.1)
    assert said == "ran"
    assert caplog.text == ""


@pytest.mark.parametrize(
    ("hello", "cause"),
    [
        (unauthorized, "it answers HTTP 401"),
        (elsewhere, "a redirect to another server"),
        (events(b""), "before it had answered"),
        (lambda h, m: reply(h, m, {"protocolVersion": "1066-10-14"}), "does not have: cap"),
    ],
)
def test_C80_a_server_that_refuses_us_is_told_at_once(
    bad: Bad, opened: Opened, hello: Any, cause: str
) -> None:
    """When the agent is built, with the cause; the key in the URL is in no message."""
    bad.hello = hello
    with pytest.raises(McpServerError, match=f"MCP server bad cannot be used: .*{cause}") as caught:
        opened(bad.entry())
    assert "SECRET" not in str(caught.value)


def test_a_redirect_within_the_server_is_followed(bad: Bad, opened: Opened) -> None:
    """A slash at the end, as frameworks like it."""
    hello = bad.serve

    def serve(handler: Any, message: dict[str, Any]) -> None:
        if handler.path.startswith("/mcp?"):
            raw(handler, 307, b"", location="/mcp/")
        else:
            hello(handler, message)

    bad.serve = serve  # type: ignore[method-assign]
    tools = opened(bad.entry(headers={"X-Key": "k"}))
    assert tools["go"].invoke({}) == "ran"
    assert {path for path, _ in bad.requests} == {"/mcp?key=SECRET", "/mcp/"}
    assert all(headers.get("X-Key") == "k" for _, headers in bad.requests)
