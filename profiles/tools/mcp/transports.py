"""How a client session with a server is opened, one way for each transport."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...network import certificates, is_this_machine
from .environment import child_environment, filled
from .server import McpServer

if TYPE_CHECKING:
    from mcp import ClientSession

_HTTP = ("mcp", "langchain_mcp_adapters.sessions", ".http")
_MODULES = {
    "stdio": ("mcp", ".stdio"),
    "websocket": ("mcp", ".websocket"),
    "sse": _HTTP,
    "streamable_http": _HTTP,
}
_KEY = re.compile("key|token|secret|pass|auth|cred|cookie", re.IGNORECASE)

Trouble = Callable[[str, Any], None]
"""Told why a request (by its id) or the whole connection (None) will give nothing any more."""


@dataclass(frozen=True, slots=True)
class Address:
    """All that it takes to connect to a server, as often as needed. Holds secrets."""

    server: McpServer
    folder: Path
    env: Mapping[str, str] = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    version: str
    tls: Any = field(repr=False)
    """What certificates are checked by; None where none are."""

    @classmethod
    def of(cls, server: McpServer, *, base_dir: Path, environ: Mapping[str, str]) -> Address:
        """The address of a profile's server. What connecting will need of files is read here.

        Raises:
            VariableMissing: the profile takes a variable from `environ` that is not set there.
        """
        local = server.command is not None
        env = child_environment(server.env, environ) if local else {}
        headers = filled(server.headers, environ)
        for module in _MODULES[server.transport]:
            import_module(module, __package__)
        return cls(
            server,
            base_dir / (server.cwd or ""),
            env,
            headers,
            version("edgeward"),
            None if local else _tls(),
        )

    def secrets(self) -> dict[str, str]:
        """Values that the server is given under a name that keys have, by that name."""
        given = {f"env {name}": self.env[name] for name in self.server.env if name in self.env}
        for name, value in self.headers.items():
            given[f"header {name}"] = value.rpartition(" ")[2]  # behind `Bearer`
        label = self.server.label
        return {f"mcp {label} {n}": value for n, value in given.items() if _KEY.search(n)}

    @asynccontextmanager
    async def connect(self, trouble: Trouble) -> AsyncIterator[ClientSession]:
        """A session, not yet initialised; leaving the context ends the connection."""
        from mcp import ClientSession

        server, known = self.server, _session_options(trouble, self.version)
        whole = partial(_whole, trouble)
        if server.transport == "stdio":
            from .stdio import stdio_streams

            streams = stdio_streams(
                server.command or "",
                server.args,
                env=self.env,
                cwd=self.folder,
                secrets=[value for value in self.secrets().values() if len(value) > 3],
                trouble=trouble,
            )
        elif server.transport == "websocket":
            from .websocket import websocket_streams

            streams = websocket_streams(
                server.url or "",
                headers=self.headers,
                tls=self.tls,
                timeout_s=server.timeout,
                trouble=whole,
            )
        else:
            from langchain_mcp_adapters.sessions import create_session

            async with create_session(self._http(trouble, known)) as session:
                yield session
            return
        async with streams as (read, write), ClientSession(read, write, **known) as session:
            yield session

    def _http(self, trouble: Trouble, known: dict[str, Any]) -> Any:
        from .http import McpHttpClient

        return {
            "transport": self.server.transport,
            "url": self.server.url,
            "headers": dict(self.headers),
            "timeout": self.server.timeout,
            "sse_read_timeout": self.server.sse_read_timeout,
            "session_kwargs": known,
            "httpx_client_factory": partial(
                McpHttpClient,
                lost=trouble,
                verify=self.tls,
                trust_env=not is_this_machine(self.server.url or ""),
            ),
        }


def _whole(trouble: Trouble, cause: str) -> None:
    trouble(cause, None)


def _tls() -> Any:
    import httpx

    return certificates(httpx.create_ssl_context)


def _session_options(trouble: Trouble, known_as: str) -> dict[str, Any]:
    """What a session is told about us: a name, and nothing that a server could ask us for.

    Without callbacks the session refuses sampling, elicitation and roots by itself.
    """
    from mcp.types import Implementation

    async def heard(message: Any) -> None:
        # A late answer to a call that was given up is a RuntimeError, and no trouble.
        if isinstance(message, Exception) and not isinstance(message, RuntimeError):
            trouble("it sent what is no message of the protocol", None)

    return {
        "message_handler": heard,
        "client_info": Implementation(name="edgeward", version=known_as),
    }
