"""Threads for tools: reused while they behave, left behind when they hang.

An executor of the standard library waits for its threads when the program ends; a tool that never
returns would keep the program from ending. These are daemons.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")
Job = Callable[[], None]

MAX_IDLE = 32

_idle: deque[SimpleQueue[Job]] = deque()


def run(function: Callable[..., T], *args: Any, timeout_s: float) -> T:
    """Call `function` in another thread, in this context, and wait at most `timeout_s` seconds.

    Raises:
        TimeoutError: it is still running; the thread is left to itself.
        BaseException: whatever the function raised.
    """
    done = threading.Lock()
    done.acquire()
    outcome: list[Any] = []
    context = contextvars.copy_context()

    def job() -> None:
        try:
            outcome.append((context.run(function, *args), None))
        except BaseException as error:  # noqa: BLE001 - handed to the waiting thread
            outcome.append((None, error))
        done.release()

    _give(job)
    if not done.acquire(timeout=timeout_s):
        raise TimeoutError
    result, error = outcome[0]
    if error is not None:
        raise error
    return result  # type: ignore[no-any-return]


async def arun(function: Callable[..., T], *args: Any) -> T:
    """The same for an event loop, without a limit of its own: wrap it in `asyncio.wait_for`."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()

    def settle(result: Any, error: BaseException | None) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(result)
        elif isinstance(error, StopIteration):  # a future cannot carry one
            future.set_exception(RuntimeError("StopIteration"))
        else:
            future.set_exception(error)

    def job() -> None:
        outcome: tuple[Any, BaseException | None]
        try:
            outcome = context.run(function, *args), None
        except BaseException as error:  # noqa: BLE001 - handed to the awaiting task
            outcome = None, error
        try:
            loop.call_soon_threadsafe(settle, *outcome)
        except RuntimeError:  # the loop is closed: nobody waits any more
            return

    _give(job)
    return await future


def _give(job: Job) -> None:
    try:
        queue = _idle.pop()
    except IndexError:
        queue = SimpleQueue()
        threading.Thread(target=_serve, args=(queue,), name="edgeward tool", daemon=True).start()
    queue.put(job)


def _serve(queue: SimpleQueue[Job]) -> None:
    while True:
        queue.get()()
        if len(_idle) >= MAX_IDLE:
            return
        _idle.append(queue)
