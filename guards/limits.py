"""Limits on what a run, a thread or a caller may use: pure arithmetic, and one shared counter.

Four amounts are counted: `tokens` and `cost_usd` of model calls, `calls` of tools, and the
`seconds` that both took. What was used is plain data, so that a state or a door can keep it:

    used = {"run": {}, "thread": {}, "caller": {}}
    used["thread"] = added(used["thread"], {"tokens": 120, "calls": 1})
    limits.exceeded(used)                          # the first limit that is used up, or None
    decide(policy, call, History(used=used))       # blocks the calls that come after

`Spending` counts what the callers of one process use, runs side by side included: it reserves
before a call and gives back the difference after it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from ..arguments import refusal, require
from .automata import OwnNames
from .caller import Caller
from .names import glob_pattern

AMOUNTS = ("tokens", "cost_usd", "calls", "seconds")
SCOPES = ("run", "thread", "caller")

STOPS: Mapping[str, str] = {
    "tokens": "token_limit",
    "cost_usd": "cost_limit",
    "calls": "call_limit",
    "seconds": "time_limit",
}
"""Why a run stopped, by the amount that is used up."""

LOOP = "loop"
"""Why a run stopped in which nothing new happened any more."""

ENDS = frozenset({*STOPS.values(), LOOP})
"""Reasons after which a run does nothing more."""

DEFAULT_REPEATS = 5

ASSUMED_OUTPUT_TOKENS = 1_000
"""What a model is expected to write where nothing bounds it."""

Amounts = Mapping[str, float]
"""Amount -> how much of it; what is missing is 0."""

Used = Mapping[str, Amounts]
"""Scope -> what it has used."""


def added(used: Amounts, more: Amounts) -> dict[str, float]:
    """The sum of two amounts."""
    if not used or not more:
        return dict(used or more)
    names = {*used, *more}
    return {name: used.get(name, 0) + more.get(name, 0) for name in AMOUNTS if name in names}


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens."""

    input: float
    output: float
    cached: float | None = None
    """Input that the provider had in its cache; None: as other input."""

    def of(self, read: int, written: int, cached: int = 0) -> float:
        """The cost of a call in US dollars; `cached` tokens are among those `read`."""
        cheap = self.input if self.cached is None else self.cached
        fresh = max(read - cached, 0)
        return (fresh * self.input + cached * cheap + written * self.output) / 1e6


@dataclass(frozen=True, slots=True)
class Limit:
    """One bound. `place` is `file:line`."""

    scope: str
    amount: str
    most: float
    place: str = ""
    shadow: bool = False
    """Whether it is counted and stops nothing."""

    @property
    def stop(self) -> str:
        """Why a run stops that reaches it."""
        return STOPS[self.amount]

    def spent(self, used: Used) -> float:
        """How much of it is used."""
        return used.get(self.scope, {}).get(self.amount, 0)

    def told(self, used: Used) -> str:
        """How it stands, for people and models."""
        spent, most = _shown(self.amount, self.spent(used)), _shown(self.amount, self.most)
        return f"{spent} of {most} {_UNITS[self.amount]} of this {self.scope} are used"

    @property
    def allowed(self) -> str:
        """What it lets through, for people."""
        most = f"{_shown(self.amount, self.most)} {_UNITS[self.amount]}"
        return f"calls of a {self.scope} that has used less than {most}"


_UNITS = {"tokens": "tokens", "cost_usd": "US dollars", "calls": "tool calls", "seconds": "seconds"}


def _shown(amount: str, number: float) -> str:
    return (
        f"{number:.4f}"
        if amount == "cost_usd"
        else f"{number:.10g}"
        if number < 1
        else str(int(number))
    )


