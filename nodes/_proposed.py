"""Under which policy calls were proposed: a person's word on them counts under no other.

A person may have been asked under a policy that has changed since. The answer, a yes or a no, was
to another question: nothing runs because of it, nor in spite of it. And nobody is asked about calls
that were proposed under another policy, so that no answer can be to a question of yet another one.
The model is told, and may propose them again.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from langchain_core.messages import AIMessage

from ..guards.following import POLICY_CHANGED
from ._approvals import Decided
from ._base import Here, State
from ._turns import call_ids

PROPOSED = "proposed"
"""Where the run's counters keep it: `{"policy": its digest, "calls": their ids}`."""


def proposed(message: AIMessage, here: Here) -> dict[str, Any]:
    """What to keep of the calls that a message proposes now."""
    return {PROPOSED: {"policy": here.policy.digest, "calls": sorted(call_ids(message))}}


def is_changed(state: State, waiting: Collection[str], here: Here) -> bool:
    """Whether another policy counted when these calls were proposed."""
    known = (state.get("run") or {}).get(PROPOSED) or {}
    ours = not set(waiting).isdisjoint(known.get("calls", ()))
    return ours and known["policy"] != here.policy.digest


def unasked(decided: list[Decided], here: Here) -> list[Decided]:
    """The calls, decided by the policy that counts now, where another one did before."""
    answered = here.drop_answer is not None and here.drop_answer()
    return [_refused(d) if d.asks or (answered and d.may_run) else d for d in decided]


def _refused(decided: Decided) -> Decided:
    return replace(decided, verdict=decided.verdict.with_finding(POLICY_CHANGED))
