"""Streams of Google's SDK that tell the decision."""

from __future__ import annotations

from typing import Any

from ..defender import Decision
from .wire import Call


class GuardedStream:
    """A stream of responses; `firewall` is the decision once it has ended, in whatever way."""

    def __init__(self, pieces: Any, call: Call) -> None:
        self._pieces, self._call = pieces, call

    @property
    def firewall(self) -> Decision | None:
        """The decision; None until the stream has ended."""
        return self._call.firewall

    def __iter__(self) -> GuardedStream:
        return self

    def __next__(self) -> Any:
        try:
            return next(self._pieces)
        except BaseException:
            self._call.end(finished=False)
            raise

    def close(self) -> None:
        """Nobody reads on."""
        self._pieces.close()
        self._call.end(finished=False)


class AsyncGuardedStream:
    """A stream of responses; `firewall` is the decision once it has ended, in whatever way."""

    def __init__(self, pieces: Any, call: Call) -> None:
        self._pieces, self._call = pieces, call

    @property
    def firewall(self) -> Decision | None:
        """The decision; None until the stream has ended."""
        return self._call.firewall

    def __aiter__(self) -> AsyncGuardedStream:
        return self

    async def __anext__(self) -> Any:
        try:
            return await anext(self._pieces)
        except BaseException:
            self._call.end(finished=False)
            raise

    async def aclose(self) -> None:
        """Nobody reads on."""
        await self._pieces.aclose()
        self._call.end(finished=False)


def streamed(pieces: Any, call: Call) -> Any:
    """A stream of the SDK's that tells the decision."""
    return (AsyncGuardedStream if hasattr(pieces, "__anext__") else GuardedStream)(pieces, call)
