"""agent-defender's names and shapes, for programs that were written against it.

    findings, summary = check_tool_calls([call], policy)
    text, check = scan_and_redact(text, policy, source="user")

Every verdict is that of `decide`; only the words that it is told in are agent-defender's.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal, TypedDict

from ...arguments import refusal, require
from ..decide import Policy, decide
from ..firewall import keepable
from ..ledger import History
from ..python_values import as_call
from ..verdict import Finding, Verdict, canonical_json
from ..verdict import ToolCall as Call

_LOADED = "a Policy, as load_policy gives it"

DETERMINISTIC_RULES = "deterministic_rules"
"""The name of the check that `check_tool_calls` sums up."""


class Status(Enum):
    """What a check came to. `flag`: something was masked."""

    PASS = "pass"  # noqa: S105 - a status, not a password
    FLAG = "flag"
    BLOCK = "block"


@dataclass
class FunctionCall:
    """A function's name, and its arguments as the JSON text that a model wrote."""

    name: str = ""
    arguments: str = ""


class ToolCall:
    """A tool call as OpenAI's API words it: an id, and a function with a name and arguments.

    `function` is a `FunctionCall` or a mapping with `name` and `arguments`; arguments that are a
    mapping become their JSON text. The calls that the rules look at are another class,
    `edgeward.guards.verdict.ToolCall`.
    """

    def __init__(
        self,
        id: str = "",
        type: str = "function",
        function: FunctionCall | Mapping[str, Any] | None = None,
    ) -> None:
        self.id = id
        self.type = type
        self.function = function if isinstance(function, FunctionCall) else _function(function)

    def __repr__(self) -> str:
        return f"ToolCall(id={self.id!r}, type={self.type!r}, function={self.function!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ToolCall):
            return NotImplemented
        return (self.id, self.type, self.function) == (other.id, other.type, other.function)

    __hash__ = None  # type: ignore[assignment]


def _function(function: Mapping[str, Any] | None) -> FunctionCall:
    given = function or {}
    arguments = given.get("arguments")
    if arguments is not None and not isinstance(arguments, str):
        try:
            arguments = canonical_json(arguments)
        except (TypeError, ValueError):
            arguments = str(arguments)  # no JSON: it will be blocked as what it is
    return FunctionCall(str(given.get("name") or ""), arguments or "")


@dataclass
class ToolFinding:
    """What the policy says of one call.

    `status` is `block` for every call that may not run as it is: also where it would need an
    approval, or its secrets masked. `hosts`, `secrets` and `arg_hits` are what the egress rule, the
    secret patterns and the argument rules found; `verdict` is the whole of it.
    """

    tool_call_id: str
    tool_name: str
    status: Status
    reasons: list[str] = field(default_factory=list)
    hosts: list[str] = field(default_factory=list)
    secrets: list[str] = field(default_factory=list)
    arg_hits: list[str] = field(default_factory=list)
    call: Call = field(default_factory=lambda: Call(""))
    verdict: Verdict = field(default_factory=lambda: Verdict("block"))


@dataclass
class CheckResult:
    """The sum of a check: its name, what it came to, in words and as data."""

    name: str
    status: Status = Status.PASS
    detail: str = ""
    latency_ms: float = 0.0
    meta: dict[str, Any] = field(default_factory=dict)


class BlockedCall(TypedDict):
    """A call that was taken out, fit to log: its name and arguments are masked."""

    name: str
    arguments: str
    reasons: list[str]


class Decision(TypedDict):
    """The `firewall` object on a response: what became of it, and why."""

    action: Literal["allow", "block", "redact"]
    reason: str | None
    rule_fired: str | None
    stripped_tool_calls: list[str]
    blocked_calls: list[BlockedCall]


def check_tool_calls(
    tool_calls: Iterable[ToolCall], policy: Policy, *, history: History | None = None
) -> tuple[list[ToolFinding], CheckResult]:
    """A finding for each call, in order, and the sum of them. Never raises for what a call holds.

    `history` is what went before, for rules with a budget; nothing where it is left out.

    Raises:
        ValueError: the policy has a `private` rule and there is no history to tell what is private.
        TypeError: `policy` is not loaded, or a call is none.
    """
    require("policy", policy, Policy, _LOADED)
    if history is None:
        keepable(policy)
    started = time.perf_counter()
    require("tool_calls", tool_calls, Iterable, "a list of calls")
    findings = [finding_of(call, policy, history or History()) for call in tool_calls]
    blocked = [finding for finding in findings if finding.status is Status.BLOCK]
    within = f"{len(findings)} tool call(s) within policy"
    return findings, CheckResult(
        name=DETERMINISTIC_RULES,
        status=Status.BLOCK if blocked else Status.PASS,
        detail="; ".join(r for f in blocked for r in f.reasons) if blocked else within,
        latency_ms=(time.perf_counter() - started) * 1000,
        meta={"blocked_tools": [policy.redactor.secrets(f.tool_name)[0] for f in blocked]},
    )


