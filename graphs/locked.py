"""The compiled graph's class: a graph that cannot be jumped in, and whose state cannot be set.

What it takes is in `admitted.py`.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, cast

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import (
    DEFAULT_RECURSION_LIMIT,
    ensure_config,
    merge_configs,
)
from langchain_core.runnables.graph import Edge, Graph
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, StateSnapshot
from pydantic import ValidationError

from ..arguments import require
from ..guards.decide import Policy
from ..guards.faults import without_values
from ..guards.following import Following
from ..guards.telemetry.current import left_behind, listening, operation
from ..guards.telemetry.operation import INVOKE_AGENT, Operation
from ..guards.vault import PLACEHOLDER
from ..guards.veil import held_in
from . import workers
from .admitted import (
    CONTEXTS,
    NOT_TWICE,
    NOTHING_WAITING,
    STATE_IS_LOCKED,
    admit,
)
from .admitted import LockViolation as LockViolation
from .admitted import NothingWaiting as NothingWaiting
from .check import TOOL
from .context import RunContext
from .hiding import hidden_input, masked_answers, masked_input
from .joined import COMPRESS
from .totals import add_to_thread
from .turns import Turn, turn_of

if TYPE_CHECKING:
    from .remember import Asking
    from .ruled import Ruled

_logger = logging.getLogger("edgeward")

CHECKPOINTER_KEY = "__pregel_checkpointer"
SEND_KEY = "__pregel_send"
CHECKPOINT_KEY = "checkpoint_id"

STEPS = 10_000
"""Graph steps of a run where nobody bounds them: a strategy's loops are bounded by themselves."""


