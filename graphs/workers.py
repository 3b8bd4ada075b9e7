"""Threads for tools: reused while they behave, left behind when they hang.

An executor of the standard library waits for its threads when the program ends; a tool that never
returns would keep the program from ending. These are daemons.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import os
import threading
from collections import deque
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from functools import partial
from queue import SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")
Job = Callable[[], None]

MAX_IDLE = 32

_idle: deque[SimpleQueue[Job]] = deque()
if hasattr(os, "register_at_fork"):  # the threads do not come along: nobody would take the job
    os.register_at_fork(after_in_child=_idle.clear)


class OutOfTime(TimeoutError):
    """Nobody waits any longer. A function's own TimeoutError is none of these."""


class _Waiter:
    """Who waits for a function, and how the function is told that nobody does any more."""

    def __init__(self) -> None:
        self.has_left = False
        self.stop: Job | None = None

    def leave(self) -> None:
        self.has_left = True
        if self.stop is not None:
            self.stop()


_waiter: ContextVar[_Waiter | None] = ContextVar("_waiter", default=None)
"""Who waits for the function in which this code runs."""


def run(function: Callable[..., T], *args: Any, timeout_s: float) -> T:
    """Call `function` in another thread, in this context, and wait at most `timeout_s` seconds.

    Raises:
        OutOfTime: it is still running; the thread is left to itself, unless it runs a coroutine
            (`run_coroutine`): that is cancelled.
        BaseException: whatever the function raised.
    """
    done = threading.Lock()
    done.acquire()
    outcome: list[Any] = []
    context = contextvars.copy_context()
    waiter = _Waiter()
    context.run(_waiter.set, waiter)

    def job() -> None:
        try:
            outcome.append((context.run(function, *args), None))
        except BaseException as error:  # noqa: BLE001 - handed to the waiting thread
            outcome.append((None, error))
        done.release()

    _give(job)
    try:
        if not done.acquire(timeout=timeout_s):
            raise OutOfTime
    except BaseException:  # the time is over, or somebody interrupts the run
        waiter.leave()
        raise
    result, error = outcome[0]
    if error is not None:
        raise error
    return result  # type: ignore[no-any-return]


def run_coroutine(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in a loop of its own; cancelled when `run` does not wait for it any more."""

    async def cancellable() -> T:
        waiter, task = _waiter.get(), asyncio.current_task()
        if waiter is not None and task is not None:
            waiter.stop = partial(_cancel, asyncio.get_running_loop(), task)
            if waiter.has_left:  # before there was anything to stop
                task.cancel()
        return await work

    return asyncio.run(cancellable())


def _cancel(loop: asyncio.AbstractEventLoop, task: asyncio.Task[Any]) -> None:
    with contextlib.suppress(RuntimeError):  # it has just come to its end
        loop.call_soon_threadsafe(task.cancel)


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
        elif isinstance(error, StopIteration | GeneratorExit):  # they would end who awaits it
            future.set_exception(RuntimeError(type(error).__name__))
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