@dataclass(frozen=True, slots=True)
class Limits:
    """What `limits` of a policy says."""

    limits: tuple[Limit, ...] = ()
    near: float = 0.8
    prices: Mapping[str, Price] = field(default_factory=dict)
    repeats: Repeats = field(default_factory=lambda: Repeats())
    held: tuple[Limit, ...] = field(init=False)
    """Those that are not in shadow: only they stop anything."""

    def __post_init__(self) -> None:
        held = tuple(limit for limit in self.limits if not limit.shadow)
        object.__setattr__(self, "held", held)

    def exceeded(self, used: Used) -> Limit | None:
        """The first limit that is used up; None where something is left of each."""
        return next((limit for limit in self.held if limit.spent(used) >= limit.most), None)

    def close(self, used: Used, more: Amounts) -> Iterator[Limit]:
        """The limits that are nearly used up: `near` of them is, once `more` is added, or what is
        left then has no room for as much again."""
        for limit in self.held:
            cost = more.get(limit.amount, 0)
            spent = limit.spent(used) + cost
            if spent >= self.near * limit.most or spent + cost > limit.most:
                yield limit

    def beyond(self, used: Used, more: Amounts) -> Limit | None:
        """The first limit that has no room for a model call that takes `more`. Calls of tools are
        none: a model may still answer when they are used up."""
        for limit in self.held:
            spent = limit.spent(used)
            if limit.amount != "calls" and (
                spent >= limit.most or spent + more.get(limit.amount, 0) > limit.most
            ):
                return limit
        return None

    def left(self, used: Used, amount: str) -> float | None:
        """What is left of an amount in every scope; None where nothing bounds it."""
        rest = [lim.most - lim.spent(used) for lim in self.held if lim.amount == amount]
        return max(min(rest), 0) if rest else None

    def of(self, scope: str) -> dict[str, float]:
        """The bounds of one scope."""
        return {limit.amount: limit.most for limit in self.held if limit.scope == scope}

    def set_aside(
        self, spending: Spending, who: str, used: Used, calls: int
    ) -> tuple[dict[str, dict[str, float]], dict[str, float]]:
        """What was used, for a judge of so many calls, and what of the caller's is set aside for
        them; it has to be settled. Of the caller's calls only those are free: other runs may be
        taking theirs."""
        mine = {**used, "caller": spending.of(who)}
        most, got = self.of("caller").get("calls"), None
        if most is not None and calls:
            got = spending.reserve(who, {}, wish={"calls": float(calls)}, most={"calls": most})
            free = (got or {}).get("calls", 0)
            mine["caller"] = {**mine["caller"], "calls": most - free}
        return {scope: dict(amounts) for scope, amounts in mine.items()}, got or {}

    def set_aside_tokens(
        self, spending: Spending, who: str, need: Amounts, wish: Amounts
    ) -> dict[str, float] | None:
        """What of the caller's is set aside for a model call: all that it reads, and of what it may
        take what is left; it has to be settled. None where it does not fit beside the others."""
        most = {name: top for name, top in self.of("caller").items() if name in wish}
        return spending.reserve(who, need, wish=wish, most=most)

    def full(self, used: Used) -> Limit:
        """The limit of the caller's that has no room for a model call, others being under way."""
        mine = [lim for lim in self.held if lim.scope == "caller" and lim.amount != "calls"]
        return max(mine, key=lambda limit: limit.spent(used) / limit.most if limit.most else 1.0)

    def price(self, model: str) -> Price | None:
        """The price of a model: by its name, or by the longest glob that names it."""
        exact = self.prices.get(model)
        globs = [n for n in self.prices if "*" in n or "?" in n]
        fits = [n for n in globs if glob_pattern(n).fullmatch(model)]
        return exact or (self.prices[max(fits, key=lambda n: (len(n), n))] if fits else None)

    @property
    def dearest(self) -> Price:
        """What a model of unknown price is taken to cost."""
        prices = self.prices.values()
        return Price(
            max((p.input for p in prices), default=0.0),
            max((p.output for p in prices), default=0.0),
        )


class Repeats:
    """How often the same call may have the same result, with nothing new in between."""

    __slots__ = ("_default", "_named")

    def __init__(
        self, default: int = DEFAULT_REPEATS, named: Iterable[tuple[str, int]] = ()
    ) -> None:
        self._default = default
        # An exact name wins over a glob, a longer glob over a shorter.
        order = sorted(named, key=lambda n: ("*" in n[0] or "?" in n[0], -len(n[0])))
        self._named = [(OwnNames([name]), most) for name, most in order]

    def most(self, tool: str) -> int:
        """The bound for a tool."""
        return next((most for names, most in self._named if names.holds(tool)), self._default)


