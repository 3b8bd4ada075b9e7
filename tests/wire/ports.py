"""Ports of this machine for servers that are started later, or more than once."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def a_port() -> Iterator[int]:
    """A port that nobody else is given meanwhile; servers of ours may listen on it, one by one.

    It is bound and not listened on: who connects is refused, and only who asks for this very port,
    as servers do with `SO_REUSEADDR`, gets it.
    """
    with socket.socket() as kept:
        kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        kept.bind(("127.0.0.1", 0))
        yield kept.getsockname()[1]
