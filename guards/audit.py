"""The record of a verdict: what was decided on which call, by which rules, and why."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any

from .redact import Redactor
from .verdict import Finding, ToolCall, Verdict, fingerprint

Record = dict[str, Any]
"""Plain data, no secret in it: fit for a checkpoint, a log, a terminal."""


def record(
    call: ToolCall, verdict: Verdict, *, approval: Mapping[str, Any] | None = None
) -> Record:
    """One verdict as plain data; arguments appear by their fingerprint only.

    `shadow`, where rules are in shadow: what the word would be, and what only those rules say.
    """
    findings = verdict.findings
    entry: Record = {
        "id": call.id,
        "tool": call.name,
        "word": verdict.word,
        "reason": verdict.reason if findings else "",
        "rules": [_spoken(f) for f in findings if f.word != "allow"] if findings else [],
        "fingerprint": fingerprint(call),
        "policy": verdict.policy,
    }
    if verdict.shadow is not None:
        rules = [_spoken(f) for f in verdict.shadowed if f.word != "allow"]
        entry["shadow"] = {"word": verdict.shadow.word, "rules": rules}
    if approval is not None:
        entry["approval"] = dict(approval)
    return entry


def answer_record(
    decision: str, *, by: str, reason: str, at: float, redactor: Redactor
) -> dict[str, Any]:
    """A person's answer, for the record: who, when (`at`: seconds since 1970), why; masked."""
    return {
        "decision": decision,
        "by": redactor.secrets(by)[0],
        "reason": redactor.secrets(reason)[0],
        "at": utc(at),
    }


def utc(seconds: float) -> str:
    """A time in seconds since 1970 as ISO 8601, in UTC."""
    return datetime.fromtimestamp(seconds, timezone.utc).isoformat(timespec="seconds")


def edit_of(proposed: ToolCall, edited: ToolCall) -> dict[str, Any]:
    """What a person made of a call, for the record of the answer: arguments by their names only.

    `edited` names those that were changed, added or taken out; `proposed` is the fingerprint of the
    call that they were shown.
    """
    before, after = proposed.arguments, edited.arguments
    names = [n for n in {**before, **after} if n not in before or n not in after]
    names += [n for n in before if n in after and before[n] != after[n]]
    return {"edited": sorted(names), "proposed": fingerprint(proposed)}


def _spoken(finding: Finding) -> dict[str, str]:
    """One rule's say; empty fields are left out."""
    fields = {"rule": finding.rule, "word": finding.word, "reason": finding.reason}
    if finding.where:
        fields["where"] = finding.where
    if finding.argument:
        fields["argument"] = finding.argument
    if finding.value:
        fields["value"] = finding.value
    if finding.origin:
        fields["origin"] = str(finding.origin)
    if finding.allowed:
        fields["allowed"] = finding.allowed
    return fields
