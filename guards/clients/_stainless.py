"""The clients that Stainless makes (openai, anthropic, groq …), guarded where they meet the wire.

All that such a client does goes through two methods of its base class: `_build_request`, which
makes the HTTP request, and `_process_response`, which is given the HTTP response before anything
has read it. A guarded client is of a subclass that masks in the first and rewrites the reply in
the second. So every way to make a request and to read its answer (`create`, `parse`, the `stream`
helpers, raw and streaming responses, bytes and lines) reads what the guard let through, and copies
of the client, which the SDK makes of their own class, do the same.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, TypeVar, get_args, get_origin

from ..receipts.keeping import beside
from ._proxy import GuardedClient
from ._reply import Reply
from ._request import materialised
from ._wire import AsyncBytes, SyncBytes, Unreadable, rewrite
from .defender import Decision

_KEY = "edgeward"
_DOOR = "_edgeward_opening"


Opening = Callable[[str, str, dict[str, Any]], "Reply | None"]
"""`opening(method, url, body)`: the reply to be guarded; None where the request is let pass."""


def is_stainless(client: object) -> bool:
    """Whether the client is one that `wired` can guard."""
    names = ("_build_request", "_process_response", "copy")
    return all(callable(getattr(type(client), name, None)) for name in names)


def wired(client: Any, opening: Opening) -> Any:
    """A client like `client`, on the same connections, whose traffic is guarded.

    The original stays as it is.
    """
    base: Any = type(client)
    return _made(client, _wired_class(base), opening)


def _made(client: Any, cls: Any, opening: Opening) -> Any:
    """A client of this class, copied as the SDK does it.

    A program's own subclass may have a constructor that knows nothing of the SDK's arguments: then
    the copy is put together without it.
    """
    shell = object.__new__(cls)
    shell.__dict__.update(client.__dict__)
    shell.__dict__[_DOOR] = opening
    try:
        return shell.copy()
    except TypeError:
        held = client.__dict__.items()
        if any(getattr(value, "__self__", None) is client for _, value in held):
            raise  # it would go around the guard
        # Resources speak through the client that made them; the class makes them anew.
        theirs = [name for name, value in held if getattr(value, "_client", None) is client]
        if not all(hasattr(cls, name) for name in theirs):
            raise
        for name in theirs:
            del shell.__dict__[name]
        return shell


@lru_cache(maxsize=256)
def _wired_class(base: type[Any]) -> type[Any]:
    waits = inspect.iscoroutinefunction(base._process_response)
    hooks = _AsyncHooks if waits else _SyncHooks
    return type(base.__name__, (hooks, base), {"__module__": base.__module__})


class _Hooks:
    """What both kinds share. Without an opening (somebody called the class) nothing is sent."""

    def copy(self, **kwargs: Any) -> Any:
        made = super().copy(**kwargs)  # type: ignore[misc]
        made.__dict__[_DOOR] = self.__dict__[_DOOR]
        return made

    with_options = copy

    def _build_request(self, options: Any, **kwargs: Any) -> Any:
        opening: Opening | None = self.__dict__.get(_DOOR)
        if opening is None:
            raise RuntimeError("a guarded client cannot be made from its class; use copy()")
        reply = opening(options.method, options.url, _body(options))
        if reply is not None:
            _readable(options)
            options.json_data, options.extra_json = _Guarded(reply.body), None
        request = super()._build_request(options, **kwargs)  # type: ignore[misc]
        if reply is not None:
            request.extensions[_KEY] = reply
        return request


class _Guarded(dict[str, Any]):
    """A body that was sent with a guard for its reply."""


class _SyncHooks(_Hooks):
    def _process_response(self, *, response: Any, stream_cls: Any, **kwargs: Any) -> Any:
        reply = _expected(response, kwargs.get("options"))
        if reply is not None and response.is_success:
            rewrite(response, reply, SyncBytes)
            stream_cls = _telling(stream_cls)
        return super()._process_response(  # type: ignore[misc]
            response=response, stream_cls=stream_cls, **kwargs
        )


class _AsyncHooks(_Hooks):
    async def _process_response(self, *, response: Any, stream_cls: Any, **kwargs: Any) -> Any:
        reply = _expected(response, kwargs.get("options"))
        if reply is not None and response.is_success:
            await beside(reply.policy, rewrite, response, reply, AsyncBytes)
            stream_cls = _telling(stream_cls)
        return await super()._process_response(  # type: ignore[misc]
            response=response, stream_cls=stream_cls, **kwargs
        )


def reply_of(response: Any) -> Any:
    """The guarded reply of an HTTP response; None where nothing guards it."""
    return response.request.extensions.get(_KEY)


def _expected(response: Any, options: Any) -> Any:
    """The guarded reply of the response to a request.

    Raises:
        Unreadable: it was to be guarded, and an HTTP client gave another request's response.
    """
    reply = reply_of(response)
    if reply is None and isinstance(getattr(options, "json_data", None), _Guarded):
        raise Unreadable("the reply is not of the request that was sent; it was withheld")
    return reply


def _body(options: Any) -> dict[str, Any]:
    """The request's JSON as it would be sent; empty where there is none."""
    body, extra = options.json_data, options.extra_json
    merged = {**(body if isinstance(body, Mapping) else {}), **(extra or {})}
    made: dict[str, Any] = materialised(merged)
    return made


def _readable(options: Any) -> None:
    given = getattr(options, "content", None) is not None or options.files
    if given or not isinstance(options.json_data, Mapping):
        raise Unreadable("the request's body is no JSON object, and cannot be guarded")


# The SDK's stream objects tell the decision.


def _telling(stream_cls: Any) -> Any:
    """A stream class (`Stream[Chunk]`, say) whose objects have `firewall`."""
    if stream_cls is None:
        return None
    made = told_class(get_origin(stream_cls) or stream_cls)
    arguments = get_args(stream_cls)
    return made[arguments] if arguments else made


_Item = TypeVar("_Item")


@lru_cache(maxsize=256)
def told_class(base: type[Any]) -> type[Any]:
    """The subclass of an SDK's stream class, with the decision as `firewall`.

    None until the stream has ended, in whatever way.
    """
    parent = base[_Item] if hasattr(base, "__class_getitem__") else base
    body = {"__module__": base.__module__, "firewall": property(_firewall_of)}
    return types.new_class(base.__name__, (parent,), exec_body=lambda names: names.update(body))


def _firewall_of(stream: Any) -> Decision | None:
    response = getattr(stream, "response", None) or stream._response
    reply: Reply = reply_of(response)
    return reply.firewall


class WiredClient(GuardedClient):
    """A wrapped client that may be one of these."""

    __slots__ = ()

    def _around(self, client: Any, door: Any) -> Any:
        if door is not self._frame.door and is_stainless(client):  # on somebody's behalf
            client = _made(client, type(client), door.opening)
        return super()._around(client, door)