class LockedGraph(CompiledStateGraph[Any, Any, Any, Any]):
    """A compiled strategy. Use it as any Runnable; input is `{"messages": [...]}`.

    A pickle holds what the graph was made from, so also the model's key: keep it as you keep that.
    The ticket key is not in it.
    """

    def stream(
        self, input: Any, config: RunnableConfig | None = None, **options: Any
    ) -> Iterator[Any]:
        items = self._streamed(input, config, **options)
        return self._driven(items, input, config) if listening() else items

    def _streamed(self, input: Any, config: RunnableConfig | None, **options: Any) -> Iterator[Any]:
        config = _unbounded(config, self.config)
        whole = merge_configs(self.config, ensure_config(config))
        require("context", options.get("context"), RunContext | Mapping | None, CONTEXTS)
        input = self._admitted(input, whole)
        turn = self._turn(whole)
        if turn is None:
            yield from super().stream(input, config, **options)
            return
        turn.take()
        try:
            if _goes_on(input, whole):
                here, head = _places(whole)
                self._admit_at(input, self.get_state(here), self.get_state(head))
            yield from super().stream(input, config, **options)
        finally:
            turn.give_back()

    def astream(
        self, input: Any, config: RunnableConfig | None = None, **options: Any
    ) -> AsyncIterator[Any]:
        items = self._astreamed(input, config, **options)
        return self._adriven(items, input, config) if listening() else items

    async def _astreamed(
        self, input: Any, config: RunnableConfig | None, **options: Any
    ) -> AsyncIterator[Any]:
        config = _unbounded(config, self.config)
        whole = merge_configs(self.config, ensure_config(config))
        require("context", options.get("context"), RunContext | Mapping | None, CONTEXTS)
        input = self._admitted(input, whole)
        turn = self._turn(whole)
        # Whoever goes away ends the run, and not when its remains are collected: the turn is the
        # next one's then.
        run = super().astream
        if turn is None:
            async with aclosing(cast("Any", run(input, config, **options))) as chunks:
                async for chunk in chunks:
                    yield chunk
            return
        await turn.atake()
        try:
            if _goes_on(input, whole):
                here, head = _places(whole)
                self._admit_at(input, await self.aget_state(here), await self.aget_state(head))
            async with aclosing(cast("Any", run(input, config, **options))) as chunks:
                async for chunk in chunks:
                    yield chunk
        finally:
            turn.give_back()

    def _driven(
        self, items: Iterator[Any], input: Any, config: RunnableConfig | None
    ) -> Iterator[Any]:
        yield from self._told(input, config).driving(items)

    async def _adriven(
        self, items: AsyncIterator[Any], input: Any, config: RunnableConfig | None
    ) -> AsyncIterator[Any]:
        async with aclosing(cast("Any", self._told(input, config).adriving(items))) as driven:
            async for item in driven:
                yield item

    def _told(self, input: Any, config: RunnableConfig | None) -> Operation:
        """The run as telemetry is told of it, which begins now."""
        thread = _thread(merge_configs(self.config, config))
        if input is not None and not isinstance(input, Command):
            left_behind(thread)
        ruled = self._ruled
        facts, redactor = ruled.facts, ruled.policy.redactor
        name = str(facts.get("gen_ai.agent.name") or facts.get("gen_ai.agent.id") or "")
        told = operation(INVOKE_AGENT, name, redactor, facts)
        told.note("gen_ai.conversation.id", thread)
        return told

    def remember(
        self,
        config: RunnableConfig,
        *,
        context: RunContext | None = None,
        begun: str = "",
        failure: str = "",
    ) -> Mapping[str, Any]:
        """Keep the thread's last run in the profile's memory, and reflect if it is time.

        Agents do this by themselves. It blocks; `aremember` does not. Gives the tokens that it
        took. `begun` is the id of the message that began the run, where it is not the last one of
        the user; `failure` what the run broke off with. Without a memory nothing happens; what goes
        wrong is logged.
        """
        keeper = self._ruled.keeper
        if keeper is None:
            return {}
        whole = merge_configs(self.config, config)
        asked: Asking = keeper.after(
            lambda: self.get_state(config).values,
            thread=_thread(whole),
            context=context or RunContext(),
            begun=begun,
            failure=failure,
        )
        if asked.spent:
            self._charge(whole, asked)
        return asked.tokens

    def _charge(self, whole: RunnableConfig, asked: Asking) -> None:
        """Add what was asked for after a run to the totals of its thread."""
        saver, turn = self.checkpointer, self._turn(whole)
        if turn is None or not isinstance(saver, BaseCheckpointSaver):
            return
        turn.take()
        try:
            add_to_thread(saver, _places(whole)[1], tokens=asked.spent, amounts=asked.amounts)
        except Exception as error:  # noqa: BLE001 - the run is over, and its answer stands
            _logger.warning("a thread's totals were not written: %s", type(error).__name__)
        finally:
            turn.give_back()

    async def aremember(
        self,
        config: RunnableConfig,
        *,
        context: RunContext | None = None,
        begun: str = "",
        failure: str = "",
    ) -> Mapping[str, Any]:
        """`remember`, for an event loop."""
        if self._ruled.keeper is None:
            return {}
        work = partial(self.remember, context=context, begun=begun, failure=failure)
        return await workers.arun(work, config)

    def close(self) -> None:
        """Close what the profile's tools keep open, for this graph and its copies.

        Closing twice is fine, and what is never closed is closed once nothing refers to it.
        """
        self.builder.close()  # type: ignore[attr-defined]

    def __copy__(self) -> LockedGraph:
        return self.copy()

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        made_from = self.builder.recipe  # type: ignore[attr-defined]
        return _rebuilt, (made_from, self.checkpointer, self.store, self.config)

    def bulk_update_state(self, *_: Any, **__: Any) -> NoReturn:
        raise LockViolation(STATE_IS_LOCKED)

    async def abulk_update_state(self, *_: Any, **__: Any) -> NoReturn:
        raise LockViolation(STATE_IS_LOCKED)

    def _admit_at(self, input: Any, state: StateSnapshot, head: StateSnapshot) -> None:
        """Refuse an answer that comes late, and a way back to where a call would run twice.

        Raises:
            NothingWaiting: the thread's present asks nothing. LockViolation: the checkpoint lies
                in the past, between a decision and the calls that it let through.
        """
        past = _checkpoint(state) != _checkpoint(head)
        if isinstance(input, Command):
            if past or not _waits(state):
                raise NothingWaiting(NOTHING_WAITING)
        elif past and any(self._is_tool(task.name) for task in state.tasks):
            raise LockViolation(NOT_TWICE)

    def _is_tool(self, node: str) -> bool:
        return (self.nodes[node].metadata or {}).get("kind") == TOOL

    def get_graph(self, config: RunnableConfig | None = None, *, xray: int | bool = False) -> Graph:
        """The graph to draw or check: every outcome of every node is an edge with its label."""
        return self._with_outcomes(super().get_graph(config, xray=xray))

    async def aget_graph(
        self, config: RunnableConfig | None = None, *, xray: int | bool = False
    ) -> Graph:
        """`get_graph`, as the server asks for it."""
        return self._with_outcomes(await super().aget_graph(config, xray=xray))

    def _with_outcomes(self, drawn: Graph) -> Graph:
        # The library knows no exit of our nodes, and so leads those it comes to to the end. What it
        # draws besides is no outcome of a node: it stays, for whoever checks the graph to see.
        exits = {name: getattr(node.bound, "exits", {}) for name, node in self.nodes.items()}
        others = [e for e in drawn.edges if e.target != END or not exits.get(e.source)]
        drawn.edges[:] = others + [
            Edge(source, target, data=str(outcome), conditional=True)
            for source, routes in exits.items()
            for outcome, target in routes.items()
        ]
        for name, node in self.nodes.items():
            if first := getattr(node.bound, "first", None):
                _put_in_front(drawn, first, name)
        return drawn

    def _admitted(self, input: Any, whole: RunnableConfig) -> Any:
        """The input as the graph takes it, without secrets.

        Raises:
            LockViolation: as `admit`. ValueError: there is no message in what stands for one.
        """
        redactor = self._ruled.policy.redactor
        try:
            return self._hidden(admit(input), whole)
        except ValidationError as error:
            wrong = redactor.secrets("; ".join(without_values(error)))[0]
        except ValueError as error:  # which may quote it
            wrong, found = redactor.secrets(str(error))
            if not found:
                raise
        raise ValueError(wrong)  # outside of the handler: it must not carry the original along

    def _hidden(self, input: Any, whole: RunnableConfig) -> Any:
        ruled = self._ruled
        if isinstance(input, Command):
            input = Command(resume=masked_answers(ruled.policy.redactor, input.resume))
        else:
            input = masked_input(ruled.policy.redactor, input)
        vault = ruled.work.vault
        return input if vault is None else hidden_input(vault, input, _thread(whole))

    @property
    def policy(self) -> Policy:
        """The policy that counts now, for whatever this graph does next."""
        return self._ruled.policy

    @property
    def _ruled(self) -> Ruled:
        following: Following[Ruled] = self.builder.ruled  # type: ignore[attr-defined]
        return following.current

    def shown(self, text: str, config: RunnableConfig) -> str:
        """A model's answer in this thread, as its user may read it: real values put back.

        In a paragraph with anything like a link they are not: whoever shows it may load that.
        """
        vault = self._ruled.work.vault
        if vault is None or PLACEHOLDER.search(text) is None:
            return text
        held = held_in(self.get_state(config).values)
        return vault.answer(text, held, _thread(merge_configs(self.config, config)))

    async def ashown(self, text: str, config: RunnableConfig) -> str:
        """`shown`, for an event loop."""
        vault = self._ruled.work.vault
        if vault is None or PLACEHOLDER.search(text) is None:
            return text
        held = held_in((await self.aget_state(config)).values)
        return vault.answer(text, held, _thread(merge_configs(self.config, config)))

    def _turn(self, whole: RunnableConfig) -> Turn | None:
        """The turn to wait for: None without a thread, and inside another graph's run."""
        settings = whole.get("configurable", {})
        saver = settings.get(CHECKPOINTER_KEY) or self.checkpointer
        thread = settings.get("thread_id")
        # A request to a server can bring any of the library's keys, but no function.
        inside = callable(settings.get(SEND_KEY))
        if inside or thread is None or not isinstance(saver, BaseCheckpointSaver):
            return None
        return turn_of(saver, str(thread))


