"""The plain door: a `Firewall` for code that calls its tools itself."""

from __future__ import annotations

import time
from collections.abc import Callable

from .guards.caller import NOBODY, Caller
from .guards.firewall import Firewall as _Firewall
from .guards.firewall import PolicyViolationError
from .guards.limits import Spending
from .policies.schema import PolicySource, policy_source

__all__ = ["Firewall", "PolicyViolationError"]


class Firewall(_Firewall):
    """One session under one policy: `check` a call, or `guard` a function.

    `policy` is a shipped name, a path, a mapping, a `Policy`, or a `PolicyFile`, which is followed;
    the shipped `default` where none is given. A session counts what it lets through, for rules with
    a budget; it may be shared by threads. `caller` is the one whom it serves, for policies that ask
    who that is; `spending` counts what callers use, in several sessions together; `clock` gives
    seconds.

    Raises:
        ConfigError: the policy cannot be loaded, with every problem at once.
    """

    def __init__(
        self,
        policy: PolicySource = None,
        *,
        thread: str = "",
        caller: Caller = NOBODY,
        spending: Spending | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        made = policy_source(policy)
        super().__init__(made, thread=thread, caller=caller, spending=spending, clock=clock)
