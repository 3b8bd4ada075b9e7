"""One thread under a policy: moved on step by step, each recorded call decided as it comes.

What a result gives to believe is read from it anew, by this policy; what is counted is what was
counted then. The ledger grows in place, so that a thread costs what its steps cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from ...guards.automata import States
from ...guards.conversation import observed
from ...guards.decide import Policy, decide
from ...guards.ledger import USER, Entry, History, Ledger
from ...guards.patterns import searchable
from ...guards.pieces import beside, kept
from ...guards.rules.sequence import Order, order_of
from ...guards.verdict import Verdict
from ...guards.withheld import with_withheld
from .recorded import Lost, Recorded, Returned, Said, Step, Turn

MAX_OPEN = 10_000
"""Calls without a result that are remembered: what is beyond is taken to have run alone."""


@dataclass(frozen=True, slots=True)
class Decided:
    """A recorded call, and what the policy says of it; without a verdict: why there is none."""

    call: Recorded
    verdict: Verdict | None
    why_not: str = ""


class Thread:
    """What a policy would have known of one thread."""

    def __init__(self, policy: Policy) -> None:
        # The steps are the record: nothing is kept of them a second time.
        self._policy = replace(policy, receipts=None, keeps_history=False)
        self._rule: Order | None = order_of(policy)
        self._order = None if self._rule is None else self._rule.automata.start
        self._ledger = Ledger()
        self._calls: dict[str, int] = {}
        self._sent: tuple[str, ...] = ()
        self._turns: dict[str, tuple[str, ...]] = {}
        self._lost = ""

    def take(self, step: Step) -> Iterator[Decided]:
        """Go one step on; where it is a turn, what is said of its calls."""
        if isinstance(step, Said):
            self._said(step)
        elif isinstance(step, Returned):
            self._returned(step)
        elif isinstance(step, Lost):
            self._lost = self._lost or step.why
        else:
            if not step.again:
                yield from self._decided(step)
            self._move_on(step.calls)

    def _said(self, step: Said) -> None:
        entry = self._ledger.observed(step.text, source=USER)
        if entry:
            self._ledger.grow(entry)
        self._calls = {}
        if self._rule is not None and self._order is not None:
            self._order = self._rule.automata.spoke(self._order)

    def _returned(self, step: Returned) -> None:
        call = step.call
        entry = self._observed(step)
        if entry:
            self._ledger.grow(entry)
        turn = self._turns.pop(call.id, (call.name,))
        if not step.failed and self._rule is not None and self._order is not None:
            # What the turn's other calls shut stays shut: they may have run in any order.
            self._order = self._rule.automata.advance(self._order, through=turn, done=[call.name])

    def _observed(self, step: Returned) -> Entry | None:
        call, caller = step.call, step.caller
        if step.raw:
            text = self._policy.redactor.secrets(searchable(step.text))[0]
            return observed(self._policy, call, text, failed=step.failed, caller=caller)
        return self._policy.observed(
            call,
            step.text,
            source=f"tool {call.name}",
            caller=caller,
            failed=step.failed,
            withheld=step.withheld,
        )

    def _move_on(self, calls: Sequence[Recorded]) -> None:
        """Count the calls of a turn that were let through."""
        ran = [recorded.call for recorded in calls if recorded.old is None or recorded.old.ran]
        names = tuple(call.name for call in ran)
        for call in ran:
            self._calls[call.name] = self._calls.get(call.name, 0) + 1
            self._turns[call.id] = names
        while len(self._turns) > MAX_OPEN:
            del self._turns[next(iter(self._turns))]
        if any(recorded.known is None for recorded in calls):
            self._sent = kept(self._sent, [call.arguments for call in ran])
        if self._rule is not None and self._order is not None:
            self._order = self._rule.automata.advance(self._order, through=names)

    def _decided(self, turn: Turn) -> list[Decided]:
        """The calls of a turn as the guard decides them: first each, then beside the others."""
        pieces = beside([recorded.call.arguments for recorded in turn.calls])
        counts = dict(self._calls)
        decided, pasts = list[Decided](), list[History]()
        for recorded, others in zip(turn.calls, pieces, strict=True):
            past = self._past(recorded, counts, others, turn.tokens or 0)
            pasts.append(past)
            why_not = self._lost or recorded.why_not
            verdict = None
            if not why_not:
                verdict = decide(self._policy, recorded.call, past)
                verdict = with_withheld(self._policy, recorded.call, verdict, recorded.secrets)
            decided.append(Decided(recorded, verdict, why_not))
            if recorded.old is None or recorded.old.word != "block":
                name = recorded.call.name
                counts[name] = counts.get(name, 0) + 1
        if self._rule is not None and len(decided) > 1:
            decided = self._beside(self._rule, decided, pasts)
        return decided

    def _past(
        self, recorded: Recorded, counts: dict[str, int], others: tuple[str, ...], tokens: int
    ) -> History:
        known, order = recorded.known, self._order
        if known is None:
            return History(
                ledger=self._ledger,
                thread=recorded.thread,
                calls=dict(counts),
                tokens_used=tokens,
                caller=recorded.caller,
                sent=(*self._sent, *others),
                order=order,
            )
        if self._rule is not None and known.order is not None:
            key, states = known.order
            automata = self._rule.automata
            if key == automata.key and len(states) == len(automata.gates):
                order = states
        self._ledger.gap = known.gap
        return History(
            ledger=self._ledger,
            thread=recorded.thread,
            calls=known.calls,
            tokens_used=known.tokens,
            caller=recorded.caller,
            sent=known.sent,
            order=order,
            granted=known.granted,
            used=known.used,
        )

    def _beside(
        self, rule: Order, decided: list[Decided], pasts: Sequence[History]
    ) -> list[Decided]:
        """The calls, each with what the others that may run mean to it."""
        through = [
            number
            for number, d in enumerate(decided)
            if d.verdict is not None and (d.verdict.word != "block" or _answered(d.call))
        ]
        names = [decided[number].call.call.name for number in through]
        stand: dict[States, list[States]] = {}
        made = list(decided)
        for place, number in enumerate(through):
            verdict, before = decided[number].verdict, pasts[number].order
            assert verdict is not None
            assert before is not None
            if before not in stand:
                stand[before] = rule.automata.beside(before, names)
            met = rule.met(names[place], stand[before][place])
            new = (finding for finding in met if finding not in verdict.would_be.findings)
            verdict = reduce(self._policy.objected, new, verdict)
            made[number] = replace(decided[number], verdict=verdict)
        return made


def _answered(recorded: Recorded) -> bool:
    """Whether a person said something to it: then it went beside the others as a question."""
    return recorded.old is not None and recorded.old.approval is not None
