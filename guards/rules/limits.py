"""What a run, a thread and a caller may use, and when a run that goes in circles ends (version 2).

Threat: a loop, or an injected task, burns money and time without end. Amounts at the top are per
thread; `run` and `caller` have their own. Near a limit (`near`, of 1) the agent is told once; at it
no model is called and no tool runs any more, and the run ends with what it has. `prices` are US
dollars for a million tokens, for models by name or glob. `repeats`: how often the same call may
have the same result with nothing new in between, by tool where waiting for one is honest.

    limits:
      tokens: 20000
      cost_usd: 0.50
      calls: 40
      seconds: 300
      run: {calls: 10, seconds: 60}
      caller: {cost_usd: 5}
      near: 0.8
      prices: {"gpt-4o-mini*": {input: 0.15, output: 0.60, cached: 0.075}}
      repeats: {default: 5, get_status: 100}
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Discriminator, Tag, model_validator
from pydantic import Field as Bounds
from typing_extensions import Self

from ..ledger import History
from ..limits import AMOUNTS, DEFAULT_REPEATS, SCOPES, Limit, Limits, Price, Repeats, Used
from ..normalise import Examined
from ..shadow import Shadow
from ..verdict import Finding
from . import Check, Context, Name, Where

if TYPE_CHECKING:
    from ..decide import Policy

KEY = "limits"

UNCOUNTABLE = "cannot be counted here"

Times = Annotated[int, Bounds(ge=2)]


class Bound(BaseModel):
    """The amounts of one scope."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tokens: Annotated[int, Bounds(ge=1)] | None = None
    """Read and written, of every model call."""
    cost_usd: Annotated[float, Bounds(gt=0)] | None = None
    calls: Annotated[int, Bounds(ge=1)] | None = None
    """Of tools: those that were let through."""
    seconds: Annotated[float, Bounds(gt=0)] | None = None
    """In model calls and tools, added up; waiting for a person does not count."""


class PriceEntry(BaseModel):
    """US dollars for a million tokens."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: Annotated[float, Bounds(ge=0)]
    output: Annotated[float, Bounds(ge=0)]
    cached: Annotated[float, Bounds(ge=0)] | None = None


def _form(value: object) -> str:
    return "By tool" if isinstance(value, dict) else "For all"


class LimitsEntry(Bound):
    """The whole entry; the amounts at its top are those of a thread."""

    run: Bound | None = None
    thread: Bound | None = None
    caller: Bound | None = None
    near: Annotated[float, Bounds(gt=0, le=1)] = 0.8
    prices: dict[Name, PriceEntry] = {}
    repeats: Annotated[
        Annotated[Times, Tag("For all")] | Annotated[dict[Name, Times], Tag("By tool")],
        Discriminator(_form),
    ] = DEFAULT_REPEATS

    @model_validator(mode="after")
    def _fits(self) -> Self:
        doubled = [
            name
            for name in AMOUNTS
            if self.thread is not None and None not in (getattr(self, name), self._of(name))
        ]
        if doubled:
            raise ValueError(f"says {doubled[0]} of a thread twice: at the top and in `thread`")
        costly = [scope for scope, name, _ in self.bounds() if name == "cost_usd"]
        if costly and not self.prices:
            raise ValueError("cost_usd needs `prices`: what the models cost")
        return self

    def _of(self, name: str) -> float | None:
        found: float | None = getattr(self.thread, name)
        return found

    def bounds(self) -> Iterator[tuple[str, str, tuple[str, ...]]]:
        """Scope and amount of every bound, and where it stands."""
        for name in AMOUNTS:
            if getattr(self, name) is not None:
                yield "thread", name, (name,)
            for scope in SCOPES:
                bound = getattr(self, scope)
                if bound is not None and getattr(bound, name) is not None:
                    yield scope, name, (scope, name)


Field = LimitsEntry
DEFAULT = LimitsEntry()


@dataclass(frozen=True, slots=True)
class Bounded:
    """Blocks every call once a limit is used up."""

    limits: Limits
    rule: str = KEY

    @property
    def parts(self) -> list[str]:
        """Each limit by scope and amount."""
        return [_name(limit) for limit in self.limits.limits]

    def enforced(self, shadow: Shadow) -> Bounded | None:
        """Without the limits in shadow."""
        return Bounded(replace(self.limits, limits=self.limits.held)) if self.limits.held else None

    def __call__(self, call: Examined, history: History) -> Iterable[Finding]:
        used = _kept(history) if history.used is None else history.used
        return [_finding(lim, used) for lim in self.limits.limits if _is_up(lim, used)]


def _kept(history: History) -> Used:
    """What a door that counts only tokens and calls knows of what was used."""
    known = {"tokens": history.tokens_used, "calls": sum(history.calls.values())}
    unknown = {"cost_usd": float("inf"), "seconds": float("inf")}
    return {scope: {**known, **unknown} for scope in SCOPES}


def _is_up(limit: Limit, used: Used) -> bool:
    return limit.spent(used) >= limit.most


def _finding(limit: Limit, used: Used) -> Finding:
    if limit.spent(used) == float("inf"):
        reason = f"the {limit.scope}'s limit of {limit.amount} {UNCOUNTABLE}"
    else:
        reason = f"a limit is reached: {limit.told(used)}"
    return Finding(_name(limit), "block", reason, limit.place, allowed=limit.allowed)


def _name(limit: Limit) -> str:
    return f"{KEY}.{limit.scope}.{limit.amount}"


def limits_of(policy: Policy) -> Limits | None:
    """The limits of a policy; None where it has none."""
    return next((check.limits for check in policy.checks if isinstance(check, Bounded)), None)


def build(value: LimitsEntry, where: Where, context: Context) -> Check | None:
    """The check; None where the file has no `limits`.

    Raises:
        ValueError: in a version 1 file.
    """
    if KEY not in context.given:
        return None
    if context.version < 2:
        raise ValueError("`limits` needs `version: 2`")
    shadow = context.shadow
    bounds = [
        Limit(scope, name, _most(value, path), where(*path), shadow.holds(f"{KEY}.{scope}.{name}"))
        for scope, name, path in value.bounds()
    ]
    prices = {
        str(name): Price(price.input, price.output, price.cached)
        for name, price in value.prices.items()
    }
    # What goes in circles ends as it does without the key where that is in shadow.
    repeats = Repeats() if shadow.holds(KEY) else _repeats(value)
    return Bounded(Limits(tuple(bounds), value.near, prices, repeats))


def _most(value: LimitsEntry, path: tuple[str, ...]) -> float:
    found: object = value
    for name in path:
        found = getattr(found, name)
    assert isinstance(found, int | float)
    return found


def _repeats(value: LimitsEntry) -> Repeats:
    if isinstance(value.repeats, int):
        return Repeats(value.repeats)
    named = {str(name): most for name, most in value.repeats.items()}
    return Repeats(named.pop("default", DEFAULT_REPEATS), named.items())
