"""How a door keeps its verdicts: in the log of the policy, before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..audit import record
from ..decide import Policy
from ..ledger import History
from ..telemetry.current import tell
from ..verdict import Finding, ToolCall, Verdict
from .receipt import Place, receipt


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict, what it is on, and what was known; `approval`: what a person said to an `ask`."""

    call: ToolCall
    verdict: Verdict
    history: History
    approval: Mapping[str, Any] | None = None


def kept(policy: Policy, place: Place, decisions: Iterable[Decision]) -> Finding | None:
    """Keep the receipts of decisions; the finding that blocks their calls where that fails.

    None where the policy has no log, and with `fail_closed: false`. Telemetry is told either way.
    """
    decisions = list(decisions)
    unkept = _written(policy, place, decisions)
    if unkept is not None:
        decisions = [replace(d, verdict=d.verdict.with_finding(unkept)) for d in decisions]
    tell(policy, place, decisions)
    return unkept


def _written(policy: Policy, place: Place, decisions: Iterable[Decision]) -> Finding | None:
    if policy.receipts is None:
        return None
    try:
        policy.receipts.write([_receipt(policy, place, decision) for decision in decisions])
    except Exception as error:  # noqa: BLE001 - whatever a log raises, nothing runs unrecorded
        return unkept(policy, error)
    return None


def unkept(policy: Policy, error: Exception) -> Finding | None:
    """What it means for a call that its receipt could not be kept."""
    if not policy.fail_closed:
        return None
    reason = f"the receipt of this decision could not be kept ({type(error).__name__})"
    return Finding("receipts", "block", reason)


def _receipt(policy: Policy, place: Place, decision: Decision) -> dict[str, Any]:
    return receipt(
        record(decision.call, decision.verdict, approval=decision.approval),
        decision.history,
        place=place,
        redactor=policy.redactor,
        arguments=decision.call.arguments if policy.keeps_arguments else None,
    )
