"""What happens after a run: it is kept in the memory, and now and then reflected on.

Nothing here can fail a run: what goes wrong is logged, and the answer stands. It blocks; agents do
it in a thread.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage

from ..arguments import refusal
from ..guards.decide import Policy
from ..guards.langchain.chats import facts_of
from ..guards.langchain.model import held
from ..guards.limits import Amounts, added
from ..guards.vault import PLACEHOLDER
from ..nodes._base import CallModel, add_usage
from ..profiles.memory.notes import Leaving
from ..profiles.memory.records import Scope
from ..profiles.reflection import Reflector
from ..profiles.schema import AgentProfile
from .context import RunContext
from .meter import Meter
from .work import Work

if TYPE_CHECKING:
    from .config import AgentConfig

_logger = logging.getLogger("edgeward")


@dataclass(frozen=True, slots=True)
class Remembers:
    """What a program wants kept of runs."""

    memory: Any
    profile: AgentProfile
    outcome: bool = True
    trajectory: bool = True
    reflector: Any = None
    model: BaseChatModel | None = None
    """The model that reflects; None: the graph's."""

    @classmethod
    def by_default(cls, memory: Any, profile: AgentProfile) -> Remembers | None:
        """All of it, reflecting as the profile says; None without a memory."""
        if memory is None:
            return None
        return cls(memory, profile, reflector=reflector_of(profile))


def reflector_of(profile: AgentProfile) -> Reflector:
    """The reflector with the profile's thresholds."""
    block = profile.cognitive
    return Reflector(block.reflection_threshold, block.importance_threshold)


def remembers(
    memory: Any, profile: AgentProfile, config: AgentConfig, *, model: BaseChatModel | None = None
) -> Remembers | None:
    """What the config wants kept of runs; nothing without a memory, or one that only searches."""
    if not hasattr(memory, "add"):
        return None
    reflects = config.use_reflection and config.reflect_after_run
    reflector = (config.reflector or reflector_of(profile)) if reflects else None
    if reflector is not None and not callable(getattr(reflector, "maybe_reflect", None)):
        raise refusal("reflector", reflector, "a Reflector, or an object with its maybe_reflect")
    saves = (config.save_outcome, config.save_trajectory)
    return Remembers(memory, profile, *saves, reflector, model)


def own_model(
    config: AgentConfig, env: Mapping[str, str]
) -> tuple[BaseChatModel | None, dict[str, str]]:
    """The model that reflects, where the memory has its own, and what nobody may see of it.

    Raises:
        ConfigError: its settings do not make a model.
    """
    backend = config.memory_backend
    return (backend.model(env) if backend else None) or (None, {})


@dataclass(frozen=True, slots=True)
class Keeper:
    """Keeps the runs of one graph."""

    wants: Remembers
    policy: Policy
    work: Work
    masks: frozenset[str]
    """The kinds of what is masked in all that is kept."""

    @classmethod
    def of(cls, wants: Remembers | None, policy: Policy, work: Work) -> Keeper | None:
        """The keeper of a graph; None where nothing is to be kept.

        Raises:
            ValueError: money is bounded, and the policy does not say what its own model costs.
        """
        if wants is None:
            return None
        if wants.model is not None:
            model = held(wants.model, policy.redactor)
            budget = work.budget and work.budget.of_model(wants.model, policy)
            work = replace(work, model=model, facts=facts_of(model), budget=budget)
        hides = policy.hides
        kinds = {*policy.results.redact, *(hides.kinds if hides else ())}
        return cls(wants, policy, work, frozenset(kinds))

    def after(
        self,
        state: Callable[[], Mapping[str, Any]],
        *,
        thread: str,
        context: RunContext,
        begun: str = "",
        failure: str = "",
    ) -> Asking:
        """Keep a thread's last run, and reflect if it is time; what this took.

        `state` reads the thread's state; `begun` is the id of the message that began the run,
        `failure` what it broke off with.
        """
        wants = self.wants
        asked = Asking(self.work, {}, thread, context)
        try:
            asked.values = values = state()
            scope = Scope.of(wants.profile.id, context)
            leaving = Leaving(wants.profile.memory, self.cleaned, wants.outcome, wants.trajectory)
            notes, task = leaving.notes(values, thread=thread, begun=begun, failure=failure)
            if notes:
                wants.memory.add(notes, scope, block=task)
        except Exception as error:  # noqa: BLE001 - a memory that fails never hides the answer
            self._failed("a run was not kept in the memory", error)
            return asked
        try:
            if wants.reflector is not None:
                wants.reflector.maybe_reflect(wants.memory, scope, asked, clean=self.cleaned)
        except Exception as error:  # noqa: BLE001 - nor does a reflection that fails
            self._failed("the reflection after a run failed", error)
        return asked

    def cleaned(self, text: str) -> str:
        """A text as the policy lets it be kept: masked, hidden values left as what they are."""
        masked = self.policy.redactor.masked(text, self.masks)[0]
        # Outside of its thread a placeholder stands for nothing.
        return PLACEHOLDER.sub(lambda name: f"[{name[1].rpartition('_')[0]}]", masked)

    def _failed(self, what: str, error: Exception) -> None:
        told = self.policy.redactor.secrets(f"{type(error).__name__}: {error}")[0]
        _logger.warning("%s: %s", what, told)


@dataclass(slots=True)
class Asking:
    """Puts prompts to the graph's model, within the policy's limits, and counts what they take."""

    work: Work
    values: Mapping[str, Any]
    thread: str
    context: RunContext
    run: dict[str, Any] = field(default_factory=dict)
    amounts: Amounts = field(default_factory=dict)
    """Summed over all prompts, where the policy bounds anything."""

    def __call__(self, prompt: str) -> str:
        work = self.work
        meter = None
        if work.budget is not None:
            meter = Meter.of(work.budget, self.values, self.context.caller)
            for scope, used in meter.used.items():  # what the prompts before this one took
                meter.used[scope] = added(used, self.amounts)
        try:
            effect = CallModel([HumanMessage(prompt)], tools=False)
            reply: AIMessage = work.do(effect, self.thread, {}, meter)
        finally:
            if meter is not None:
                meter.close()
                self.amounts = added(self.amounts, meter.amounts)
        self.run = add_usage(self.run, reply)
        return reply.text

    @property
    def spent(self) -> int:
        """Tokens, as a thread's total counts them."""
        return int(self.run.get("spent") or 0)

    @property
    def tokens(self) -> Mapping[str, Any]:
        """Summed over all prompts."""
        found: Mapping[str, Any] = self.run.get("tokens") or {}
        return found
