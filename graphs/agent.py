"""Agents: a profile, a policy and a strategy behind one method, `run`.

    async with ReActAgent(AgentConfig(profile="assistant")) as agent:
        result = await agent.run("Summarise today's mail.")

One agent object serves any number of runs at once; what belongs to a run is in its thread. The
classes cost next to nothing to import: what an agent runs on is loaded when one is built.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator, Mapping, Sequence
from contextlib import aclosing, closing
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any, ClassVar

from ..arguments import require
from ..later import Later
from .config import AgentConfig

if TYPE_CHECKING:
    from langchain_core import messages
    from langgraph.types import Command
    from typing_extensions import Self

    from ..profiles import schema as profiles
    from . import context as contexts
    from . import events as happenings
    from . import result as results
    from . import schema as strategies
    from .started import Run

    Happened = tuple[happenings.Event, list[results.AgentStep]]
    """An event of a run, and the steps of the trace that it completed."""
else:
    messages = Later("langchain_core.messages")
    contexts, happenings = Later("edgeward.graphs.context"), Later("edgeward.graphs.events")
    results, strategies = Later("edgeward.graphs.result"), Later("edgeward.graphs.schema")
    profiles = Later("edgeward.profiles.schema")


class BaseAgent:
    """An agent that follows one strategy."""

    strategy: ClassVar[str] = ""

    def __init__(
        self, config: AgentConfig, *, strategy: str | Path | strategies.Strategy | None = None
    ) -> None:
        """Build the agent: profile, policy and strategy are read and checked here.

        Raises:
            ConfigError: with every problem of a file at once.
            ValueError: the profile asks for what is not there.
            TypeError: something is of no type that it may have.
        """
        require("config", config, AgentConfig, "an AgentConfig (create_agent takes a profile, too)")
        from .assembled import assembled, logger_of, profile_of
        from .checkpoints import open_checkpointer

        self.config = config
        self.profile = profile_of(config)
        self._saver = open_checkpointer(config.checkpointer)
        self._log = logger_of(config, self.profile)
        self.graph = assembled(config, self.profile, self._saver, strategy or self.strategy)

    async def run(
        self,
        task: str,
        *,
        images: Sequence[str | Path] = (),
        max_steps: int | None = None,
        thread: str | None = None,
        context: contexts.RunContext | None = None,
    ) -> results.AgentResult:
        """Do one task. `thread` goes on with a conversation; without it the run is on its own.

        `images`: paths, http(s) addresses or `data:` URLs, shown to the model beside the task; the
        profile's `images:` says which. `max_steps` overrides the profile's bound on tool rounds for
        this run (where the strategy plans: on the plan's length).

        Raises:
            ImageRefused: an image may not be sent; nothing was.
        """
        message = await self._aasked(task, images)
        started = self._begun(task, thread, max_steps, context, message, followed=False)
        try:
            await self._consume(started, started.input)
        finally:
            await self._aforget(started)
        return started.trace.result()

    async def resume(
        self,
        thread: str,
        answers: Mapping[str, Any] | None = None,
        *,
        max_steps: int | None = None,
        context: contexts.RunContext | None = None,
    ) -> results.AgentResult:
        """Go on with a thread that was interrupted, or answer the calls that it waits for.

        `context` says again for whom it runs: a waiting call is judged anew.

        `answers` maps call ids to `{"decision": "approve" | "edit" | "reject", "args", "reason",
        "by", "scope"}`.

        Raises:
            NothingWaiting: there are answers and no question, or there is no such thread.
            ValueError: the answers do not fit the question; the thread keeps waiting.
        """
        from langgraph.errors import EmptyInputError

        from .admitted import NothingWaiting

        started = self._begun("", thread, max_steps, context)
        try:
            await self._consume(started, _going_on(answers))
        except EmptyInputError:
            raise NothingWaiting(f"there is no thread {thread!r} to go on with") from None
        return started.trace.result()

    def run_sync(
        self,
        task: str,
        *,
        images: Sequence[str | Path] = (),
        max_steps: int | None = None,
        thread: str | None = None,
        context: contexts.RunContext | None = None,
    ) -> results.AgentResult:
        """`run` for programs without an event loop."""
        message = self.asked(task, images)
        started = self._begun(task, thread, max_steps, context, message, followed=False)
        try:
            for _ in self._events(started, started.input):
                pass
        finally:
            self._forget(started)
        return started.trace.result()

    def stream(
        self,
        task: str,
        *,
        images: Sequence[str | Path] = (),
        max_steps: int | None = None,
        thread: str | None = None,
        context: contexts.RunContext | None = None,
    ) -> Iterator[results.AgentStep]:
        """Do one task, giving each step of the trace as it is complete."""
        started = self._begun(task, thread, max_steps, context, self.asked(task, images))
        try:
            with closing(self._events(started, started.input)) as found:
                for _, steps in found:
                    yield from steps
            yield from started.trace.flush()
        finally:
            self._forget(started)

    async def astream(
        self,
        task: str,
        *,
        images: Sequence[str | Path] = (),
        max_steps: int | None = None,
        thread: str | None = None,
        context: contexts.RunContext | None = None,
    ) -> AsyncIterator[results.AgentStep]:
        """`stream` for an event loop."""
        message = await self._aasked(task, images)
        started = self._begun(task, thread, max_steps, context, message)
        try:
            async with aclosing(self._aevents(started, started.input)) as found:
                async for _, steps in found:
                    for step in steps:
                        yield step
            for step in started.trace.flush():
                yield step
        finally:
            await self._aforget(started)

    def events(
        self,
        task: str | None,
        *,
        thread: str,
        answers: Mapping[str, Any] | None = None,
        max_steps: int | None = None,
        context: contexts.RunContext | None = None,
    ) -> Iterator[tuple[happenings.Event, results.Trace]]:
        """Every event of a run as it happens, with the trace so far: for programs that show it.

        `task` None goes on with the thread: with `answers` where it waits, from where it was
        interrupted otherwise.
        """
        started = self._begun(task or "", thread, max_steps, context)
        given = started.input if task is not None else _going_on(answers)
        for event, _ in self._events(started, given):
            yield event, started.trace

    def asked(self, task: str, images: Sequence[str | Path]) -> messages.HumanMessage | None:
        """The task with its images, as the model is shown them; None where there are none.

        Raises:
            ImageRefused: the profile does not let one be sent, or it is none.
        """
        if not images:
            return None
        from ..profiles.images import with_images

        block, base_dir = self.profile.images, self.profile.base_dir
        return with_images(task, images, block=block, base_dir=base_dir)

    async def aclose(self) -> None:
        """Close what the agent opened. Closing twice is fine."""
        from . import workers

        await workers.arun(self.close)

    def close(self) -> None:
        """`aclose` for programs without an event loop."""
        try:
            self.graph.close()
        finally:
            if self._log is not None and self._log is not self.config.logger:
                self._log.close()
            if self._saver is not self.config.checkpointer:
                close = getattr(self._saver, "close", None)
                if close is not None:
                    close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    async def _aasked(
        self, task: str, images: Sequence[str | Path]
    ) -> messages.HumanMessage | None:
        """`asked`, for an event loop."""
        if not images:
            return None
        from . import workers

        return await workers.arun(self.asked, task, images)

    def _begun(
        self,
        task: str,
        thread: str | None,
        max_steps: int | None,
        context: contexts.RunContext | None,
        message: messages.HumanMessage | None = None,
        *,
        followed: bool = True,
    ) -> Run:
        """A run, which goes straight where nobody follows it and nobody can look at it later."""
        from langgraph.checkpoint.memory import InMemorySaver

        from .started import Run

        run = Run(task, thread, max_steps, context, message)
        kept = self._saver is not None and type(self._saver) is not InMemorySaver
        if run.forgets and not (followed or kept or self._log):
            # The answer's placeholders are read from what is kept as it comes.
            rarely = self._saver is not None and self.graph.policy.hides is None
            run.go_straight(rarely_kept=rarely)
        return run

    def _events(self, run: Run, given: Any) -> Generator[Happened, None, None]:
        try:
            for update in self.graph.stream(given, run.config, **run.options):
                for event in self._told(run, update):
                    if event.kind == "answer":
                        event = replace(event, text=self.graph.shown(event.text, run.config))
                    yield event, run.trace.add(event)
        except Exception as error:
            if run.failed_with(error, given):
                self.graph.remember(run.config, **run.left(error))
            raise
        if not run.trace.waiting:
            run.trace.also_used(self.graph.remember(run.config, **run.left()))

    async def _aevents(self, run: Run, given: Any) -> AsyncGenerator[Happened, None]:
        stream: Any = self.graph.astream(given, run.config, **run.options)
        try:
            async with aclosing(stream):
                async for update in stream:
                    for event in self._told(run, update):
                        if event.kind == "answer":
                            text = await self.graph.ashown(event.text, run.config)
                            event = replace(event, text=text)
                        yield event, run.trace.add(event)
        except Exception as error:
            if run.failed_with(error, given):
                await self.graph.aremember(run.config, **run.left(error))
            raise
        if not run.trace.waiting:
            run.trace.also_used(await self.graph.aremember(run.config, **run.left()))

    def _told(self, run: Run, update: Mapping[str, Any]) -> Iterator[happenings.Event]:
        """The events of one item of the stream, noted in the trace and in the log."""
        from .events import events

        run.trace.saw(update)
        for event in events(update):
            if self._log is not None:
                self._log.event(self.profile.id, run.thread, event)
            yield event

    async def _consume(self, run: Run, given: Any) -> None:
        async for _ in self._aevents(run, given):
            pass

    def _forget(self, run: Run) -> None:
        """Drop a thread that nobody named and nobody has to answer."""
        if run.forgets and not run.trace.waiting and self._saver is not None:
            self._saver.delete_thread(run.thread)

    async def _aforget(self, run: Run) -> None:
        """`_forget` for an event loop."""
        if run.forgets and not run.trace.waiting and self._saver is not None:
            await self._saver.adelete_thread(run.thread)


class SimpleAgent(BaseAgent):
    """One model call a run, no tools."""

    strategy = "simple"


class ReActAgent(BaseAgent):
    """Guarded tool calls until there is an answer, or the step bound is reached."""

    strategy = "react"


class PlanAndSolveAgent(BaseAgent):
    """A plan, its steps one by one with guarded tools, and an answer from all results."""

    strategy = "plan_and_solve"


AGENTS: Mapping[str, type[BaseAgent]] = MappingProxyType(
    {kind.strategy: kind for kind in (SimpleAgent, ReActAgent, PlanAndSolveAgent)}
)


def create_agent(
    config: AgentConfig | Mapping[str, Any] | str | Path | profiles.AgentProfile,
    *,
    strategy: str | Path | strategies.Strategy = "react",
) -> BaseAgent:
    """The agent for a strategy: a shipped one by name, or the user's own.

    In place of a configuration its fields as a mapping, or a profile alone, will do.

    Raises:
        ConfigError: there is no such strategy, or it breaks an invariant.
    """
    from ..profiles.schema import AgentProfile
    from .schema import Strategy

    if isinstance(config, str | Path | AgentProfile):
        config = AgentConfig(profile=config)
    elif isinstance(config, Mapping):
        config = AgentConfig(**config)
    wanted = "a shipped name, a path, or a Strategy"
    require("strategy", strategy, str | Path | Strategy, wanted)
    kind = None if isinstance(strategy, Strategy) else AGENTS.get(str(strategy))
    return kind(config) if kind else BaseAgent(config, strategy=strategy)


def _going_on(answers: Mapping[str, Any] | None) -> Command[Any] | None:
    from langgraph.types import Command

    return None if answers is None else Command(resume=dict(answers))