def finding_of(tool_call: ToolCall, policy: Policy, history: History) -> ToolFinding:
    """What the policy says of one call.

    Raises:
        TypeError: it has no function: it is a mapping, say.
    """
    function = getattr(tool_call, "function", None)
    custom = getattr(tool_call, "custom", None)
    if function is None and custom is not None:  # a tool that takes a text, and no arguments
        return told(as_call(custom.name, {"input": custom.input}, id=tool_call.id), policy, history)
    if function is None:
        raise refusal("a tool call", tool_call, "edgeward.ToolCall, or an SDK's object of its form")
    return told(as_call(function.name, function.arguments, id=tool_call.id), policy, history)


def told(call: Call, policy: Policy, history: History) -> ToolFinding:
    """The same of a call that is parsed already."""
    verdict = decide(policy, call, history)
    named = call.name or "(unnamed)"
    if not verdict.findings:
        return ToolFinding(call.id, named, Status.PASS, call=call, verdict=verdict)
    objections = sorted(_objections(verdict), key=_rank)
    return ToolFinding(
        tool_call_id=call.id,
        tool_name=named,
        status=Status.PASS if verdict.word == "allow" else Status.BLOCK,
        reasons=list(dict.fromkeys(f.reason for f in objections)),
        hosts=_values(objections, "egress_allowlist"),
        secrets=_names(objections, "secret_patterns."),
        arg_hits=list(
            dict.fromkeys(f.reason for f in objections if f.rule.startswith("arg_rules."))
        ),
        call=call,
        verdict=verdict,
    )


def scan_and_redact(text: str, policy: Policy, source: str = "content") -> tuple[str, CheckResult]:
    """The text with its secrets and personal data masked, and what was masked, as a check.

    `source` says in the check's words where the text is from.
    """
    require("policy", policy, Policy, _LOADED)
    require("text", text, str | None, "a text")
    started = time.perf_counter()
    masked, labels = policy.redactor.all(text) if text else (text, ())
    listed = ", ".join(labels)
    return masked, CheckResult(
        name="pii_redaction",
        status=Status.FLAG if labels else Status.PASS,
        detail=f"redacted in {source}: {listed}" if labels else f"no PII in {source}",
        latency_ms=(time.perf_counter() - started) * 1000,
        meta={"labels": list(labels)},
    )


def decision(
    findings: Sequence[ToolFinding], policy: Policy, *, masked: Sequence[str] = ()
) -> Decision:
    """The `firewall` object for a response with these calls, in whose text `masked` was masked.

    A block stays a block, whatever else was masked. `rule_fired` is the policy's own name for the
    rule of the first objection (`arg_rules.path_traversal`).
    """
    blocked = [finding for finding in findings if finding.status is Status.BLOCK]
    if not blocked:
        reason = f"redacted: {', '.join(masked)}" if masked else None
        return Decision(
            action="redact" if masked else "allow",
            reason=reason,
            rule_fired=None,
            stripped_tool_calls=[],
            blocked_calls=[],
        )
    first = blocked[0]
    return Decision(
        action="block",
        reason="; ".join(first.reasons),
        rule_fired=min(_objections(first.verdict), key=_rank).rule,
        stripped_tool_calls=sorted(policy.redactor.secrets(f.tool_call_id)[0] for f in blocked),
        blocked_calls=[
            BlockedCall(
                name=policy.redactor.secrets(finding.tool_name)[0],
                arguments=shown_arguments(finding, policy),
                reasons=list(finding.reasons),
            )
            for finding in blocked
        ],
    )


def shown_arguments(finding: ToolFinding, policy: Policy) -> str:
    """A call's arguments as text, masked. A secret that no mask reaches hides all of them."""
    call = finding.call
    text = call.raw or "" if call.fault is not None else canonical_json(call.arguments)
    masked, labels = policy.redactor.all(text)
    unseen = [name for name in finding.secrets if name not in labels]
    return f"[REDACTED:{unseen[0]}]" if unseen else masked


_ORDER = ("tool_name", "arguments", "tool", "default", "egress", "secret", "arg_rules")
"""Rules in the order in which their reasons are told: the tool's first."""


def _rank(finding: Finding) -> int:
    return next((n for n, r in enumerate(_ORDER) if finding.rule.startswith(r)), len(_ORDER))


def _objections(verdict: Verdict) -> list[Finding]:
    """All that speaks against the call. A tool that is denied is not also said to be unlisted."""
    found = [f for f in verdict.findings if f.word != "allow"]
    denied = any(f.rule == "tool_denylist" for f in found)
    return [f for f in found if not (denied and f.rule == "tool_allowlist")]


def _values(findings: Sequence[Finding], rule: str) -> list[str]:
    return list(dict.fromkeys(f.value for f in findings if f.rule == rule and f.value))


def _names(findings: Sequence[Finding], prefix: str) -> list[str]:
    found = (f.rule.removeprefix(prefix) for f in findings if f.rule.startswith(prefix))
    return list(dict.fromkeys(found))
