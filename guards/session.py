"""One session of calls: what a door that is told of things as they happen knows of the past.

Counted are the calls that were let through since the user last spoke, by tool, and tokens; kept is
the ledger of what the user said and what the tools gave back, as far as it was reported. A tool
whose output is `private` and was not reported leaves a gap: until it is, no text counts as free of
private data.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

from .caller import NOBODY, Caller
from .conversation import observed
from .decide import Policy, decide
from .ledger import USER, Entry, History
from .names import shown_name
from .outputs import speaks_of
from .patterns import searchable
from .python_values import json_value
from .rules.sequence import order_of
from .verdict import ToolCall, Verdict, canonical_json


class Session:
    """The past of one session under one policy. May be shared by threads."""

    def __init__(self, policy: Policy, *, thread: str = "", caller: Caller = NOBODY) -> None:
        policy.in_plain_sight()
        self.policy = policy
        rule = order_of(policy)
        self._automata = None if rule is None else rule.automata
        order = None if self._automata is None else self._automata.start
        self._history = History(thread=thread, caller=caller, order=order)
        self._private = [check for check in policy.checks if hasattr(check, "pieces")]
        self._missing: dict[str, int] = {}
        self._lock = threading.RLock()

    @property
    def history(self) -> History:
        """What the next decision knows of the past."""
        with self._lock:
            missing = [name for name, count in self._missing.items() if count > 0]
            if not missing:
                return self._history
            names = ", ".join(map(shown_name, missing[:3]))
            ledger = self._history.ledger.with_gap(f"what {names} gave back was not reported")
            return replace(self._history, ledger=ledger)

    def decide(self, call: ToolCall) -> Verdict:
        """The verdict on a call; one that may run is counted."""
        with self._lock:  # two threads must not both take the last of what is counted
            verdict = decide(self.policy, call, self.history)
            if verdict.word in ("allow", "redact"):
                self._count(call.name, 1)
                if self._automata is not None and self._history.order is not None:
                    order = self._automata.advance(self._history.order, through=[call.name])
                    self._history = replace(self._history, order=order)
                if self._is_private(call.name):
                    self._missing[call.name] = self._missing.get(call.name, 0) + 1
        return verdict

    def take_back(self, name: str) -> None:
        """Count one call less: one that was let through will be decided again before it runs."""
        with self._lock:
            self._count(name, -1)
            self._reported(name)

    def said(self, text: str) -> None:
        """The user wrote something: it counts as stated, and a new run begins."""
        with self._lock:
            order = self._history.order
            if self._automata is not None and order is not None:
                order = self._automata.spoke(order)
            self._keep(self._history.ledger.observed(text, source=USER))
            self._history = replace(self._history, calls={}, order=order)

    def observe(self, call: ToolCall, result: object, *, failed: bool = False) -> None:
        """What a call gave back: a text, or a value that is read as JSON."""
        text = self.policy.redactor.secrets(searchable(_text_of(result)))[0]
        with self._lock:
            history = self._history
            self._keep(observed(self.policy, call, text, failed=failed, caller=history.caller))
            self._reported(call.name)
            if self._automata is not None and history.order is not None and not failed:
                name = [call.name]
                order = self._automata.advance(history.order, through=name, done=name)
                self._history = replace(self._history, order=order)

    def add_tokens(self, tokens: int) -> None:
        """Count tokens that the session's model calls have used."""
        with self._lock:
            total = self._history.tokens_used + max(tokens, 0)
            self._history = replace(self._history, tokens_used=total)

    def _count(self, name: str, step: int) -> None:
        calls = dict(self._history.calls)
        calls[name] = max(calls.get(name, 0) + step, 0)
        self._history = replace(self._history, calls=calls)

    def _keep(self, entry: Entry | None) -> None:
        if entry:
            ledger = self._history.ledger.appended([entry])
            self._history = replace(self._history, ledger=ledger)

    def _is_private(self, name: str) -> bool:
        tools = (getattr(check, "tools", None) for check in self._private)
        return any(globs is None or speaks_of(globs, name) for globs in tools)

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
