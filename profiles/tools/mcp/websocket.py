"""A server behind a WebSocket.

The SDK's own transport carries no headers and is on its way out.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCMessage
from pydantic import ValidationError
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Subprotocol

from ...network import is_this_machine
from .failures import ServerDown, http_status
from .stdio import MAX_MESSAGE_BYTES

_SILENT = logging.Logger("silent", logging.CRITICAL + 1)


class _ToOneServer(connect):
    """Follows no redirect: what is sent, keys included, was meant for the server that is named."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        return exc


@asynccontextmanager
async def websocket_streams(
    url: str,
    *,
    headers: Mapping[str, str],
    tls: ssl.SSLContext | None,
    timeout_s: float,
    trouble: Callable[[str], None],
) -> AsyncIterator[tuple[Any, Any]]:
    """Connect; gives the streams that a client session reads and writes.

    `trouble` is told why the connection is of no use any more.

    Raises:
        ServerDown: the server refuses. OSError: there is none.
    """
    try:
        socket = await _ToOneServer(
            url,
            subprotocols=[Subprotocol("mcp")],
            additional_headers=dict(headers),
            proxy=None if is_this_machine(url) else True,
            ssl=tls if url.startswith("wss:") else None,
            open_timeout=timeout_s,
            max_size=MAX_MESSAGE_BYTES,
            logger=_SILENT,
        )
    except InvalidStatus as error:
        raise ServerDown(http_status(error.response.status_code)) from None
    to_session, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write, from_session = anyio.create_memory_object_stream[SessionMessage](0)

    async def reading() -> None:
        with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            try:
                async for text in socket:
                    with contextlib.suppress(ValidationError):
                        message = JSONRPCMessage.model_validate_json(text)
                        await to_session.send(SessionMessage(message))
            except ConnectionClosed as error:
                code = error.rcvd.code if error.rcvd else error.sent.code if error.sent else 1006
                trouble(f"the connection was closed (code {code})")
            else:
                trouble("it closed the connection")

    async def writing() -> None:
        with contextlib.suppress(ConnectionClosed):  # the reader says so
            async for item in from_session:
                await socket.send(item.message.model_dump_json(by_alias=True, exclude_none=True))

    work = [asyncio.ensure_future(job) for job in (reading(), writing())]
    try:
        yield read, write
    finally:
        for task in work:
            task.cancel()
        await asyncio.gather(*work, return_exceptions=True)
        for stream in (to_session, read, write, from_session):
            stream.close()
        await socket.close()
