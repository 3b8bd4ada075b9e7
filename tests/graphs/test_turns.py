"""Turns: no waiter that gave up, was cancelled or died keeps the others of its thread waiting."""

from __future__ import annotations

import asyncio
import copy
import threading

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from edgeward.graphs.turns import Turn, turn_of


async def rounds(count: int = 5) -> None:
    """Let the event loop do what is ready, a few times over."""
    for _ in range(count):
        await asyncio.sleep(0)


async def waiting(turn: Turn) -> asyncio.Task[None]:
    """A task that stands in the queue for `turn`."""
    task = asyncio.create_task(turn.atake())
    await rounds()
    assert not task.done()
    return task


async def test_served_in_order_of_arrival() -> None:
    """Whoever came first goes first, and one at a time."""
    turn = Turn()
    turn.take()
    first, second = await waiting(turn), await waiting(turn)
    turn.give_back()
    await rounds()
    assert (first.done(), second.done()) == (True, False)
    turn.give_back()
    await rounds()
    assert second.done()


async def test_sync_and_async_runs_share_one_queue() -> None:
    """A run in a thread waits for an async one, and gets the turn when that is done."""
    turn = Turn()
    await turn.atake()
    took = threading.Event()
    thread = threading.Thread(target=lambda: (turn.take(), took.set()), daemon=True)
    thread.start()
    while not turn._waiting:
        await asyncio.sleep(0.001)
    assert not took.is_set()
    turn.give_back()
    await asyncio.to_thread(thread.join, 30)
    assert took.is_set()


async def test_cancelled_while_in_the_queue() -> None:
    """A waiter that is cancelled is passed over."""
    turn = Turn()
    turn.take()
    leaving, staying = await waiting(turn), await waiting(turn)
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    assert not staying.done()
    turn.give_back()
    await rounds()
    assert staying.done()


@pytest.mark.parametrize("seen", [0, 1], ids=["before it is told", "after it is told"])
async def test_cancelled_just_as_the_turn_comes(seen: int) -> None:
    """A turn that comes to a waiter while it is cancelled goes on to the next, and is not lost."""
    faults: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, fault: faults.append(fault))
    turn = Turn()
    turn.take()
    leaving, staying = await waiting(turn), await waiting(turn)
    turn.give_back()
    await rounds(seen)
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    await rounds()
    assert staying.done()
    turn.give_back()
    await rounds()
    await asyncio.wait_for(turn.atake(), 30)
    assert faults == []


def test_waiter_whose_event_loop_is_gone() -> None:
    """A run whose event loop was closed while it waited is passed over: the next gets the turn."""
    turn = Turn()
    turn.take()
    loop = asyncio.new_event_loop()
    lost = loop.create_task(turn.atake())
    loop.run_until_complete(rounds())
    loop.close()

    async def next_one() -> bool:
        task = await waiting(turn)
        turn.give_back()
        await rounds()
        return task.done()

    assert asyncio.run(next_one())
    turn.give_back()
    assert not lost.done()


def test_nobody_left_but_a_dead_waiter() -> None:
    """Where only a dead waiter is left, the turn is free again."""
    turn = Turn()
    turn.take()
    loop = asyncio.new_event_loop()
    lost = loop.create_task(turn.atake())
    loop.run_until_complete(rounds())
    loop.close()
    turn.give_back()
    thread = threading.Thread(target=turn.take, daemon=True)
    thread.start()
    thread.join(30)
    assert not thread.is_alive()
    assert not lost.done()


def test_whose_turn_it_is() -> None:
    """Graphs on one store queue for one thread together; other threads and stores do not wait."""
    saver, other = InMemorySaver(), InMemorySaver()
    copied = copy.copy(saver)
    turn = turn_of(saver, "t")
    assert turn_of(saver, "t") is turn
    assert copied is not saver
    assert turn_of(copied, "t") is turn
    assert turn_of(saver, "u") is not turn
    assert turn_of(other, "t") is not turn
    plain = object()
    assert turn_of(plain, "t") is turn_of(plain, "t")


def test_waiter_that_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while waiting leaves the queue: the turn goes to the next, not to nobody."""
    turn = Turn()
    turn.take()

    def interrupted(self: threading.Event, timeout: float | None = None) -> bool:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(threading.Event, "wait", interrupted)
        with pytest.raises(KeyboardInterrupt):
            turn.take()
    turn.give_back()
    turn.take()
    turn.give_back()
