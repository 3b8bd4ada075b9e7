"""An event loop in a thread of its own: connections live there, whoever uses them.

A connection must be opened, used and closed in one loop; an agent is used from any loop, thread or
none. The thread is a daemon: it keeps no program from ending.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")

STOP_S = 5.0
"""Seconds that the thread is waited for once it was told to end."""


class Portal:
    """The loop and its thread. It runs from when it is made until `stop`."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name=name, daemon=True)
        self._thread.start()

    @property
    def is_here(self) -> bool:
        """Whether the caller runs in the loop's own thread, and so must not wait for it."""
        return threading.current_thread() is self._thread

    @property
    def is_open(self) -> bool:
        """False once it was stopped, and in a process that was forked off."""
        return self._thread.is_alive() and not self._loop.is_closed()

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Start `work` in the loop; cancelling the future cancels it there.

        Raises:
            RuntimeError: the portal is closed.
        """
        if not self.is_open:
            work.close()
            raise RuntimeError("closed")
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def stop(self) -> None:
        """End the loop and, unless it is the caller's, wait for its thread."""
        if not self.is_open:
            return
        self._loop.call_soon_threadsafe(self._loop.stop)
        if not self.is_here:
            self._thread.join(STOP_S)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
            left = asyncio.all_tasks(self._loop)
            for task in left:
                task.cancel()
            self._loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        finally:
            self._loop.close()
