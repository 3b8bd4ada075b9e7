"""How long decisions take: noted on the verdict, while somebody measures it."""

from __future__ import annotations

import time
from dataclasses import replace

from ..verdict import Verdict


class _Switch:
    on = False


switch = _Switch()
"""Whether somebody measures."""


def now() -> tuple[int, int]:
    """The time (ns since 1970), and a clock that only runs forward (ns)."""
    return time.time_ns(), time.perf_counter_ns()


def timed(verdict: Verdict, began: tuple[int, int]) -> Verdict:
    """The verdict, with when its decision began and how long it took."""
    at, start = began
    return replace(verdict, timing=(at, time.perf_counter_ns() - start))
