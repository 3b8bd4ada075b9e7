"""What a fork does to open stores: it waits until none of them writes, and closes them.

Parent and child open them again. A file that both had open would be locked for both of them; of a
database SQLite forgets which process has it locked, and one deletes what the other writes. A thread
that writes is not in the child, which would wait for its lock for ever.
"""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from weakref import WeakSet


class OpenFiles(ABC):
    """Files that one process has open, under one lock."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        _all.add(self)

    def close(self) -> None:
        """Close what is open; what is written afterwards opens it again."""
        with self._lock:
            self._close()

    @abstractmethod
    def _close(self) -> None:
        """The same, under the lock."""


_all: WeakSet[OpenFiles] = WeakSet()
_forking = threading.Lock()
_held: list[OpenFiles] = []


def _before() -> None:
    _forking.acquire()
    for store in list(_all):
        store._lock.acquire()
        _held.append(store)
        store._close()


def _after() -> None:
    while _held:
        _held.pop()._lock.release()
    if _forking.locked():  # not where something forks that tells Python only afterwards
        _forking.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after)
