"""How long decisions take: noted on the verdict, while somebody measures it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import TypeVar

from ..verdict import ToolCall, Verdict

Policy = TypeVar("Policy")
History = TypeVar("History")


class _Switch:
    on = False


switch = _Switch()
"""Whether somebody measures."""


def timed(
    decide: Callable[[Policy, ToolCall, History], Verdict],
) -> Callable[[Policy, ToolCall, History], Verdict]:
    """`decide`, whose verdicts say when it began and how long it took, while `switch` is on."""

    @wraps(decide)
    def timing(policy: Policy, call: ToolCall, history: History) -> Verdict:
        if not switch.on:
            return decide(policy, call, history)
        began, start = time.time_ns(), time.perf_counter_ns()
        verdict = decide(policy, call, history)
        return replace(verdict, timing=(began, time.perf_counter_ns() - start))

    return timing
