"""One session of calls: what a door that is told of things as they happen knows of the past.

Counted are the calls that were let through since the user last spoke, by tool, and what model calls
used, as far as it is told; kept is the ledger of what the user said and what the tools gave back,
as far as it was reported. A tool whose output is `private` and was not reported leaves a gap: until
it is, no text counts as free of private data.

The seconds of a run are those from the user's word to the last thing that was told of. A limit on
tokens or money blocks until something was told of them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from ..arguments import refusal, require
from .caller import NOBODY, Caller
from .conversation import observed
from .decide import Policy, decide
from .following import Following, Source, going_on
from .ledger import USER, Entry, History
from .limits import Amounts, Spending, spender, spending_of
from .names import shown_name
from .outputs import speaks_of
from .patterns import searchable
from .pieces import kept
from .python_values import json_value
from .receipts.keeping import Decision
from .receipts.keeping import kept as kept_receipts
from .receipts.receipt import Place
from .rules.limits import limits_of
from .rules.sequence import order_of
from .rules.tools import MAX_NAMES
from .spent import UNCOUNTED, Spent, Usage
from .verdict import ToolCall, Verdict, canonical_json


class _Rules:
    """What a session asks of its policy all the time."""

    __slots__ = ("automata", "limits", "policy", "private", "private_tools")

    def __init__(self, policy: Policy) -> None:
        order = order_of(policy)
        self.policy = policy
        self.limits = limits_of(policy)
        self.automata = None if order is None else order.automata
        self.private = [check for check in policy.checks if hasattr(check, "pieces")]
        self.private_tools: dict[str, bool] = {}

    def are_private(self, tool: str) -> bool:
        """Whether what a tool gives back is private; the same few names come up again and again."""
        known = self.private_tools.get(tool)
        if known is None:
            globs = (getattr(check, "tools", None) for check in self.private)
            known = any(of is None or speaks_of(of, tool) for of in globs)
            if len(self.private_tools) < MAX_NAMES:
                self.private_tools[tool] = known
        return known


class Session:
    """The past of one session under one policy. May be shared by threads.

    When the policy changes the session goes on (see `going_on`).
    """

    def __init__(
        self,
        policy: Source,
        *,
        thread: str = "",
        caller: Caller = NOBODY,
        spending: Spending | None = None,
        clock: Callable[[], float] = time.monotonic,
        door: str = "firewall",
        check: Callable[[Policy], object] = Policy.in_plain_sight,
    ) -> None:
        """`check` raises ValueError for a policy that cannot be held to here.

        Raises:
            TypeError: an argument is of no type that it may have.
        """
        require("caller", caller, Caller, "a Caller")
        if not callable(clock):
            raise refusal("clock", clock, "a function that gives seconds")
        self._check = check
        self._following = Following(policy, self._rules_of)
        self._rules = self._following.current
        self._place = Place(door)
        self._spending = spending_of(spending)
        self._clock = clock
        self._last: float | None = None
        self._spent = Spent()
        self._told = False
        self._ran = 0
        automata = self._rules.automata
        order = None if automata is None else automata.start
        self._history = History(thread=thread, caller=caller, order=order)
        self._missing: dict[str, int] = {}
        self._lock = threading.RLock()

    def _rules_of(self, policy: Policy, before: _Rules | None) -> _Rules:
        self._check(policy)
        return _Rules(policy)

    @property
    def policy(self) -> Policy:
        """The policy that counts now."""
        return self._following.current.policy

    def _now(self) -> _Rules:
        """The rules for what comes next, under the lock; the past as they may see it."""
        rules, before = self._following.current, self._rules
        if rules is not before:
            self._rules = rules
            self._history = going_on(self._history, before.policy, rules.policy)
        return rules

    @property
    def history(self) -> History:
        """What the next decision knows of the past."""
        with self._lock:
            return self._known(self._now())

    def _known(self, rules: _Rules) -> History:
        history = self._history
        if rules.limits is not None:
            self._pass_time()
            history = history.but(used=self._used())
        missing = self._missing and [n for n, count in self._missing.items() if count > 0]
        if not missing:
            return history
        names = ", ".join(map(shown_name, missing[:3]))
        ledger = history.ledger.with_gap(f"what {names} gave back was not reported")
        return history.but(ledger=ledger)

    def decide(self, call: ToolCall) -> Verdict:
        """The verdict on a call; one that may run is counted."""
        with self._lock:  # two threads must not both take the last of what is counted
            rules = self._now()
            history, set_aside = self._known(rules), dict[str, float]()
            if rules.limits is not None and history.used is not None:
                who = spender(history.caller)
                used, set_aside = rules.limits.set_aside(self._spending, who, history.used, 1)
                history = history.but(used=self._as_told(used))
            verdict = decide(rules.policy, call, history)
            unkept = kept_receipts(rules.policy, self._place, [Decision(call, verdict, history)])
            verdict = verdict.with_finding(unkept)
            runs = verdict.word in ("allow", "redact")
            self._spend({"calls": int(runs)}, set_aside)
            if runs:
                self._let_through(rules, call, verdict)
        return verdict

    def _let_through(self, rules: _Rules, call: ToolCall, verdict: Verdict) -> None:
        history, automata = self._history, rules.automata
        runs = call.arguments
        if verdict.word == "redact":
            runs = next((f.masked for f in verdict.findings if f.masked is not None), runs)
        sent = kept(history.sent, [runs])
        history = history.but(calls=self._counted(call.name, 1), sent=sent)
        if automata is not None and history.order is not None:
            history = history.but(order=automata.advance(history.order, through=[call.name]))
        self._history = history
        if rules.are_private(call.name):
            self._missing[call.name] = self._missing.get(call.name, 0) + 1

    def take_back(self, name: str) -> None:
        """Count one call less: one that was let through will be decided again before it runs."""
        with self._lock:
            self._now()
            self._history = self._history.but(calls=self._counted(name, -1))
            self._spend({"calls": -1}, {})
            self._reported(name)

    def said(self, text: str) -> None:
        """The user wrote something: it counts as stated, and a new run begins."""
        with self._lock:
            automata = self._now().automata
            self._last = self._clock()
            self._spent = Spent({}, self._spent.thread)
            order = self._history.order
            if automata is not None and order is not None:
                order = automata.spoke(order)
            self._keep(self._history.ledger.observed(text, source=USER))
            self._history = self._history.but(calls={}, order=order)

    def observe(self, call: ToolCall, result: object, *, failed: bool = False) -> None:
        """What a call gave back: a text, or a value that is read as JSON."""
        with self._lock:
            rules = self._now()
            self._pass_time()
            history = self._history
            text = rules.policy.redactor.secrets(searchable(_text_of(result)))[0]
            self._keep(observed(rules.policy, call, text, failed=failed, caller=history.caller))
            self._reported(call.name)
            if rules.automata is not None and history.order is not None and not failed:
                name = [call.name]
                order = rules.automata.advance(history.order, through=name, done=name)
                self._history = self._history.but(order=order)

    def add_usage(self, usage: Usage) -> None:
        """Count what one of the session's model calls has used."""
        with self._lock:
            rules = self._now()
            self._told = True
            self._pass_time()
            amounts = usage.amounts(rules.limits)
            self._spend(amounts, {})
            total = self._history.tokens_used + int(amounts["tokens"])
            self._history = self._history.but(tokens_used=total)

    def _used(self) -> dict[str, dict[str, float]]:
        calls = sum(self._history.calls.values())
        used = self._spent.used(run=calls, thread=self._ran)
        used["caller"] = self._spending.of(spender(self._history.caller))
        return self._as_told(used)

    def _as_told(self, used: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
        """What was used; what nobody has told of cannot be held to a limit."""
        if self._told:
            return used
        return {
            scope: {**a, "tokens": UNCOUNTED, "cost_usd": UNCOUNTED} for scope, a in used.items()
        }

    def _pass_time(self) -> None:
        """Count the time since something last happened in this run."""
        now, last = self._clock(), self._last
        self._last = now
        if last is not None and now > last:
            self._spend({"seconds": now - last}, {})

    def _spend(self, amounts: Amounts, set_aside: Amounts) -> None:
        if self._rules.limits is not None:
            calls = {name: amount for name, amount in amounts.items() if name != "calls"}
            self._spent = self._spent.plus(calls)
            self._spending.settle(spender(self._history.caller), set_aside, amounts)

    def _counted(self, name: str, step: int) -> dict[str, int]:
        """The calls of this run by tool, with `step` more of one."""
        calls = dict(self._history.calls)
        calls[name] = max(calls.get(name, 0) + step, 0)
        self._ran = max(self._ran + step, 0)
        return calls

    def _keep(self, entry: Entry | None) -> None:
        if entry:
            ledger = self._history.ledger.appended([entry])
            self._history = self._history.but(ledger=ledger)

    def _reported(self, name: str) -> None:
        if self._missing.get(name):
            self._missing[name] -= 1


def _text_of(result: Any) -> str:
    """A result as the model would read it."""
    if isinstance(result, str):
        return result
    try:
        return canonical_json(json_value(result))
    except (TypeError, ValueError):
        return str(result)
