"""What a door or a log is given that is of no type that it may have is refused at once."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest

from edgeward import (
    Firewall,
    FirewallAnthropic,
    FirewallCallbackHandler,
    FirewallMiddleware,
    FirewallOpenAI,
    ReceiptLog,
    guard_tools,
    load_policy,
)
from edgeward.telemetry import instrument

SPENDING = "spending is of type int; allowed: a Spending or None"
WRONG: Any = 5


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Firewall("default", spending=WRONG), SPENDING),
        (lambda: FirewallMiddleware("default", spending=WRONG), SPENDING),
        (lambda: FirewallCallbackHandler("default", spending=WRONG), SPENDING),
        (lambda: guard_tools([], "default", spending=WRONG), SPENDING),
        (
            lambda: FirewallOpenAI(openai.OpenAI(api_key="k"), "default", spending=WRONG),
            SPENDING,
        ),
        (
            lambda: FirewallAnthropic(anthropic.Anthropic(api_key="k"), "default", spending=WRONG),
            SPENDING,
        ),
        (lambda: Firewall("default", caller=WRONG), "caller is of type int; allowed: a Caller"),
        (lambda: Firewall("default", clock=WRONG), "clock is of type int; allowed: a function"),
        (lambda: load_policy(receipts=WRONG), "receipts is of type int; allowed: a ReceiptLog"),
        (lambda: ReceiptLog(WRONG), "target is of type int; allowed: a path, or anything with a"),
        (lambda: ReceiptLog("a.jsonl", algorithm=WRONG), "algorithm: 5 is none; allowed: ed25519"),
        (lambda: ReceiptLog(Path(__file__).parent), "is a folder; name a file in it"),
        (lambda: ReceiptLog(""), "is a folder; name a file in it"),
        (lambda: ReceiptLog(os.devnull, key="k"), "is a pipe or a device, where nothing is kept"),
        (lambda: instrument(tracer_provider=WRONG), "tracer_provider is of type int; allowed: a"),
        (lambda: instrument(meter_provider=WRONG), "meter_provider is of type int; allowed: a"),
    ],
)
def test_it_is_said_what_is_wrong_and_what_is_allowed(
    make: Callable[[], object], said: str
) -> None:
    """At once, in one line, and not at the first call."""
    with pytest.raises((TypeError, ValueError), match=re.escape(said)):
        make()
