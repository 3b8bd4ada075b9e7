"""What one exchange uses, as far as it is told, beside what its conversation has used before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ..conversation import Conversations, Past
from ..ledger import History
from ..limits import ASSUMED_OUTPUT_TOKENS, Amounts, Limits, Spending, added
from ..spent import CHARS_PER_TOKEN, Usage


@dataclass(frozen=True, slots=True)
class Counter:
    """What a client counts with: `limits` of its policy, the clock, what callers use."""

    limits: Limits | None
    spending: Spending
    clock: Callable[[], float]
    conversations: Conversations


@dataclass(slots=True)
class Tally:
    """One exchange of a caller (`who`), which began when the clock said so."""

    counter: Counter
    past: Past
    who: str
    began: float
    written: int = 0
    """Characters that the model has written so far."""
    told: Amounts | None = None
    reserved: Amounts = field(default_factory=dict)
    """What of the caller's is set aside for the model call, until it is told what that used."""

    def __del__(self) -> None:
        # A request that failed was never told of.
        self._release({})

    def history(self, calls: int) -> tuple[History, Amounts]:
        """What so many calls are judged by, and what of the caller's is set aside for them."""
        counter, history = self.counter, self.past.history
        if counter.limits is None or history.used is None:
            return history, {}
        used, got = counter.limits.set_aside(counter.spending, self.who, history.used, calls)
        new = self._so_far() if self.told is None else self.told
        for scope in ("run", "thread"):
            used[scope] = added(used[scope], new)
        if self.told is None:  # what was told is counted there already
            mine = {name: -amount for name, amount in self.reserved.items()}
            used["caller"] = added(added(used["caller"], mine), new)
        return history.but(used=used), got

    def let_through(self, calls: int, set_aside: Amounts) -> None:
        """Count calls of the caller's."""
        if self.counter.limits is not None:
            self.counter.spending.settle(self.who, set_aside, {"calls": calls})

    def add(self, usage: Usage | None) -> None:
        """Count what the model call used; None: an estimate. Told twice, the greater counts."""
        counter, known, more = self.counter, self.told or {}, self._so_far(usage)
        if known:
            more = {name: max(amount - known.get(name, 0), 0.0) for name, amount in more.items()}
        self.told = added(known, more)
        counter.conversations.spend(self.past, self.told, ended=counter.clock())
        if counter.limits is not None:
            self._release(more)

    def _release(self, used: Amounts) -> None:
        reserved, self.reserved = self.reserved, {}
        if reserved or used:
            self.counter.spending.settle(self.who, reserved, used)

    def _so_far(self, usage: Usage | None = None) -> dict[str, float]:
        read = self.past.chars // CHARS_PER_TOKEN
        found = usage or Usage(read, self.written // CHARS_PER_TOKEN)
        seconds = max(self.counter.clock() - self.began, 0.0)
        return {**found.amounts(self.counter.limits), "seconds": seconds}


def asked_amounts(past: Past, limits: Limits) -> tuple[Amounts, Amounts]:
    """What a model call that goes on from there takes at least, and may take."""
    read = Usage(past.chars // CHARS_PER_TOKEN)
    return read.amounts(limits), replace(read, written=ASSUMED_OUTPUT_TOKENS).amounts(limits)
