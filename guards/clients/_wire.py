"""A guarded reply on its way through an HTTP response: bytes in, the bytes that may be read out.

Whoever knows a vendor's format gives a `Reply`, which looks at JSON objects: a body, or the events
of a stream. Here those are cut out of the HTTP response and put back, whichever library it is of.
"""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Iterator
from functools import lru_cache
from typing import Any

from ..receipts.keeping import beside
from ._alike import Alike
from ._reply import Reply
from ._sse import DONE, EventReader, data_of, framed, is_silent


class Unreadable(ValueError):
    """A request or a reply that cannot be read, and so cannot be guarded."""


def rewrite(response: Any, reply: Reply, kind: type[SyncBytes | AsyncBytes]) -> None:
    """Put the guarded reply in an HTTP response's place, read or still to be read.

    Raises:
        Unreadable: it was read, and is no JSON object.
    """
    if response.is_closed or response.is_stream_consumed:
        # Where httpx and httpx2 keep a body that was read; neither has a public way to change it,
        # and everything else of the response (its times, its history) is to stay.
        pipe = _Pipe(reply)
        response._content = pipe.feed(response.content) + pipe.end()
        response.__dict__.pop("_text", None)
    else:
        inner = type(response)(
            response.status_code,
            headers=response.headers,
            stream=response.stream,
            request=response.request,
        )
        made: Any = type(response)
        chosen: Any = kind
        response.stream = _stream_class(made, chosen)(inner, reply)
    for name in ("content-encoding", "content-length"):
        response.headers.pop(name, None)


def guarded_body(content: bytes, reply: Reply) -> bytes:
    """A body as it may be read.

    Raises:
        Unreadable: it is no JSON object.
    """
    try:
        data = json.loads(content)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise Unreadable("the reply is no JSON object; it was withheld, for it cannot be guarded")
    return json.dumps(reply.whole(data)).encode()


@lru_cache(maxsize=64)
def _stream_class(response: type[Any], kind: type[Any]) -> type[Any]:
    """The SDK's HTTP library (httpx or httpx2) wants streams of its own class."""
    library = sys.modules[response.__module__.partition(".")[0]]
    return type(kind.__name__, (kind, getattr(library, kind.base)), {})


class SyncBytes:
    """The bytes of a reply as they may be read."""

    base = "SyncByteStream"

    def __init__(self, inner: Any, reply: Reply) -> None:
        self._inner, self._pipe = inner, _Pipe(reply)

    def __iter__(self) -> Iterator[bytes]:
        try:
            for data in self._inner.iter_bytes():
                if out := self._pipe.feed(data):
                    yield out
        except Exception:
            self._pipe.broken()
            raise
        if out := self._pipe.end():
            yield out

    def close(self) -> None:
        """Nobody reads on."""
        self._inner.close()
        self._pipe.broken()


class AsyncBytes:
    """The bytes of a reply as they may be read, asynchronously."""

    base = "AsyncByteStream"

    def __init__(self, inner: Any, reply: Reply) -> None:
        self._inner, self._reply, self._pipe = inner, reply, _Pipe(reply)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        pipe, policy = self._pipe, self._reply.policy
        try:
            async for data in self._inner.aiter_bytes():
                out = pipe.words(data)
                if out is None:
                    out = await beside(policy, pipe.looked_at, data)
                if out:
                    yield out
        except Exception:
            await beside(policy, pipe.broken)
            raise
        if out := await beside(policy, pipe.end):
            yield out

    async def aclose(self) -> None:
        """Nobody reads on."""
        await self._inner.aclose()
        await beside(self._reply.policy, self._pipe.broken)


class _Pipe:
    """The bytes of a reply that is read in pieces: events, or a body that is kept till whole."""

    def __init__(self, reply: Reply) -> None:
        self._reply = reply
        self._events = EventReader() if reply.body.get("stream") else None
        self._alike = Alike()
        self._body = bytearray()
        self._named = False
        self._ended = False

    def feed(self, data: bytes) -> bytes:
        """What may go out now."""
        words = self.words(data)
        return self.looked_at(data) if words is None else words

    def words(self, data: bytes) -> bytes | None:
        """What may go out of what is no more than a few words, or nothing yet; None where it has to
        be looked at: then calls may be judged."""
        if self._events is None:
            self._body += data
            return b""
        # The piece is one event: most servers send them so.
        return self._alike.passed(data) if self._events.between else None

    def looked_at(self, data: bytes) -> bytes:
        """What may go out now of a piece of a stream."""
        assert self._events is not None
        out = []
        for raw in self._events.feed(data):
            alike = self._alike.passed(raw)
            out.append(self._event(raw) if alike is None else alike)
        return b"".join(out)

    def end(self) -> bytes:
        """What goes out when the provider has sent everything."""
        if self._events is None:
            return guarded_body(bytes(self._body), self._reply)
        return self._event(self._events.rest()) + self._close(finished=False)

    def broken(self) -> None:
        """The connection broke off, or nobody reads on: what was held back goes nowhere."""
        if self._events is not None:
            self._close(finished=False)

    def _close(self, *, finished: bool) -> bytes:
        if self._ended:
            return b""
        self._ended = True
        return self._framed(self._reply.end(finished=finished))

    def _event(self, raw: bytes) -> bytes:
        text = data_of(raw)
        if text is None:
            return raw if is_silent(raw) else framed(_NO_EVENT, named=True)
        if text.startswith(DONE):
            return self._close(finished=True) + raw
        try:
            data = json.loads(text.decode())
        except (ValueError, RecursionError):
            data = None
        self._named = self._named or not raw.startswith(b"data:")
        if not isinstance(data, dict):
            return framed(_NO_EVENT, named=True)
        out = self._reply.event(data)
        word = self._reply.word(data)
        if word is not None:
            self._alike.learn(raw, text, word)
        return raw if out is None else self._framed(out)

    def _framed(self, events: list[dict[str, Any]]) -> bytes:
        return b"".join([framed(data, named=self._named) for data in events])


_NO_EVENT = {
    "type": "error",
    "error": {
        "message": "an event of the stream is no JSON object; it was withheld, for it cannot be "
        "guarded",
        "type": "edgeward",
    },
}
"""Makes the SDK raise."""
