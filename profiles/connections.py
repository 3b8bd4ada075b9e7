"""The HTTP clients that models speak through.

Connections are not kept between requests: one that outlives its event loop breaks the next
`asyncio.run`, and nobody closes a model. Redirects are not followed: they would carry the key.
A server that is busy is waited for as long as it asks for (the packages see to that), but not
longer than two minutes: then the answer that it gave is the answer.
"""

from __future__ import annotations

import functools
import math
import ssl
import time
from email.utils import parsedate_to_datetime
from typing import Any

import httpx2

from .network import certificates, is_this_machine

_LIMITS = httpx2.Limits(max_connections=1000, max_keepalive_connections=0)


MAX_WAIT_S = 120.0


@functools.cache
def _tls() -> ssl.SSLContext:
    """One context for all: making one reads every certificate authority."""
    return certificates(httpx2.create_ssl_context)


def client(timeout_s: float, url: str) -> httpx2.Client:
    """A client for synchronous requests to this address."""
    hooks = {"response": [_bound_wait]}
    return httpx2.Client(event_hooks=hooks, **_options(timeout_s, url))


def async_client(timeout_s: float, url: str) -> httpx2.AsyncClient:
    """A client for asynchronous requests to this address, in any number of event loops."""
    hooks = {"response": [_abound_wait]}
    return httpx2.AsyncClient(event_hooks=hooks, **_options(timeout_s, url))


def _options(timeout_s: float, url: str) -> dict[str, Any]:
    known = {"timeout": timeout_s, "limits": _LIMITS, "verify": _tls()}
    return {**known, "trust_env": not is_this_machine(url)}


def _bound_wait(response: httpx2.Response) -> None:
    """No retry where the server asks for a longer wait than we give it: a run would hang."""
    if _asked_wait_s(response.headers) > MAX_WAIT_S:
        response.headers["x-should-retry"] = "false"


async def _abound_wait(response: httpx2.Response) -> None:
    _bound_wait(response)


def _asked_wait_s(headers: httpx2.Headers) -> float:
    """How long the server asks to be left alone; 0 where it does not, or not readably."""
    for name, divisor in (("retry-after-ms", 1000), ("retry-after", 1)):
        text = headers.get(name)
        if text is None:
            continue
        try:
            seconds = float(text) / divisor
        except ValueError:
            try:
                seconds = parsedate_to_datetime(text).timestamp() - time.time()
            except (TypeError, ValueError, OverflowError):
                continue
        return math.inf if math.isnan(seconds) else seconds
    return 0.0