def spender(caller: Caller) -> str:
    """Under which name a caller's amounts are counted; empty for nobody. A stroke within a name is
    written otherwise: `b/c` of tenant `a` is not `c` of tenant `a/b`."""
    user, tenant = (n.replace("%", "%25").replace("/", "%2F") for n in (caller.user, caller.tenant))
    return f"{tenant}/{user}" if tenant else user


def spending_of(given: Spending | None) -> Spending:
    """What counts for a door: what it was given, else a count of its own.

    Raises:
        TypeError: what was given is no `Spending`.
    """
    require("spending", given, Spending | None, "a Spending or None")
    return Spending() if given is None else given


class Spending:
    """What callers have used, all runs of this process together. May be shared by threads.

    One belongs to each graph; give one to several (`build_graph(spending=…)`) and they count
    together. It holds numbers only, and is gone with the process: a program that wants more keeps
    `used` and hands it to the next one.
    """

    def __init__(self, used: Mapping[str, Amounts] | None = None) -> None:
        """Begin with what callers have `used`, as another one's `used` says it.

        Raises:
            TypeError: it is no such mapping. ValueError: an amount is none of `AMOUNTS`, or less
                than nothing.
        """
        wanted = "a mapping of callers to what each has used, as {'ann': {'tokens': 200}}"
        require("used", used, Mapping | None, wanted)
        for caller, amounts in (used or {}).items():
            require("a caller of used", caller, str, "a text")
            require(f"used[{caller!r}]", amounts, Mapping, "a mapping of names to amounts")
            for name, amount in amounts.items():
                if name not in AMOUNTS:
                    allowed = ", ".join(AMOUNTS)
                    raise ValueError(
                        f"used[{caller!r}]: no amount is called {name!r}; allowed: {allowed}"
                    )
                if isinstance(amount, bool) or not isinstance(amount, int | float):
                    raise refusal(f"used[{caller!r}][{name!r}]", amount, "a number")
                if not amount >= 0:
                    raise ValueError(
                        f"used[{caller!r}][{name!r}]: is no amount; allowed: 0 or more"
                    )
        self._used = {caller: dict(amounts) for caller, amounts in (used or {}).items()}
        self._reserved: dict[str, dict[str, float]] = {}
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[type[Spending], tuple[dict[str, dict[str, float]]]]:
        return Spending, (self.used,)

    @property
    def used(self) -> dict[str, dict[str, float]]:
        """What each caller has used, without what is reserved."""
        with self._lock:
            return {caller: dict(amounts) for caller, amounts in self._used.items()}

    def of(self, caller: str) -> dict[str, float]:
        """What one caller has used and reserved."""
        with self._lock:
            return self._of(caller)

    def reserve(
        self, caller: str, need: Amounts, *, wish: Amounts, most: Amounts
    ) -> dict[str, float] | None:
        """Set aside what a call may use: all of `need`, and of `wish` what is left.

        None where `need` does not fit below `most` any more. What is given must be settled.
        """
        with self._lock:
            taken = self._of(caller)
            for name, bound in most.items():
                spent = taken.get(name, 0)
                if spent >= bound or spent + need.get(name, 0) > bound:
                    return None
            got = {
                name: min(amount, most[name] - taken.get(name, 0)) if name in most else amount
                for name, amount in wish.items()
            }
            self._reserved[caller] = added(self._reserved.get(caller, {}), got)
            return got

    def settle(self, caller: str, reserved: Amounts, used: Amounts) -> None:
        """Give back a reservation, and count what was used in its place."""
        with self._lock:
            back = {name: -amount for name, amount in reserved.items()}
            rest = added(self._reserved.get(caller, {}), back)
            if any(amount > 1e-12 for amount in rest.values()):
                self._reserved[caller] = rest
            else:
                self._reserved.pop(caller, None)
            if any(used.values()):
                self._used[caller] = added(self._used.get(caller, {}), used)

    def forget(self, caller: str | None = None) -> None:
        """Count from nothing again: for one caller, or for all. For a day's or a month's limit."""
        with self._lock:
            if caller is None:
                self._used.clear()
            else:
                self._used.pop(caller, None)

    def _of(self, caller: str) -> dict[str, float]:
        return added(self._used.get(caller, {}), self._reserved.get(caller, {}))
