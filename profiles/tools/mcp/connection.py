"""One connection to one server, from the first word to the last. It is not opened again.

Opened and closed in a task of its own, as the transports demand; calls come from any task of the
same loop. Whatever ends the connection is told to every call that waits, at once.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

from ....guards.redact import Redactor
from .definitions import Definition, definition_of
from .failures import ServerDown, cause_of, one_line
from .transports import Address

if TYPE_CHECKING:
    from mcp import ClientSession
    from mcp.types import CallToolResult

MAX_TOOLS = 1_000
MAX_PAGES = 100
MAX_LISTED = 20_000_000
"""Characters of all definitions of a server."""

_MOST_READ = 10_000
"""Characters of a cause that are looked at; far fewer are told."""
_MOMENT_S = 0.1
_CLOSE_S = 8.0
_CLOSED = "the connection was closed"


class Connection:
    """It connects as soon as it is made."""

    def __init__(self, address: Address) -> None:
        loop = asyncio.get_running_loop()
        self._address = address
        self._listed: asyncio.Future[dict[str, Definition]] = loop.create_future()
        self._listed.add_done_callback(lambda f: f.cancelled() or f.exception())
        self._stop = asyncio.Event()
        self._client: ClientSession | None = None
        self._waiting: dict[Any, asyncio.Future[str]] = {}
        self._telling: set[asyncio.Future[None]] = set()
        self._cause = ""
        self._task = loop.create_task(self._live())

    @property
    def is_broken(self) -> bool:
        """Whether no call can be made through it any more."""
        return self._stop.is_set() or self._task.done()

    @property
    def cause(self) -> str:
        """Why it is broken."""
        return self._cause or _CLOSED

    async def listed(self) -> dict[str, Definition]:
        """What the server said of its tools when it was asked first, by name.

        Raises:
            ServerDown: there is no connection, or not in time.
        """
        timeout_s = self._address.server.timeout
        try:
            return await asyncio.wait_for(asyncio.shield(self._listed), timeout_s)
        except (asyncio.TimeoutError, TimeoutError):
            raise ServerDown(f"it does not answer within {timeout_s:g} s") from None

    async def ask(self, name: str, arguments: dict[str, Any]) -> CallToolResult:
        """What the server answers to a call.

        Raises:
            ServerDown: it does not. McpError: it refuses the request as such.
            ValidationError: it answers what is no result.
        """
        client = self._client
        if client is None or self.is_broken:
            raise ServerDown(self.cause)
        trouble: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        number: Any = None

        async def asking() -> CallToolResult:
            nonlocal number
            number = client._request_id  # `send_request` takes it before it waits for anything
            self._waiting[number] = trouble
            return await _request(client, name, arguments)

        work = asyncio.ensure_future(asking())
        limit_s = self._address.server.sse_read_timeout
        try:
            first = asyncio.FIRST_COMPLETED
            either: set[asyncio.Future[Any]] = {work, trouble}
            await asyncio.wait(either, timeout=limit_s, return_when=first)
            if trouble.done():  # the answer may have come right before it
                await asyncio.wait({work}, timeout=_MOMENT_S)
            if work.done() and not _is_cut_off(work):
                return work.result()
            if not work.done() and not trouble.done():
                raise ServerDown(f"it does not answer within {limit_s:g} s")
            if not trouble.done():  # who knows why it ended says so in a moment
                await asyncio.wait({trouble}, timeout=20 * _MOMENT_S)
            raise ServerDown(trouble.result() if trouble.done() else self.cause)
        finally:
            self._waiting.pop(number, None)
            self._give_up(work, client, number)

    async def close(self) -> None:
        """End the connection, and a program with it."""
        self._troubled(_CLOSED, None)  # before the end of a program can be taken for the cause
        if self._client is not None:
            await asyncio.wait({self._task}, timeout=_CLOSE_S)
        self._task.cancel()
        await asyncio.wait({self._task}, timeout=_CLOSE_S)

    async def _live(self) -> None:
        try:
            async with self._address.connect(self._troubled) as client:
                listed = await self._introduced(client)
                self._client = client
                if not self._listed.done():
                    self._listed.set_result(listed)
                await self._stop.wait()
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001 - told to whoever waits
            self._troubled(cause_of(error), None)
        finally:
            self._client = None
            self._troubled(_CLOSED, None)

    async def _introduced(self, client: ClientSession) -> dict[str, Definition]:
        try:
            await client.initialize()
            return await _list_tools(client)
        except Exception as error:
            if not _is_closing(error):  # else who saw it close knows why
                self._troubled(cause_of(error), None)
            raise

    def _troubled(self, cause: str, number: Any) -> None:
        """A request (by its number) or the connection (None) will give nothing any more."""
        cause = self._masked(cause)
        if not self._listed.done():
            self._listed.set_exception(ServerDown(cause))
        if number is None:
            self._cause = self._cause or cause
            self._stop.set()
        for one, waiting in list(self._waiting.items()):
            if number in (None, one) and not waiting.done():
                waiting.set_result(cause)

    def _masked(self, cause: str) -> str:
        """The cause, which may be in the server's words, without keys: a server quotes its own."""
        cause = cause[:_MOST_READ]
        for secret in sorted(self._address.secrets().values(), key=len, reverse=True):
            cause = cause.replace(secret, "***") if len(secret) > 3 else cause
        return one_line(Redactor().secrets(cause)[0])

    def _give_up(self, work: asyncio.Future[Any], client: ClientSession, number: Any) -> None:
        """Stop waiting for an answer, and tell the server so."""
        if work.done():
            if not work.cancelled():
                work.exception()  # it is seen
            return
        work.cancel()
        if self._client is client and number is not None:
            telling = asyncio.ensure_future(_tell(client, number))
            self._telling.add(telling)
            telling.add_done_callback(self._telling.discard)


