"""The servers of one agent: connected side by side, called from anywhere, closed once."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError as ConcurrentlyCancelled
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, NoReturn

from ...portal import Portal
from .definitions import Definition
from .failures import ServerDown
from .session import Session
from .transports import Address

if TYPE_CHECKING:
    from mcp.types import CallToolResult

MAX_THREADS = 32
"""Threads that have a session of their own with a server; the one that was idle longest goes."""

CLOSE_S = 30.0
CLOSED = "the agent was closed"
_NAME = "edgeward mcp"


class Servers:
    """Connections to some servers, which nobody else shares."""

    def __init__(self, addresses: Sequence[Address]) -> None:
        _be_quiet()
        self._portal = Portal(_NAME)
        self._lines = [_Line(address) for address in addresses]
        self.secrets = {name: value for one in addresses for name, value in one.secrets().items()}
        """What the servers are given and nobody else is to see, by name."""
        self._closing = threading.Lock()
        self._closed = False

    def start(self) -> list[dict[str, Definition] | str]:
        """Connect to all at once: what each says of its tools, or why there is no connection."""

        async def all_of_them() -> list[dict[str, Definition] | str]:
            return list(await asyncio.gather(*(line.start() for line in self._lines)))

        return self._portal.submit(all_of_them()).result()

    def call(
        self,
        place: int,
        name: str,
        arguments: Mapping[str, Any],
        *,
        definition: Definition,
        thread: str,
    ) -> CallToolResult:
        """Call a tool of the server at `place`, and wait for the answer.

        Raises:
            ServerDown: see `Session.call`; also where the agent was closed.
        """
        asked = self._asked(place, name, arguments, definition, thread)
        try:
            return asked.result()
        except ConcurrentlyCancelled:
            raise ServerDown(CLOSED) from None
        except BaseException:
            asked.cancel()
            raise

    async def acall(
        self,
        place: int,
        name: str,
        arguments: Mapping[str, Any],
        *,
        definition: Definition,
        thread: str,
    ) -> CallToolResult:
        """`call` for an event loop; cancelling it cancels the request."""
        asked = self._asked(place, name, arguments, definition, thread)
        try:
            return await asyncio.wrap_future(asked)
        except asyncio.CancelledError:
            if self._closed:
                raise ServerDown(CLOSED) from None
            raise

    def close(self) -> None:
        """Close every connection and end every program. Closing twice is fine."""
        with self._closing:
            if self._closed:
                return
            self._closed = True
        if not self._portal.is_open:  # a process that was forked off
            return
        ended = self._portal.submit(self._end())
        if self._portal.is_here:  # a garbage collection in the loop itself: it goes on from here
            ended.add_done_callback(lambda _: self._portal.stop())
            return
        try:
            ended.result(CLOSE_S)
        finally:
            self._portal.stop()

    def __deepcopy__(self, memo: object) -> Servers:
        return self  # a copy of a tool has the same connection

    def __reduce__(self) -> NoReturn:
        raise TypeError("an MCP tool lives with its agent's connection and cannot be pickled")

    async def _end(self) -> None:
        ends = (line.end() for line in self._lines)
        await asyncio.gather(*ends, return_exceptions=True)

    def _asked(
        self,
        place: int,
        name: str,
        arguments: Mapping[str, Any],
        definition: Definition,
        thread: str,
    ) -> Future[CallToolResult]:
        if self._closed:
            raise ServerDown(CLOSED)
        line = self._lines[place]
        try:
            return self._portal.submit(line.call(name, arguments, definition, thread))
        except RuntimeError:
            raise ServerDown("it was connected in another process, or is closed") from None


class _Line:
    """The sessions with one server: one, or one for each thread where the profile says so."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._apart = address.server.session == "thread"
        self._spare: Session | None = None
        self._sessions: OrderedDict[str, Session] = OrderedDict()

    async def start(self) -> dict[str, Definition] | str:
        self._spare = Session(self._address)
        try:
            return (await self._spare.start())[1]
        except ServerDown as error:
            return str(error)

    async def call(
        self, name: str, arguments: Mapping[str, Any], definition: Definition, thread: str
    ) -> CallToolResult:
        if self._apart and not thread:
            session = Session(self._address)
            try:
                return await session.call(name, arguments, definition=definition)
            finally:
                await session.end()
        session = self._session(thread if self._apart else "")
        return await session.call(name, arguments, definition=definition)

    def _session(self, key: str) -> Session:
        session = self._sessions.get(key)
        if session is None:  # the one that told the definitions has no state yet
            session, self._spare = self._spare or Session(self._address), None
            self._sessions[key] = session
            self._make_room(but=key)
        self._sessions.move_to_end(key)
        return session

    def _make_room(self, *, but: str) -> None:
        idle = [k for k, session in self._sessions.items() if not session.calls and k != but]
        for key in idle[: max(0, len(self._sessions) - MAX_THREADS)]:
            gone = self._sessions.pop(key)
            self._ending = asyncio.ensure_future(gone.end())

    async def end(self) -> None:
        sessions = [*self._sessions.values(), *([self._spare] if self._spare else [])]
        await asyncio.gather(*(session.end() for session in sessions), return_exceptions=True)


class _NotFromThePortal(logging.Filter):
    """Drops what the libraries log in a portal's thread: servers' words, URLs, whole messages."""

    def filter(self, record: logging.LogRecord) -> bool:
        return record.threadName != _NAME


_FILTER = _NotFromThePortal()
_NOISY = (
    *("", "client", "asyncio", "mcp.client.sse", "mcp.client.streamable_http", "httpx"),
    *("mcp.client.stdio", "mcp.shared.session", "websockets.client"),
)


def _be_quiet() -> None:
    for name in _NOISY:
        logging.getLogger(name).addFilter(_FILTER)  # adding it twice changes nothing
