"""How long decisions take: noted on the verdict, while somebody measures it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import ParamSpec

from ..verdict import Verdict

P = ParamSpec("P")


class _Switch:
    on = False


switch = _Switch()
"""Whether somebody measures."""


def timed(decide: Callable[P, Verdict]) -> Callable[P, Verdict]:
    """`decide`, whose verdicts say when it began and how long it took, while `switch` is on."""

    @wraps(decide)
    def timing(*args: P.args, **kwargs: P.kwargs) -> Verdict:
        if not switch.on:
            return decide(*args, **kwargs)
        began, start = time.time_ns(), time.perf_counter_ns()
        verdict = decide(*args, **kwargs)
        return replace(verdict, timing=(began, time.perf_counter_ns() - start))

    return timing
