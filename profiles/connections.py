"""The HTTP clients that models speak through.

Connections are not kept between requests: one that outlives its event loop breaks the next
`asyncio.run`, and nobody closes a model. Redirects are not followed: they would carry the key.
"""

from __future__ import annotations

import functools
import ssl

import httpx2

_LIMITS = httpx2.Limits(max_connections=1000, max_keepalive_connections=0)


@functools.cache
def _tls() -> ssl.SSLContext:
    """One context for all: making one reads every certificate authority."""
    return httpx2.create_ssl_context()


def client(timeout_s: float) -> httpx2.Client:
    """A client for synchronous requests."""
    return httpx2.Client(timeout=timeout_s, limits=_LIMITS, verify=_tls())


def async_client(timeout_s: float) -> httpx2.AsyncClient:
    """A client for asynchronous requests, in any number of event loops."""
    return httpx2.AsyncClient(timeout=timeout_s, limits=_LIMITS, verify=_tls())
