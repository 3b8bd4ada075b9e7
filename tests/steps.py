"""What something costs, as a number that is the same on every machine: the functions it calls."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def steps_of(work: Callable[[], object]) -> int:
    """The calls of functions, Python's and C's, that `work` takes.

    Nothing is collected meanwhile: what is told of that, and what then ends, belongs to others, and
    would be counted now and then.
    """
    count = 0

    def seen(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    collecting, before = gc.isenabled(), sys.getprofile()
    gc.disable()
    sys.setprofile(seen)
    try:
        work()
    finally:
        sys.setprofile(before)
        if collecting:
            gc.enable()
    return count
