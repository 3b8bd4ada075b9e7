"""How a door keeps its verdicts: in the log of the policy, before anything runs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from typing import Any, NamedTuple, TypeVar

from ..audit import Record, record
from ..decide import Policy
from ..faults import words_of
from ..ledger import History, Ledger
from ..rules.sequence import order_of
from ..telemetry.current import listening, tell
from ..veil import BARE, Veil
from ..verdict import Finding, ToolCall, Verdict
from .chain import LogChanged
from .past import UNKEPT, Past, new_in, past_of
from .receipt import Place, receipt

T = TypeVar("T")
_LOG = logging.getLogger("edgeward.receipts")

_UNREAD = Ledger()
"""In place of a ledger of which no receipt tells."""


class Decision(NamedTuple):
    """A verdict, what it is on, and what was known; `approval`: what a person said to an `ask`."""

    call: ToolCall
    verdict: Verdict
    history: History
    approval: Mapping[str, Any] | None = None


def keeps(policy: Policy) -> bool:
    """Whether anybody keeps or is told of what is decided under the policy."""
    return policy.receipts is not None or listening()


def kept(policy: Policy, place: Place, decisions: Sequence[Decision]) -> Finding | None:
    """Keep the receipts of decisions; the finding that blocks their calls where that fails.

    None where the policy has no log, and with `fail_closed: false`. Telemetry is told either way.
    """
    unkept = _written(policy, place, decisions)
    if unkept is not None:
        decisions = [d._replace(verdict=d.verdict.with_finding(unkept)) for d in decisions]
    tell(policy, place, decisions)
    return unkept


async def beside(policy: Policy | None, work: Callable[..., T], *args: Any) -> T:
    """`work(*args)`, which decides under the policy: in a thread, where it keeps receipts.

    Who awaits it waits as long, and nothing runs before; others of the event loop go on.
    """
    loop = None if policy is None or policy.receipts is None else _loop()
    if loop is None:
        return work(*args)
    running = loop.run_in_executor(None, partial(copy_context().run, work, *args))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        while not running.done():  # what comes after must not come while it still runs
            with suppress(asyncio.CancelledError):  # whoever cancels may do so again and again
                await asyncio.wait([running])
        raise


def _loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:  # another library's loop
        return None


def _written(policy: Policy, place: Place, listed: Sequence[Decision]) -> Finding | None:
    if policy.receipts is None or not listed:
        return None
    try:
        ledger = listed[0].history.ledger if policy.keeps_history else _UNREAD
        records = [record(d.call, d.verdict, approval=d.approval) for d in listed]
        receipts = receipts_of(policy, place, listed, records, ledger)
        policy.receipts.write(receipts)
    except Exception as error:  # noqa: BLE001 - whatever a log raises, nothing runs unrecorded
        return unkept(policy, error)
    if policy.keeps_history:
        ledger.tell(len(ledger), receipts[-1]["receipt"])
    return None


def receipts_of(
    policy: Policy,
    place: Place,
    decisions: Iterable[Decision],
    records: Iterable[Record],
    ledger: Ledger,
    veil: Veil = BARE,
    *,
    lost: bool = False,
) -> list[dict[str, Any]]:
    """The receipts of the decisions on one turn's calls, of each its record.

    `records` are as they may be stored, and `ledger` is the thread's as it is stored.
    With `receipts: history` each names the one before it, and the first tells what is new. `lost`:
    the thread has seen more than its ledger can tell.
    """
    receipts: list[dict[str, Any]] = []
    start, after = ledger.told if policy.keeps_history else (0, "")
    for decision, told in zip(decisions, records, strict=True):
        call, history = decision.call, decision.history
        past: Past | None = None
        if policy.keeps_history:
            redactor = policy.redactor
            new = (
                [] if receipts else [*([UNKEPT] if lost else []), *new_in(ledger, start, redactor)]
            )
            past = past_of(call, history, new, redactor=redactor, veil=veil, order=order_of(policy))
            past |= {"after": after} if after else {}
            past |= {"beside": True} if receipts else {}
        arguments = veil.call(call).arguments if policy.keeps_arguments else None
        made = receipt(told, history, place, policy, arguments=arguments, past=past)
        receipts.append(made)
        after = made["receipt"]
    return receipts


def unkept(policy: Policy, error: Exception) -> Finding | None:
    """What it means for a call that its receipt could not be kept; the logger `edgeward.receipts`
    says why."""
    reason, why = "the receipt of this decision could not be kept", _why(error)
    _LOG.warning("%s: %s", reason, why)
    if not policy.fail_closed:
        return None
    return Finding("receipts", "block", reason, allowed=f"once the log can be written: {why}")


def _why(error: Exception) -> str:
    """What is wrong with the log, where the words are ours or the system's."""
    if isinstance(error, LogChanged):
        return str(error)
    if isinstance(error, OSError) and isinstance(error.errno, int):
        return words_of(error)
    name = getattr(error, "sqlite_errorname", type(error).__name__)
    return f"what it is written with raised {name}"
