"""What one exchange uses, as far as it is told, beside what its conversation has used before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..conversation import Conversations, Past
from ..ledger import History
from ..limits import Amounts, Limits, Spending, added
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
            used["caller"] = added(used["caller"], new)
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
            counter.spending.settle(self.who, {}, more)

    def _so_far(self, usage: Usage | None = None) -> dict[str, float]:
        read = self.past.chars // CHARS_PER_TOKEN
        found = usage or Usage(read, self.written // CHARS_PER_TOKEN)
        seconds = max(self.counter.clock() - self.began, 0.0)
        return {**found.amounts(self.counter.limits), "seconds": seconds}