async def _request(client: ClientSession, name: str, arguments: dict[str, Any]) -> CallToolResult:
    from mcp import types

    # Not `call_tool`: it checks the answer by the server's own schema, patterns and all.
    params = types.CallToolRequestParams(name=name, arguments=arguments)
    request = types.ClientRequest(types.CallToolRequest(params=params))
    return await client.send_request(request, types.CallToolResult)


async def _tell(client: ClientSession, number: Any) -> None:
    from mcp import types

    params = types.CancelledNotificationParams(requestId=number, reason="nobody waits any more")
    cancelled = types.ClientNotification(types.CancelledNotification(params=params))
    with contextlib.suppress(Exception):  # it may be gone; then there is nobody to tell
        await asyncio.wait_for(client.send_notification(cancelled), 1.0)


def _is_cut_off(work: asyncio.Future[Any]) -> bool:
    """Whether a request failed because its connection ended."""
    return work.cancelled() or _is_closing(work.exception())


def _is_closing(error: BaseException | None) -> bool:
    import anyio
    from mcp import McpError
    from mcp.types import CONNECTION_CLOSED

    if isinstance(error, McpError):
        return error.error.code == CONNECTION_CLOSED
    return isinstance(error, anyio.ClosedResourceError | anyio.BrokenResourceError)


async def _list_tools(client: ClientSession) -> dict[str, Definition]:
    from mcp.types import PaginatedRequestParams

    found: dict[str, Definition] = {}
    size = 0
    params: PaginatedRequestParams | None = None
    for _ in range(MAX_PAGES):
        page = await client.list_tools(params=params)
        for tool in page.tools:
            if tool.name in found:
                raise ServerDown(f"it lists two tools called {one_line(tool.name)!r}")
            one = found[tool.name] = definition_of(tool)
            size += len(one.name) + len(one.description) + len(one.schema_json)
        if len(found) > MAX_TOOLS or size > MAX_LISTED:
            raise ServerDown(f"it lists {len(found):,} tools in {size:,} characters: too many")
        if not page.nextCursor:
            return found
        params = PaginatedRequestParams(cursor=page.nextCursor)
    raise ServerDown(f"its list of tools has more than {MAX_PAGES} pages")
