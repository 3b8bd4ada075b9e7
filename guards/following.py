"""What a door keeps for a policy, made anew when another policy counts.

    rules = Following(source, make)      # make(policy, what was made before) -> what a door keeps
    now = rules.current                  # once for each decision, and then `now` to its end

So a decision sees one policy from its beginning to its end, and threads that decide meanwhile see
the one or the other, whole.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from threading import RLock
from typing import Any, Generic, Protocol, TypeVar

from .decide import Policy
from .ledger import History
from .rules.private import private_tools
from .rules.sequence import order_of
from .verdict import Finding

T = TypeVar("T")

_LOG = logging.getLogger("edgeward.policies")


CHANGED = "what came before the policy was changed was not seen by its rules"
"""Why a text cannot be told to be free of private data."""


POLICY_CHANGED = Finding(
    "policy",
    "block",
    "the policy has changed since this call was proposed, and what a person was asked then does not"
    " count any more; if the call is still wanted, propose it again",
)
"""Said of a call that needs a person's word, where another policy counted when it was proposed."""


class Source(Protocol):
    """Says which policy counts. A `Policy` is one: itself, always."""

    @property
    def current(self) -> Policy:
        """The policy that counts now; the same object as long as nothing changes."""


class Following(Generic[T]):
    """What `make` makes of the policy that counts. May be shared by threads.

    `make` is given the policy and what was made before (None at first). Where it cannot take a
    changed policy (raises), what was made before stays, of the old policy with `problem` set.
    """

    def __init__(self, source: Source, make: Callable[[Policy, T | None], T]) -> None:
        """Make it for the policy that counts now.

        Raises:
            TypeError: `source` is no policy. Exception: whatever `make` raises.
        """
        policy = getattr(source, "current", None)
        if not isinstance(policy, Policy):
            raise TypeError(f"a Policy is needed here, not a {type(source).__name__}")
        self._source = source
        self._make = make
        self._lock = RLock()
        self._kept: tuple[Policy, Policy, T] = (policy, policy, make(policy, None))
        """The source's policy, the one that was taken, what was made of it."""

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), self._source, self._make), ()

    @property
    def current(self) -> T:
        """What was made of the policy that counts now."""
        seen, _, made = self._kept
        if self._source.current is seen:
            return made
        with self._lock:
            policy = self._source.current
            if policy is not self._kept[0]:
                self._kept = (policy, *self._taken(policy))
            return self._kept[2]

    def _taken(self, policy: Policy) -> tuple[Policy, T]:
        _, taken, made = self._kept
        try:
            return policy, self._make(policy, made)
        except Exception as error:  # noqa: BLE001 - whatever is wrong with it, the last one stays
            said = policy.redactor.secrets(str(error))[0]
            why = f"policy {policy.name!r}: the change does not count here: {said}"
        _LOG.warning("%s", why)
        taken = replace(taken, problem=why)
        return taken, self._make(taken, made)


def going_on(history: History, before: Policy, policy: Policy) -> History:
    """What was kept of the past under one policy, as another one may go on with it.

    Where the gates of `sequence` are others, nobody knows how they would stand: all of them are
    shut. Where more tools are `private`, what they gave back is not known: any text may be theirs.
    """
    if policy.digest == before.digest:
        return history
    order, rule, old = history.order, order_of(policy), order_of(before)
    if rule is None:
        order = None
    elif old is None or old.automata.key != rule.automata.key:
        order = rule.automata.shut
    ledger = history.ledger
    if private_tools(policy) - private_tools(before):
        ledger = ledger.with_gap(CHANGED)
    return replace(history, order=order, ledger=ledger)
