"""Drives a node's step: does the I/O it asks for, sync or async, and holds it to its contract."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import (
    ensure_config,
    set_config_context,
    var_child_runnable_config,
)
from langgraph.errors import GraphInterrupt
from langgraph.graph import END
from langgraph.types import Send, interrupt

from ..guards.caller import NOBODY
from ..guards.langchain.approval import drop_answer
from ..guards.langchain.asking import note_silence
from ..guards.langchain.callbacks import listened_to
from ..guards.langchain.once import is_first_use
from ..guards.telemetry.current import answered, waits
from ..guards.veil import BARE, Veil, held_in
from ..nodes._base import (
    APPROVED,
    GRAPH,
    STATE_KEYS,
    Here,
    NodeFault,
    NodeKind,
    NodeSpec,
    Result,
    State,
    Step,
)
from ..nodes._messages import MessageLog
from .context import RunContext
from .locked import CHECKPOINTER_KEY, SEND_KEY
from .meter import USED, Meter
from .runner import ToolRunner
from .straight import (
    ALONE,
    Left,
    Way,
    ask_later,
    straight_of,
)
from .work import RUNTIME_KEY, Work

if TYPE_CHECKING:
    from ..guards.following import Following
    from .ruled import Ruled

READ_KEY = "__pregel_read"

# A node writes state and way on itself, where LangGraph would run two more runnables behind each
# node for it: with those, a guarded step would cost more than an unguarded one.
TASKS_CHANNEL = "__pregel_tasks"
BRANCH_CHANNEL = "branch:to:"

NO_CONTEXT = RunContext()

Writes = list[tuple[str, Any]]
"""Channel and value, in order."""


class NodeRunnable(Runnable[Any, Any]):
    """One node of a compiled graph."""

    def __init__(
        self,
        *,
        name: str,
        kind: NodeKind,
        spec: NodeSpec,
        here: Here,
        ruled: Following[Ruled],
        runner: ToolRunner | None,
        exits: Mapping[str, str],
        first: str | None = None,
    ) -> None:
        self.name = name
        self.first = first
        """The node in front of it that runs in the same graph step."""
        self.onward: Mapping[str, NodeRunnable] = {}
        """The nodes that can run in its graph step, by name; see `straight.py`."""
        self.handed: Mapping[str, NodeRunnable] = {}
        """Of a tool node: by a guard's name the tool node that can run in the same graph step what
        that guard let through. No other node holds one (I2)."""
        self._kind = kind
        self._spec = spec
        self._needs, self._writes = spec.needs, spec.writes
        self._here = here
        self._ruled = ruled
        self._runner = runner
        self._works: tuple[Ruled, Work] | None = None
        """What does its work under the policy that counted last."""
        self.exits = exits
        """Where each outcome leads."""

    @property
    def kind(self) -> str:
        """The name of its kind."""
        return self._kind.name

    def invoke(self, input: Any, config: RunnableConfig | None = None, **_: Any) -> Writes:
        config = config or ensure_config()
        writes: Writes
        if listened_to(config):
            writes = self._call_with_config(self._run, input, config)  # type: ignore[arg-type]
        else:
            token = var_child_runnable_config.set(config)
            try:
                writes = self._run(input, config)
            finally:
                var_child_runnable_config.reset(token)
        _written(writes, config)
        return writes

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **_: Any) -> Writes:
        config = config or ensure_config()
        writes: Writes
        if listened_to(config):
            writes = await self._acall_with_config(self._arun, input, config)  # type: ignore[arg-type]
        else:
            token = var_child_runnable_config.set(config)
            try:
                writes = await self._arun(input, config)
            finally:
                var_child_runnable_config.reset(token)
        _written(writes, config)
        return writes

    def keeps_to_itself(self, tool: str) -> bool:
        """Whether a tool of this node was seen to use nothing of LangGraph's."""
        return self._runner is not None and self._runner.keeps_to_itself(tool)

    def _run(self, input: Any, config: RunnableConfig) -> Writes:
        straight = straight_of(config)
        if straight is None or listened_to(config):
            return _as_writes(self._left_by(input, config))
        note_silence(config)
        way = Way(self, input, straight, config, partial(_whole, config))
        while (node := way.node) is not None:
            try:
                left = node._left_by(way.given, config, way)
            except Exception as error:  # noqa: BLE001 - raised where the node began this graph step
                way.stop(error)
            else:
                way.go_on(left)
        return _as_writes(way.left, straight=True)

    async def _arun(self, input: Any, config: RunnableConfig) -> Writes:
        straight = straight_of(config)
        if straight is None or listened_to(config):
            return _as_writes(await self._aleft_by(input, config))
        note_silence(config)
        way = Way(self, input, straight, config, partial(_whole, config))
        while (node := way.node) is not None:
            try:
                left = await node._aleft_by(way.given, config, way)
            except Exception as error:  # noqa: BLE001 - raised where the node began this graph step
                way.stop(error)
            else:
                way.go_on(left)
        return _as_writes(way.left, straight=True)

    def _left_by(self, state: State, config: RunnableConfig, way: Way | None = None) -> Left:
        step, here, work, meter = self._begin(state, config, way)
        try:
            effect = next(step)
            while True:
                answer, failure = None, None
                try:
                    answer = work.do(effect, here.thread, config, meter)
                except Exception as error:  # noqa: BLE001 - the step decides what a failure means
                    failure = error
                # Not while the failure is being handled: what the step raises in its place, without
                # the secret, must not carry it along.
                effect = step.throw(failure) if failure else step.send(answer)
        except StopIteration as stop:
            return self._left(stop.value, meter)
        finally:
            if meter is not None:
                meter.close()

    async def _aleft_by(self, state: State, config: RunnableConfig, way: Way | None = None) -> Left:
        step, here, work, meter = self._begin(state, config, way)
        try:
            effect = next(step)
            while True:
                answer, failure = None, None
                try:
                    answer = await work.ado(effect, here.thread, config, meter)
                except Exception as error:  # noqa: BLE001 - the step decides what a failure means
                    failure = error
                effect = step.throw(failure) if failure else step.send(answer)
        except StopIteration as stop:
            return self._left(stop.value, meter)
        finally:
            if meter is not None:
                meter.close()

    def _begin(
        self, input: Any, config: RunnableConfig, way: Way | None
    ) -> tuple[Step, Here, Work, Meter | None]:
        """The step, under the policy that counts now, and what does its work."""
        ruled = self._ruled.current
        works = self._works  # another run may put its own there, under a newer policy
        if works is None or works[0] is not ruled:
            works = self._works = ruled, self._work_under(ruled)
        work = works[1]
        meter: Meter | None = None
        known = way.heres.get(self) if way is not None else None
        if known is not None and known[0] is ruled:
            here = known[1]
        else:
            facts = _facts(config)
            if work.budget is not None:
                meter = Meter.of(work.budget, input, facts.caller)
            here = self._given(input, config, ruled, facts, way, meter)
            if way is not None and not way.is_first and meter is None and work.vault is None:
                way.heres[self] = ruled, here
        step = self._kind.step(self._spec, input, here)
        if not isinstance(step, Generator):
            raise self._returned(step)
        return step, here, work, meter

    def _given(
        self,
        input: Any,
        config: RunnableConfig,
        ruled: Ruled,
        facts: RunContext,
        way: Way | None,
        meter: Meter | None,
    ) -> Here:
        """What the step is given besides the state."""
        needs, vault = self._needs, ruled.work.vault
        thread = str((config.get("configurable") or {}).get("thread_id") or "")
        is_first = way is None or way.is_first
        answered = _has_answer(config) if way is None or is_first else way.answered
        return replace(
            self._here,
            policy=ruled.policy,
            thread=thread,
            max_steps=facts.max_steps or self._here.max_steps,
            caller=NOBODY if facts is NO_CONTEXT else facts.caller,
            boundary=ruled.boundary(thread) if "boundary" in needs else "",
            pause=_pause(config, is_first=is_first) if "pause" in needs else None,
            drop_answer=partial(drop_answer, config) if "pause" in needs else None,
            is_first_use=partial(is_first_use, config) if "pause" in needs else None,
            veil=Veil(vault, thread, held_in(input)) if vault and "veil" in needs else BARE,
            answered=answered if "answered" in needs else None,
            used=meter.to_judge if meter and "used" in needs else None,
        )

    def _work_under(self, ruled: Ruled) -> Work:
        if self._runner is None:
            return ruled.work
        return replace(ruled.work, runner=self._runner.under(ruled.policy.digest))

    def _left(self, result: object, meter: Meter | None) -> Left:
        """What to write and the way on, if the step kept its contract (I5)."""
        if not isinstance(result, Result):
            raise self._returned(result)
        if result.outcome not in self.exits:
            raise NodeFault(
                f"node {self.name!r} ended in {result.outcome!r}, which it does not declare; "
                f"declared: {', '.join(sorted(self.exits))}"
            )
        if not self._writes.issuperset(result.update):
            undeclared = result.update.keys() - self._writes
            raise NodeFault(
                f"node {self.name!r} wrote {', '.join(sorted(undeclared))}, which its kind "
                f"{self._kind.name!r} does not declare; "
                f"declared: {', '.join(sorted(self._writes))}"
            )
        update = dict(result.update)
        # What a guard approved is no state: it goes to the tool node, one task a call, and is gone.
        approved = update.pop(APPROVED, None)
        if meter is not None and (used := meter.left(approved)) is not None:
            update[USED] = used
        if meter is not None and approved:
            so_far = meter.for_tools(len(approved))
            approved = [{**call, USED: so_far} for call in approved]
        return Left(self.exits[result.outcome], update, approved)

    def _returned(self, result: object) -> NodeFault:
        return NodeFault(
            f"node {self.name!r} returned {type(result).__name__}; a step is a generator and "
            "returns a Result (outcome and update), never a Command or a Send"
        )


