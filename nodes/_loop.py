"""Notices a run that goes in circles: the same calls with the same results, and nothing new.

A call is new when it was not made before in this run, or when its result differs from that of the
last time. What is new is progress, and all counts begin again: polling a job whose state changes,
with a wait in between, is no loop. A call that was refused is no progress, and repeats as long as
it is refused. Only the last calls are remembered, so that a step costs the same in any run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..guards.decide import Policy
from ..guards.limits import Limits
from ..guards.rules.limits import limits_of
from ._base import TURN, State
from ._messages import MessageLog

CALLS = "repeated"
"""Where the run's counters keep it: by fingerprint, the last result and how often it came."""

REMEMBERED = 8
"""Different calls that are remembered; a longer circle is left to the bound on steps."""

REFUSED = "refused"

_NONE = Limits()


@dataclass(frozen=True, slots=True)
class Circle:
    """The call that repeats most, of all that are counted."""

    tool: str
    times: int
    most: int

    @property
    def ends_the_run(self) -> bool:
        """Whether it has been repeated as often as the policy lets it."""
        return self.times >= self.most

    @property
    def is_told(self) -> bool:
        """Whether the model is told now: after three of five."""
        return self.times == max(1, self.most * 3 // 5)

    @property
    def line(self) -> str:
        """What the model is told."""
        return (
            f"You have called {self.tool} {self.times} times with the same arguments, and nothing"
            " new came of it. Do something else, or answer with what you have."
        )


def looked_at(
    run: Mapping[str, Any], state: State, policy: Policy
) -> tuple[dict[str, Any], Circle | None]:
    """The run's counters with the calls of the last turn, and the circle that they are part of.

    None where there is nothing that was not counted before, or something new came of it.
    """
    turn: Mapping[str, Sequence[Any]] = run.get(TURN) or {}
    if not turn:
        return dict(run), None
    messages = state.get("messages") or []
    log = messages if isinstance(messages, MessageLog) else MessageLog(messages)
    repeats = (limits_of(policy) or _NONE).repeats
    counts: dict[str, Sequence[Any]] = dict(run.get(CALLS) or {})
    worst: Circle | None = None
    progress = False
    # The same call twice in one turn counts once: the model could not know what would come of it.
    for call_id, (name, what, ran) in {call[1]: (i, call) for i, call in turn.items()}.values():
        answer = log.answer(call_id)
        result = _digest(answer.text if answer else "") if ran else REFUSED
        before = counts.pop(what, None)
        times = before[1] + 1 if before is not None and before[0] == result else 1
        counts[what] = [result, times]
        if times == 1:
            progress = progress or ran
            continue
        circle = Circle(name, times, repeats.most(name))
        if worst is None or circle.times * worst.most > worst.times * circle.most:
            worst = circle
    if progress:
        counts, worst = {what: [result, 1] for what, (result, _) in counts.items()}, None
    for what in list(counts)[:-REMEMBERED]:
        del counts[what]
    return {**run, TURN: {}, CALLS: counts}, worst


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
