"""One thread of an agent, run for a person who watches and can be asked.

A run ends with an answer, or with calls that wait: those are put to whoever can be asked, and the
thread goes on with the answers. Ctrl-C cancels the run; what was done is in the thread.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from .views import View

if TYPE_CHECKING:
    from ..graphs.agent import BaseAgent
    from ..graphs.context import RunContext
    from ..graphs.result import AgentResult

T = TypeVar("T")

Questions = Sequence[Mapping[str, Any]]
Answers = Mapping[str, Mapping[str, Any]]

Asked = Callable[[Questions], Answers | None]
"""Puts waiting calls to somebody; None where nobody answers, and the thread keeps waiting."""


class Interruptible:
    """An event loop for one command. Ctrl-C cancels what runs on it, which leaves it usable.

    One loop for all runs of a process: a model's connections belong to the loop they were made on.
    """

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run to the end.

        Raises:
            KeyboardInterrupt: Ctrl-C came, and the work was cancelled.
        """
        task = self._loop.create_task(work)
        before = signal.getsignal(signal.SIGINT)

        def stop(*_: Any) -> None:
            signal.signal(signal.SIGINT, signal.default_int_handler)  # a second one: at once
            self._loop.call_soon_threadsafe(task.cancel)

        signal.signal(signal.SIGINT, stop)
        try:
            with _woken_by_signals(self._loop):
                return self._loop.run_until_complete(task)
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None
        finally:
            signal.signal(signal.SIGINT, before)

    def close(self) -> None:
        """Close the loop; what still hangs on it is let go."""
        with suppress(RuntimeError):
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()


@contextmanager
def _woken_by_signals(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Have signals wake the loop; one that came just before it fell asleep would wait with it."""
    if os.name != "posix":
        yield  # there, the loop sees to it
        return
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        theirs.setblocking(False)
        loop.add_reader(ours, ours.recv, 4096)
        before = signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(before)
            loop.remove_reader(ours)


class Session:
    """A thread that runs, shows what happens, and asks."""

    def __init__(
        self,
        agent: BaseAgent,
        thread: str,
        *,
        view: View,
        ask: Asked,
        facts: RunContext | None = None,
    ) -> None:
        self.agent = agent
        self.thread = thread
        self._view = view
        self._ask = ask
        self._facts = facts
        self._loop = Interruptible()

    def say(self, task: str, images: Sequence[str] = ()) -> AgentResult:
        """Give the thread a task and run until there is an answer, or nobody to ask.

        What an interrupted task has left open is dropped.

        Raises:
            ImageRefused: an image may not be sent; nothing was.
        """
        from langchain_core.messages import HumanMessage

        message = self.agent.asked(task, images) or HumanMessage(task)
        return self._run({"messages": [message]}, task)

    def go_on(self) -> AgentResult:
        """Go on where the thread was interrupted, or ask again what it waits for."""
        return self._run(None, "")

    @property
    def state(self) -> str:
        """`new`, `done` (it can take a task), or `open` (it was interrupted, or waits)."""
        state = self._snapshot()
        if state.next:
            return "open"
        return "done" if state.values else "new"

    def _snapshot(self) -> Any:
        return self.agent.graph.get_state({"configurable": {"thread_id": self.thread}})

    def close(self) -> None:
        """Close the loop and the agent."""
        self._loop.close()
        self.agent.close()

    def _run(self, given: Any, task: str) -> AgentResult:
        from langgraph.types import Command

        result = self._part(given, task)
        while result.waiting:
            answers = self._ask(result.waiting)
            if answers is None:
                break
            self._view.answered(answers)
            result = joined(result, self._part(Command(resume=dict(answers)), task))
        self._view.end(result)
        return result

    def _part(self, given: Any, task: str) -> AgentResult:
        with self._view.busy():
            return self._loop.run(self._stream(given, task))

    async def _stream(self, given: Any, task: str) -> AgentResult:
        from ..graphs.context import RunContext
        from ..graphs.events import events
        from ..graphs.result import Trace

        trace = Trace(task, self.thread)
        config: Any = {"configurable": {"thread_id": self.thread}}
        facts = self._facts or RunContext()
        graph = self.agent.graph
        updates = graph.astream(given, config, stream_mode="updates", context=facts)
        try:
            async for update in updates:
                trace.saw(update)
                for event in events(update):
                    trace.add(event)
                    self._view.event(event)
        except Exception as error:
            if isinstance(given, dict):  # a run failed, not the attempt to go on with one
                failure = f"{type(error).__name__}: {error}"
                await graph.aremember(config, context=facts, failure=failure)
            raise
        if not trace.waiting:
            trace.also_used(await graph.aremember(config, context=facts))
        return trace.result()


def joined(earlier: AgentResult, later: AgentResult) -> AgentResult:
    """Two parts of one run as one result; what the later part is silent on stays."""
    offset = len(earlier.steps)
    steps = [replace(step, index=step.index + offset) for step in later.steps]
    return replace(
        later,
        final_answer=later.final_answer or earlier.final_answer,
        steps=[*earlier.steps, *steps],
        usage=later.usage if later.usage.total_tokens else earlier.usage,
        verdicts=[*earlier.verdicts, *later.verdicts],
    )
