"""Servers for tests: a scripted program, the SDK's own server over HTTP, and profiles for both."""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from edgeward import AgentProfile

PROGRAM = Path(__file__).parent / "program.py"
ANYTHING = {"type": "object"}


def tool(name: str, description: str = "Does it.", schema: Any = None) -> dict[str, Any]:
    """A tool as a server lists it."""
    return {"name": name, "description": description, "inputSchema": schema or ANYTHING}


class Program:
    """The scripted program of one test, and the profile entry that starts it."""

    def __init__(self, folder: Path, name: str = "prog") -> None:
        self._script = folder / f"{name}.json"
        self.name = name
        self.scripts(tool("inc"), tool("get"))

    def scripts(self, *tools: Any, **more: Any) -> Program:
        """What it does from its next start on; a tool may be just a name."""
        listed = [tool(one) if isinstance(one, str) else one for one in tools]
        self._script.write_text(json.dumps({"tools": listed, **more}), encoding="utf-8")
        return self

    def entry(self, **more: Any) -> dict[str, Any]:
        """Its entry in a profile."""
        given = more.pop("args", [])
        args = [str(PROGRAM), str(self._script), *given]
        return {"name": self.name, "command": sys.executable, "args": args, "timeout": 60, **more}


def profile_of(folder: Path, *entries: Mapping[str, Any], **tools: Any) -> AgentProfile:
    """A profile with these servers; its folder is where the lock file goes."""
    agent = {"id": "a", "name": "A", "tools": {"mcp": list(entries), **tools}}
    return AgentProfile.from_mapping(agent, base_dir=folder)


def demo_server() -> Any:
    """A server of the SDK's: counts, adds, fails, and tells what reached it."""
    from mcp.server.fastmcp import FastMCP

    server = FastMCP("demo", log_level="CRITICAL")
    seen = {"count": 0}

    @server.tool()
    def add(a: int, b: int = 1) -> int:
        """Add two numbers."""
        return a + b

    @server.tool()
    def inc() -> int:
        """Count on."""
        seen["count"] += 1
        return seen["count"]

    @server.tool()
    def fail(what: str) -> str:
        """Fail."""
        raise ValueError(f"no {what}")

    @server.tool()
    async def headers() -> dict[str, str]:
        """The headers of this request."""
        request = server.get_context().request_context.request
        return dict(request.headers) if request is not None else {}

    return server


def app_of(server: Any, transport: str) -> Any:
    """An ASGI app that serves it."""
    if transport == "sse":
        return server.sse_app()
    if transport == "streamable_http":
        return server.streamable_http_app()
    from starlette.applications import Starlette
    from starlette.routing import WebSocketRoute

    async def endpoint(socket: Any) -> None:
        from mcp.server.websocket import websocket_server

        core = server._mcp_server
        async with websocket_server(socket.scope, socket.receive, socket._send) as (read, write):
            await core.run(read, write, core.create_initialization_options())

    return Starlette(routes=[WebSocketRoute("/ws", endpoint)])


PATHS = {"sse": "/sse", "streamable_http": "/mcp", "websocket": "/ws"}


class Served:
    """An app on a port of this machine, until `stop`."""

    def __init__(self, app: Any, port: int = 0) -> None:
        import uvicorn

        config = uvicorn.Config(
            app,
            host="127.0.0.1",
            port=port,
            log_level="critical",
            ws="websockets-sansio",
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        assert self._ready.wait(60)
        self.port: int = self._server.servers[0].sockets[0].getsockname()[1]

    def _run(self) -> None:
        async def main() -> None:
            serving = asyncio.ensure_future(self._server.serve())
            while not self._server.started and not serving.done():
                await asyncio.sleep(0.01)
            self._ready.set()
            await serving

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            asyncio.run(main())

    def stop(self) -> None:
        """End it, and every connection to it."""
        self._server.should_exit = True
        self._thread.join(30)
        with warnings.catch_warnings():  # the SDK's server leaves streams to the collector
            warnings.simplefilter("ignore", ResourceWarning)
            gc.collect()


@contextmanager
def served(transport: str, server: Any = None, *, port: int = 0) -> Iterator[dict[str, Any]]:
    """Serve the demo server (or another) over a transport; gives the profile's entry."""
    running = Served(app_of(server or demo_server(), transport), port)
    scheme = "ws" if transport == "websocket" else "http"
    url = f"{scheme}://127.0.0.1:{running.port}{PATHS[transport]}"
    try:
        yield {"name": "demo", "transport": transport, "url": url, "timeout": 60}
    finally:
        running.stop()
