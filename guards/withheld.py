"""What was masked in a call's arguments before anybody could judge it: it is judged all the same.

A proposed call may be stored, or shown to a listener, as soon as the model has written it. So its
secrets are masked at once, and their labels noted; the verdict is then that of the whole call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from .decide import Check, Policy
from .redact import Redactor
from .verdict import Finding, ToolCall, Verdict, Word, canonical_json, strictest


def masked_arguments(arguments: Any, redactor: Redactor) -> tuple[Any, tuple[str, ...]]:
    """A call's arguments with their secrets masked, and the labels of these, each once.

    Text by text: in the JSON of the whole an escape (`\\n`) may hide where a secret begins. What
    only the whole tells (a number under a name that says what it is) has a label and stays.
    """
    masked, labels = redactor.found(arguments)
    try:
        text = canonical_json(arguments)
    except (TypeError, ValueError, RecursionError):
        text = str(arguments)
    return masked, tuple(dict.fromkeys((*labels, *redactor.secrets(text)[1])))


def with_withheld(
    policy: Policy, call: ToolCall, verdict: Verdict, labels: Sequence[str]
) -> Verdict:
    """The verdict on the masked `call`, made as strict as what was masked (`labels`) asks for.

    Nothing puts a secret back that was masked before it was stored: the call of a pattern in shadow
    runs masked, too, and is not blocked.
    """
    if not labels:
        return verdict
    if policy.enforced is None:
        return _stricter(policy, policy.checks, call, verdict, labels)
    would_be = _stricter(policy, policy.checks, call, verdict.would_be, labels)
    made = _stricter(policy, policy.enforced, call, verdict, labels)
    return replace(made, shadow=would_be)


def _stricter(
    policy: Policy, checks: Sequence[Check], call: ToolCall, verdict: Verdict, labels: Sequence[str]
) -> Verdict:
    """What these checks of the policy make of the labels."""
    word: Word = "redact" if _runs_redacted(checks, call) else "block"
    held = policy.shadow if checks is policy.enforced else None
    spoke = {f.rule.rpartition(".")[2] for f in verdict.findings}
    lines = {pattern.name: pattern.where for pattern in policy.redactor.patterns}
    new = tuple(
        Finding(
            rule=(rule := f"secret_patterns.{label}"),
            word="redact" if held is not None and held.holds(rule) else word,
            reason=f"a secret ({label}) stands in the arguments",
            where=lines.get(label) or policy.source,
        )
        for label in labels
        if label not in spoke
    )
    findings = verdict.findings + new
    return replace(verdict, word=strictest(findings), findings=findings)


def _runs_redacted(checks: Sequence[Check], call: ToolCall) -> bool:
    """Whether the policy lets this tool run with its secrets masked."""
    tables = [getattr(check, "redacted", None) for check in checks]
    rows = [row for table in tables if table is not None for row in table.rows(call.name)]
    return bool(rows) and all(row.word == "redact" for row in rows)
