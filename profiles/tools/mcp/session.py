"""One session with one server: any number of calls at once, and a new connection when one broke.

The next call after a break connects anew: at once the first time, with growing pauses after that,
and after a few times in a row only once in a long while. A call that may have been carried out is
never repeated. Everything here runs in the portal's loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .connection import Connection
from .definitions import Definition
from .failures import ServerDown
from .transports import Address

if TYPE_CHECKING:
    from mcp.types import CallToolResult

PAUSES_S = (0.0, 1.0, 5.0, 20.0)
"""Seconds before each new connection, while no call succeeds."""
REST_S = 300.0
"""Seconds before each that comes after those."""

CHANGED = "the tool is not as it was accepted any more, and is held back"
UNKNOWN = "whether the call was carried out is not known"


class Session:
    """A server's session, through however many connections it takes."""

    def __init__(self, address: Address) -> None:
        self.calls = 0
        """Calls that are under way."""
        self._address = address
        self._lock = asyncio.Lock()
        self._connection: Connection | None = None
        self._cause = ""
        self._failures = 0
        self._not_before = 0.0

    async def start(self) -> tuple[Connection, dict[str, Definition]]:
        """The connection, made where there is none, and the tools that the server named to it.

        Raises:
            ServerDown: it cannot be reached, or it is too early to try again.
        """
        async with self._lock:
            if self._connection is not None and self._connection.is_broken:
                await self._drop(self._connection)
            if self._connection is None:
                self._check_pause()
                self._connection = Connection(self._address)
            connection = self._connection
            try:
                return connection, await connection.listed()
            except ServerDown as error:
                await self._drop(connection, str(error))
                raise

    async def call(
        self, name: str, arguments: Mapping[str, Any], *, definition: Definition
    ) -> CallToolResult:
        """What the server answers to a call of a tool, if that is still as `definition` says.

        Raises:
            ServerDown: there is no answer, or the tool is another by now.
            McpError: the server refuses the request as such.
            ValidationError: it answers what is no result.
        """
        self.calls += 1
        try:
            connection, listed = await self.start()
            if listed.get(name) != definition:
                raise ServerDown(CHANGED)
            try:
                result = await connection.ask(name, dict(arguments))
            except ServerDown as error:
                if connection.is_broken:
                    await self._drop(connection)
                raise ServerDown(f"{error}; {UNKNOWN}") from None
            self._failures = 0
            return result
        finally:
            self.calls -= 1

    async def end(self) -> None:
        """Close the connection, if there is one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    def _check_pause(self) -> None:
        if (pause_s := self._not_before - asyncio.get_running_loop().time()) > 0:
            raise ServerDown(f"{self._cause}; it is tried again in {pause_s:.0f} s at the earliest")

    async def _drop(self, connection: Connection, cause: str = "") -> None:
        """Close what broke, and set when there may be a new one."""
        if self._connection is not connection:
            return  # somebody else has seen it
        self._connection = None
        self._cause = cause or connection.cause
        pause_s = PAUSES_S[self._failures] if self._failures < len(PAUSES_S) else REST_S
        self._failures += 1
        self._not_before = asyncio.get_running_loop().time() + pause_s
        await asyncio.shield(asyncio.ensure_future(connection.close()))
