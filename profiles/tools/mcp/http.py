"""The HTTP client behind the two HTTP transports: bounded, and it says when an answer is lost.

The libraries log a request that failed and leave whoever waits for its answer waiting.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx

from .failures import cause_of, http_status
from .stdio import MAX_MESSAGE_BYTES

Lost = Callable[[str, Any], None]
"""Told why, and the id of the request that will have no answer (None where it has no id)."""


class McpHttpClient(httpx.AsyncClient):
    """An HTTP client for one server."""

    def __init__(self, *, lost: Lost, **options: Any) -> None:
        super().__init__(**options)
        self._lost = lost

    async def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        """Send a request; one that fails is told to whoever waits for its answer."""
        # What is packed could be a thousand times as large when it is unpacked.
        request.headers["accept-encoding"] = "identity"
        number = _number(request)
        try:
            response = await super().send(request, **options)
        except httpx.HTTPError as error:
            self._lost(cause_of(error), number)
            raise
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            await response.aclose()
            self._lost("it packs its answers, which nobody asked for", number)
            raise httpx.DecodingError("packed", request=request)
        if response.status_code >= 300 and not _is_followed(response):
            if request.method == "POST":
                self._lost(http_status(response.status_code), number)
        elif isinstance(response.stream, httpx.AsyncByteStream):
            response.stream = _Bounded(response, number, self._lost)
        return response


def _is_followed(response: httpx.Response) -> bool:
    """Whether the transport follows this redirect: to the same server, with the same method."""
    sent, following = response.request, response.next_request
    if following is None or following.method != sent.method:
        return False
    return (following.url.scheme, following.url.netloc) == (sent.url.scheme, sent.url.netloc)


class _Bounded(httpx.AsyncByteStream):
    """A response's body: no message of it larger than the bound, and its end is noticed."""

    def __init__(self, response: httpx.Response, number: Any, lost: Lost) -> None:
        assert isinstance(response.stream, httpx.AsyncByteStream)
        self._body = response.stream
        self._number = number
        self._lost = lost
        self._is_events = "text/event-stream" in response.headers.get("content-type", "").lower()
        self._goes_on = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        try:
            async for chunk in self._body:
                end = max(chunk.rfind(b"\n\n"), chunk.rfind(b"\r\r"), chunk.rfind(b"\n\r\n"))
                size = len(chunk) - end if self._is_events and end >= 0 else size + len(chunk)
                if size > MAX_MESSAGE_BYTES:
                    self._lost(f"it sent a message of more than {MAX_MESSAGE_BYTES:,} bytes", None)
                    raise httpx.DecodingError("too large")
                self._goes_on = self._goes_on or b"id:" in chunk
                yield chunk
        except httpx.HTTPError as error:
            self._ended(cause_of(error))
            raise
        self._ended("it closed the connection before it had answered")

    def _ended(self, cause: str) -> None:
        if self._is_events and self._number is not None and not self._goes_on:
            self._lost(cause, self._number)

    async def aclose(self) -> None:
        await self._body.aclose()


def _number(request: httpx.Request) -> Any:
    """The id of the request that a POST carries."""
    try:
        sent = json.loads(request.content) if request.method == "POST" else None
    except (ValueError, httpx.RequestNotRead):
        return None
    return sent.get("id") if isinstance(sent, dict) and "method" in sent else None
