"""What stands behind a step's effects: the one place where a graph does I/O, sync or async."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable, RunnableConfig

from ..guards.detectors import Detector, opinions
from ..guards.langchain.asking import aask, ask
from ..guards.langchain.chats import chat, replied
from ..guards.redact import Redactor
from ..guards.telemetry.current import executing, ran, tell
from ..guards.telemetry.operation import Attributes, Operation
from ..guards.vault import Vault
from ..nodes._base import (
    AskDetectors,
    CallModel,
    Effect,
    KeepReceipts,
    NodeFault,
    RunTool,
    Tell,
    ToolOutcome,
    UseStore,
)
from . import workers
from .budget import Budget
from .meter import Meter, with_estimate
from .runner import ToolRunner

RUNTIME_KEY = "__pregel_runtime"

Asked = tuple[Runnable[Any, BaseMessage], Mapping[str, Any]]
"""A model, and the keyword arguments that make it know its tools."""


@dataclass(frozen=True, slots=True)
class Work:
    """What stands behind a step's effects. Only a tool node has a runner."""

    model: Runnable[Any, BaseMessage]
    with_tools: Asked
    """With the tools that the model is always shown."""
    with_more: Callable[[tuple[str, ...]], Asked]
    """With these besides; a name that is no tool is passed over."""
    runner: ToolRunner | None
    vault: Vault | None = None
    """Where the policy has personal data hidden."""
    budget: Budget | None = None
    """What the graph's policy bounds; None where it bounds nothing."""
    detectors: tuple[Detector, ...] = ()
    redactor: Redactor = field(default_factory=Redactor)
    """Masks what telemetry is told."""
    facts: Attributes = field(default_factory=dict)
    """What telemetry is told of the model."""

    def do(
        self, effect: Effect, thread: str, config: RunnableConfig, meter: Meter | None = None
    ) -> Any:
        if meter is None:
            return _told(effect, self._done(effect, thread, config))
        effect, config = meter.before(effect, config)
        with meter:
            answer = self._done(effect, thread, config)
        return meter.after(effect, answer)

    async def ado(
        self, effect: Effect, thread: str, config: RunnableConfig, meter: Meter | None = None
    ) -> Any:
        if meter is None:
            return _told(effect, await self._adone(effect, thread, config))
        effect, config = meter.before(effect, config)
        with meter:
            answer = await self._adone(effect, thread, config)
        return meter.after(effect, answer)

    def _done(self, effect: Effect, thread: str, config: RunnableConfig) -> Any:
        match effect:
            case CallModel():
                model, options = self._asked(effect)
                with self._chat(effect, thread) as told:
                    return replied(
                        told, ask(model, effect.messages, config, options, texts=effect.texts)
                    )
            case RunTool():
                with executing(effect.call, self.redactor, thread=thread) as told:
                    return _ran(told, self._runner().run(effect, thread, config))
            case UseStore():
                return getattr(_store(config), effect.method)(*effect.arguments)
            case AskDetectors():
                return opinions(self.detectors, effect.text)
            case KeepReceipts():
                return effect.log.write(effect.receipts)
            case Tell():
                return tell(effect.policy, effect.place, effect.decisions)
        raise NodeFault(f"a step yielded {type(effect).__name__}, which is no effect")

    async def _adone(self, effect: Effect, thread: str, config: RunnableConfig) -> Any:
        match effect:
            case CallModel():
                model, options = self._asked(effect)
                with self._chat(effect, thread) as told:
                    reply = await aask(model, effect.messages, config, options, texts=effect.texts)
                    return replied(told, reply)
            case RunTool():
                with executing(effect.call, self.redactor, thread=thread) as told:
                    return _ran(told, await self._runner().arun(effect, thread, config))
            case UseStore():
                return await getattr(_store(config), f"a{effect.method}")(*effect.arguments)
            case AskDetectors():
                return await workers.arun(opinions, self.detectors, effect.text)
            case KeepReceipts():
                return await workers.arun(effect.log.write, effect.receipts)
            case Tell():
                return tell(effect.policy, effect.place, effect.decisions)
        raise NodeFault(f"a step yielded {type(effect).__name__}, which is no effect")

    def _asked(self, effect: CallModel) -> Asked:
        cut = {} if effect.max_tokens is None else {"max_tokens": effect.max_tokens}
        if not effect.tools:
            return self.model, cut
        model, options = self.with_more(effect.more) if effect.more else self.with_tools
        return model, {**options, **cut}

    def _chat(self, effect: CallModel, thread: str) -> Operation:
        return chat(effect.messages, self.redactor, facts=self.facts, thread=thread)

    def _runner(self) -> ToolRunner:
        if self.runner is None:
            raise NodeFault("only a tool node can run a tool")
        return self.runner


def _ran(told: Operation, outcome: ToolOutcome) -> ToolOutcome:
    ran(told, outcome.text, failed=outcome.failed, kind=outcome.error)
    return outcome


def _told(effect: Effect, answer: Any) -> Any:
    """What came of an effect; a reply says how many tokens it took, if only by an estimate."""
    return with_estimate(answer, effect) if isinstance(effect, CallModel) else answer


def _store(config: RunnableConfig) -> Any:
    settings: Mapping[str, Any] = config.get("configurable") or {}
    return settings[RUNTIME_KEY].store
