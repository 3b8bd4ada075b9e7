"""What the guard says of calls that do not run: the words for the model, and why a run ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import ToolMessage

from ..guards.limits import STOPS
from ..guards.rules.limits import KEY as LIMITS
from ..guards.verdict import ToolCall, fingerprint
from ._approvals import Decided
from ._base import Here

FINGERPRINT = 16
"""Digits of a fingerprint that tell the calls of one run apart."""


def over(decided: Sequence[Decided]) -> str:
    """Why the run ends after this: a call was refused because a limit is used up."""
    for d in decided:
        for finding in d.verdict.findings:
            rule, _, amount = finding.rule.partition(".")
            if rule == LIMITS and finding.word == "block":
                return STOPS[amount.rpartition(".")[2]]
    return ""


def refusal(refused: Decided, here: Here) -> ToolMessage:
    """The tool message for a call that will not run: why, in words the model can act on.

    Not what would have been allowed (`Finding.allowed`, on the record): whoever steers the model
    would learn from it which listed host, value or word to try next.
    """
    call, verdict = refused.call, refused.verdict
    if call.fault is not None:
        text = f"Not run: {call.fault}"
    elif refused.approval is not None and refused.approval["decision"] == "reject":
        why = refused.approval["reason"]
        text = "Not run: the user rejected this call" + (f": {why}" if why else ".")
    else:
        text = f"{here.policy.block_message} {verdict.reason}"
    text = here.veil.text(text)
    return ToolMessage(text, tool_call_id=call.id, name=call.name, status="error")


def unread(call: Mapping[str, Any]) -> str:
    """What tells one call that could not be read from another."""
    return fingerprint(ToolCall(call.get("name") or "", {"": call.get("args") or ""}))[:FINGERPRINT]


def broken(call: Mapping[str, Any]) -> ToolMessage:
    """The answer to a call whose arguments could not be parsed (they never reach a rule)."""
    piece = (call.get("args") or "")[:80]
    why = call.get("error") or "they are not a JSON object"
    text = f"Not run: the arguments could not be read ({why.splitlines()[0][:200]}): {piece!r}"
    return ToolMessage(
        text, tool_call_id=call["id"], name=call.get("name") or "unknown", status="error"
    )
