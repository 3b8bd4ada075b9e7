"""Turns: two runs on one thread of a conversation queue, whether they are sync or async.

A run reads the thread's last checkpoint and writes the next; two at once would interleave. Those
who wait are served in order of arrival, and cost no thread of an executor.
"""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any


class Turn:
    """One thread's turn: held by one run at a time."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._held = False
        self._waiting: deque[Callable[[], bool]] = deque()

    def take(self) -> None:
        """Wait for the turn, blocking this operating-system thread."""
        granted = threading.Event()

        def grant() -> bool:
            granted.set()
            return True

        if not self._taken_or_queued(grant):
            try:
                granted.wait()
            except BaseException:  # Ctrl-C: a turn that comes to nobody would block all others
                self._leave(grant)
                raise

    async def atake(self) -> None:
        """Wait for the turn without blocking the event loop."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()

        def settle() -> None:
            if not future.done():
                future.set_result(None)

        def grant() -> bool:
            try:
                loop.call_soon_threadsafe(settle)
            except RuntimeError:  # the waiter's loop is gone
                return False
            return True

        if self._taken_or_queued(grant):
            return
        try:
            await future
        except BaseException:
            self._leave(grant)
            raise

    def give_back(self) -> None:
        """Hand the turn to the next in the queue."""
        with self._mutex:
            while self._waiting:
                if self._waiting.popleft()():
                    return
            self._held = False

    def _taken_or_queued(self, grant: Callable[[], bool]) -> bool:
        with self._mutex:
            if self._held:
                self._waiting.append(grant)
                return False
            self._held = True
            return True

    def _leave(self, grant: Callable[[], bool]) -> None:
        with self._mutex:
            if grant in self._waiting:
                self._waiting.remove(grant)
                return
        self.give_back()  # the turn came while the waiter was being cancelled


_turns: weakref.WeakValueDictionary[tuple[int, str], Turn] = weakref.WeakValueDictionary()
_turns_mutex = threading.Lock()


def turn_of(saver: Any, thread: str) -> Turn:
    """The turn of one thread in one checkpointer; the caller keeps it alive while it needs it."""
    # Compiling a graph may copy the saver; the copies share what they store in.
    shared = (getattr(saver, name, None) for name in ("conn", "storage"))
    stored_in = next((place for place in shared if place is not None), saver)
    key = (id(stored_in), thread)
    with _turns_mutex:
        turn = _turns.get(key)
        if turn is None:
            turn = _turns[key] = Turn()
        return turn
