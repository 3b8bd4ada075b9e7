"""What a graph keeps for the policy that counts: model, vault and budget as that policy has them.

When the policy changes it is made anew, and the next step of every run takes it: a step sees one
policy from its beginning to its end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import RunnableBinding

from ..guards.decide import Policy
from ..guards.langchain.chats import facts_of
from ..guards.langchain.model import held
from ..guards.vault import Vault
from .budget import budget_for
from .catalog import ToolCatalog
from .remember import Keeper
from .work import Asked, Work

if TYPE_CHECKING:
    from .compile import Parts


@dataclass(frozen=True, slots=True)
class Ruled:
    """A graph's parts under one policy."""

    policy: Policy
    work: Work
    boundary: Callable[[str], str]
    """Of a thread: the code of the marks around tool outputs; empty where the policy wants none."""
    keeper: Keeper | None
    facts: Mapping[str, Any]
    """What telemetry is told of the agent."""

    @classmethod
    def of(cls, policy: Policy, _: Ruled | None, *, parts: Parts, catalog: ToolCatalog) -> Ruled:
        """The parts under this policy; those of the one that counted before do not matter.

        Raises:
            ValueError: the policy bounds what cannot be counted here.
        """
        assert parts.model is not None
        # Whoever listens to a run (token streams, callbacks, tracing) hears what is masked.
        model = held(parts.model, policy.redactor)
        more = _MoreTools(model, catalog)
        budget = budget_for(
            policy,
            parts.model,
            catalog.shown,
            more=catalog.unshown,
            spending=parts.spending,
            clock=parts.clock,
        )
        hides = policy.hides
        work = Work(
            model,
            more(()),
            more,
            runner=None,
            vault=Vault(parts.tickets, policy.redactor.personal, hides) if hides else None,
            budget=budget,
            detectors=policy.results.detectors,
            redactor=policy.redactor,
            facts=facts_of(model),
        )
        agent = {"gen_ai.agent.id": parts.agent_id, "gen_ai.agent.name": parts.agent_name}
        facts = {name: value for name, value in {**agent, **work.facts}.items() if value}
        boundary = parts.tickets.boundary if policy.results.boundary else _no_boundary
        return cls(policy, work, boundary, Keeper.of(parts.remembers, policy, work), facts)


def _no_boundary(thread: str) -> str:
    return ""


class _MoreTools:
    """The model with the tools that it is always shown, and others by name; each set bound once."""

    def __init__(self, model: BaseChatModel, catalog: ToolCatalog) -> None:
        self._model = model
        self._shown = catalog.shown
        self._told = {told["function"]["name"]: told for told in catalog.all_descriptions}
        self._bound: dict[tuple[str, ...], Asked] = {}

    def __call__(self, more: tuple[str, ...]) -> Asked:
        asked = self._bound.get(more)
        if asked is None:
            also = [self._told[name] for name in more if name in self._told]
            if len(self._bound) >= MAX_BOUND:
                self._bound.clear()
            asked = self._bound[more] = _with_tools(self._model, [*self._shown, *also])
        return asked


MAX_BOUND = 128
"""Sets of tools that are kept ready for a model."""


def _with_tools(model: BaseChatModel, descriptions: Sequence[Any]) -> Asked:
    """The model with these tools, and the keyword arguments that make it know them."""
    if not descriptions:
        return model, {}
    bound: Any = model.bind_tools(descriptions)
    if isinstance(bound, RunnableBinding) and not (bound.config or bound.config_factories):
        # What the binding would merge on every call, merged once.
        return bound.bound, bound.kwargs
    return bound, {}