def _put_in_front(drawn: Graph, first: str, name: str) -> None:
    """Draw the node that runs in the graph step of another (`joined.py`)."""
    drawn.add_node(None, first, metadata={"kind": COMPRESS})
    drawn.edges[:] = [e._replace(target=first) if e.target == name else e for e in drawn.edges]
    drawn.edges.append(Edge(first, name, data="done", conditional=True))


def _rebuilt(
    recipe: Callable[..., LockedGraph], saver: Any, store: Any, config: Any
) -> LockedGraph:
    """An unpickled graph: with a ticket key of its own, as every copy of a key is another key."""
    graph = recipe(checkpointer=saver, store=store)
    return graph.with_config(config) if config else graph


def _unbounded(config: RunnableConfig | None, own: RunnableConfig | None) -> RunnableConfig | None:
    """The configuration without LangChain's bound on steps, which chains and tools hand on though
    nobody has set it: eight rounds of tools are more. `own`: what the graph was configured with."""
    if ensure_config(config).get("recursion_limit") != DEFAULT_RECURSION_LIMIT:
        return config
    limit = (own or {}).get("recursion_limit", DEFAULT_RECURSION_LIMIT)
    return {
        **(config or {}),
        "recursion_limit": STEPS if limit == DEFAULT_RECURSION_LIMIT else limit,
    }


def _thread(whole: RunnableConfig) -> str:
    return str(whole.get("configurable", {}).get("thread_id") or "")


def _goes_on(input: Any, whole: RunnableConfig) -> bool:
    """Whether the run answers a question, or goes on from a checkpoint that the caller chose."""
    chosen = whole.get("configurable", {}).get(CHECKPOINT_KEY)
    return isinstance(input, Command) or (input is None and bool(chosen))


def _places(whole: RunnableConfig) -> tuple[RunnableConfig, RunnableConfig]:
    """Where the run starts, and the thread's present."""
    settings = {**whole["configurable"], CHECKPOINT_KEY: None}
    return whole, {**whole, "configurable": settings}


def _checkpoint(state: StateSnapshot) -> Any:
    return state.config.get("configurable", {}).get(CHECKPOINT_KEY)


def _waits(state: StateSnapshot) -> bool:
    return any(task.interrupts for task in state.tasks)
