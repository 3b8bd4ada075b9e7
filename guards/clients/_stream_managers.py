"""The SDK's `stream` helpers, whose streams tell the decision.

They read a guarded stream already; this adds `firewall` to the objects that they make.
"""

from __future__ import annotations

import inspect
from functools import lru_cache
from typing import Any

from ._exchange import attach
from ._proxy import Target
from ._stainless import told_class

_FINALS = ("get_final_completion", "get_final_response", "get_final_message")


def told(target: Target, *args: Any, **kwargs: Any) -> Any:
    """A `stream` helper, whose stream tells the decision."""
    return telling(target.raw(*args, **kwargs))


def telling(manager: Any) -> Any:
    """The manager of a stream; the stream that it opens has `firewall`, and so has its end."""
    base: Any = type(manager)
    manager.__class__ = _manager_class(base)
    return manager


@lru_cache(maxsize=256)
def _manager_class(base: type[Any]) -> type[Any]:
    if hasattr(base, "__aenter__"):

        async def opened(self: Any) -> Any:
            return _told(await base.__aenter__(self))

        names: dict[str, Any] = {"__aenter__": opened}
    else:

        def entered(self: Any) -> Any:
            return _told(base.__enter__(self))

        names = {"__enter__": entered}
    return type(base.__name__, (base,), {**names, "__module__": base.__module__})


def _told(stream: Any) -> Any:
    base: Any = type(stream)
    stream.__class__ = _stream_class(base)
    return stream


@lru_cache(maxsize=256)
def _stream_class(base: type[Any]) -> type[Any]:
    bare: Any = base
    told = told_class(bare)
    names = {name: _final(getattr(told, name)) for name in _FINALS if hasattr(told, name)}
    return type(base.__name__, (told,), {**names, "__module__": base.__module__})


def _final(method: Any) -> Any:
    """A method that gives the whole, with the decision on it."""
    if inspect.iscoroutinefunction(method):

        async def awaited(self: Any) -> Any:
            return _attached(await method(self), self.firewall)

        return awaited

    def final(self: Any) -> Any:
        return _attached(method(self), self.firewall)

    return final


def _attached(result: Any, made: Any) -> Any:
    attach(result, made)
    return result
