"""What a policy's limits mean to one graph: the bounds, the model's price, who counts."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.language_models import BaseChatModel

from ..guards.decide import Policy
from ..guards.limits import ASSUMED_OUTPUT_TOKENS, Limits, Price, Spending
from ..guards.rules.limits import limits_of
from ..guards.rules.token_budget_per_session import TokenBudget
from ..profiles.fallback import FallbackModel, name_of
from .subcalls import Turns

FREE = Price(0.0, 0.0)

Clock = Callable[[], float]
"""The time in seconds; it may be set back while a call is under way."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What the nodes of one graph share: the limits, the counter of callers, the model's price."""

    limits: Limits
    spending: Spending
    model: str = ""
    """The model's name, as prices name it."""
    price: Price = FREE
    output_tokens: int = ASSUMED_OUTPUT_TOKENS
    can_be_cut: bool = False
    """Whether the model can be told how much to write at most."""
    tool_tokens: int = 0
    """What the descriptions of the tools take in each request."""
    more_tokens: Mapping[str, int] = field(default_factory=dict)
    """What a tool's description takes, for those that are shown only at times."""
    clock: Clock = time.time
    turns: Turns = field(default_factory=Turns)
    """What tools that run side by side take."""

    def of_model(self, model: BaseChatModel, policy: Policy) -> Budget:
        """The same for another model, which is shown no tools.

        Raises:
            ValueError: money is bounded, and the policy does not say what this model costs.
        """
        other = budget_for(policy, model, (), spending=self.spending, clock=self.clock)
        assert other is not None  # it bounds something
        return other


def budget_for(
    policy: Policy,
    model: BaseChatModel,
    tools: Sequence[Any],
    *,
    more: Sequence[Mapping[str, Any]] = (),
    spending: Spending | None = None,
    clock: Clock = time.time,
) -> Budget | None:
    """The budget of a graph; None where its policy bounds nothing. `tools` are always shown to the
    model, `more` at times.

    Raises:
        ValueError: money is bounded, and the policy does not say what this model costs.
    """
    limits = limits_of(policy)
    if limits is None and not any(isinstance(check, TokenBudget) for check in policy.checks):
        return None
    limits = limits or Limits()
    name = name_of(model)
    names = [name]
    if isinstance(model, FallbackModel):
        names.append(name_of(model.second))
    price = _dearest([_price(one, limits, policy) for one in names])
    most = getattr(model, "max_tokens", None)
    known = isinstance(most, int) and most > 0
    return Budget(
        limits=limits,
        spending=spending or Spending(),
        model=name,
        price=price,
        output_tokens=most if isinstance(most, int) and known else ASSUMED_OUTPUT_TOKENS,
        can_be_cut="max_tokens" in type(model).model_fields,
        tool_tokens=sum(len(str(tool)) for tool in tools) // 4,
        more_tokens={tool["function"]["name"]: len(str(tool)) // 4 for tool in more},
        clock=clock,
    )


def _price(name: str, limits: Limits, policy: Policy) -> Price:
    price = limits.price(name)
    if price is None and any(limit.amount == "cost_usd" for limit in limits.limits):
        wrong = (
            f"limits.prices of policy {policy.name!r} does not say what the model {name!r} costs"
        )
        raise ValueError(f"{wrong}; add it, or a glob that names it")
    return price or FREE


def _dearest(prices: Sequence[Price]) -> Price:
    """What a call costs at most, whichever of the models answers it."""
    return Price(max(p.input for p in prices), max(p.output for p in prices))