def _as_writes(left: Left | None, *, straight: bool = False) -> Writes:
    """What to write, the way on included."""
    assert left is not None
    writes: Writes = list(left.update.items())
    if left.approved:
        alone = {ALONE: True} if straight and len(left.approved) == 1 else {}
        writes += [(TASKS_CHANNEL, Send(left.target, {**one, **alone})) for one in left.approved]
    elif left.target != END:
        writes.append((BRANCH_CHANNEL + left.target, None))
    return writes


def _facts(config: RunnableConfig) -> RunContext:
    """What the caller says of the run."""
    context = getattr((config.get("configurable") or {}).get(RUNTIME_KEY), "context", None)
    return context if isinstance(context, RunContext) else NO_CONTEXT


def _whole(config: RunnableConfig) -> State:
    """The state as it was when this graph step began."""
    read = (config.get("configurable") or {})[READ_KEY]
    whole: State = read([*STATE_KEYS, USED])
    return whole


def _has_answer(config: RunnableConfig) -> Any:
    """How a step asks whether a call has its answer: the thread's messages, read when asked."""
    read = (config.get("configurable") or {}).get(READ_KEY)
    if read is None:
        return None

    def answered(call_id: str) -> bool:
        messages = read("messages") or []
        log = messages if isinstance(messages, MessageLog) else MessageLog(messages)
        return log.answers(call_id)

    return answered


def _written(writes: Writes, config: RunnableConfig) -> None:
    """Hand the writes to the run that this node is part of."""
    send = (config.get("configurable") or {}).get(SEND_KEY)
    if send is None:
        raise NodeFault("a node runs inside its graph only")
    send(writes)


def _pause(config: RunnableConfig, *, is_first: bool) -> Any:
    """How a step asks a person: LangGraph's interrupt, where a checkpointer can hold the run."""
    settings = config.get("configurable") or {}
    if not settings.get(CHECKPOINTER_KEY):
        return None
    if not is_first:
        return ask_later
    door, thread = GRAPH.door, str(settings.get("thread_id") or "")

    def pause(question: Any, schema: Any) -> Any:
        try:
            with set_config_context(config) as context:
                answers = context.run(interrupt, question, response_schema=schema)
        except GraphInterrupt:
            waits(door, thread, [call["id"] for call in question["calls"]])
            raise
        answered(door, thread, answers)
        return answers

    return pause
