"""The values of a decision: a tool call, what each rule said of it, and the verdict.

Everything here is frozen, has no behaviour beyond its own data, and imports nothing heavy, so
that every door (graph node, SDK wrapper, callback) speaks the same words.
"""

from __future__ import annotations

import hashlib
import json
import json.encoder
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import orjson

Word = Literal["allow", "redact", "ask", "block"]
"""What may happen to a call. `redact`: it runs with masked arguments."""

STRICTNESS: Mapping[Word, int] = {"allow": 0, "redact": 1, "ask": 2, "block": 3}
"""Any block beats any ask beats any redact beats any allow (I4)."""

Arguments = dict[str, Any]
"""Parsed arguments of a call: JSON values only."""


_encoder = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
)


def _in_pieces() -> Any:
    """What `encode` would make anew for each value; None where Python has it not in C."""
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return None
    write = json.encoder.encode_basestring
    return make(None, _encoder.default, write, None, ":", ",", True, False, False)


_pieces = _in_pieces()
_SPELLED_ALIKE = frozenset({str, int, bool, type(None)})
"""What orjson spells as the `json` module does, which digests rest on. Some numbers it does not."""


def canonical_json(value: object) -> str:
    """The one spelling of a JSON value: sorted keys, no spaces, plain Unicode.

    Raises:
        TypeError, ValueError: for what JSON cannot hold (objects, NaN, infinity).
    """
    if type(value) is dict and _SPELLED_ALIKE.issuperset(map(type, value.values())):
        try:
            return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
        except TypeError:  # half a character, a key that is no text, a number beyond 64 bits
            pass
    try:
        return _encoder.encode(value) if _pieces is None else "".join(_pieces(value, 0))
    except RecursionError:
        return _encoder.encode(value)  # which tells a value within itself from a deep one


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call as the model proposed it.

    `arguments` are parsed (a JSON object); `raw` is the text they were parsed from, where a door
    has it. `fault` says why there are no trustworthy arguments (broken JSON, duplicate keys, a
    field of the wrong type): such a call can only be blocked.
    """

    name: str
    arguments: Arguments = field(default_factory=dict)
    id: str = ""
    raw: str | None = None
    fault: str | None = None


def fingerprint(call: ToolCall) -> str:
    """SHA-256 (hex) of name and canonical arguments: equal exactly for the same action."""
    text = call.name + "\0" + canonical_json(call.arguments)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value was first seen: `user`, or the tool (and the call) whose output held it."""

    source: str
    call_id: str = ""

    def __str__(self) -> str:
        return f"{self.source} ({self.call_id})" if self.call_id else self.source


@dataclass(frozen=True, slots=True)
class Finding:
    """What one rule said of one call.

    `rule` is the policy key and, for a named entry, its name (`arg_rules.path_traversal`);
    `where` is `file:line`; `argument` the path of the value in the arguments (`cc[0].email`);
    `value` the value that matched, already masked where it is secret; `masked` the arguments
    with which a `redact` runs.
    """

    rule: str
    word: Word
    reason: str
    where: str = ""
    argument: str = ""
    value: str = ""
    origin: Origin | None = None
    masked: Arguments | None = None
    allowed: str = ""
    """What the rule would have let through, in words: for people, never for the model."""
    rests_on: tuple[str, ...] | None = None
    """The arguments (top-level names) on whose values an `ask` rests; None: it is put to a person
    each time, whatever was approved before."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decision on one call: the strictest word of all findings, and the findings."""

    word: Word
    findings: tuple[Finding, ...] = ()
    policy: str = ""
    """Digest of the policy that decided."""
    shadow: Verdict | None = None
    """What it would be if no rule were in shadow; None where none is."""
    timing: tuple[int, int] | None = field(default=None, repr=False, compare=False)
    """When it was decided (ns since 1970) and how long that took (ns), where somebody measures."""

    @property
    def would_be(self) -> Verdict:
        """The verdict with every rule enforced: itself, where none is in shadow."""
        return self if self.shadow is None else self.shadow

    @property
    def shadowed(self) -> tuple[Finding, ...]:
        """What only the rules in shadow say."""
        return tuple(f for f in self.would_be.findings if f not in self.findings)

    @property
    def deciding(self) -> tuple[Finding, ...]:
        """The findings whose word is the verdict's."""
        return tuple(f for f in self.findings if f.word == self.word)

    @property
    def reason(self) -> str:
        """The reasons of the deciding findings, joined; empty for a plain allow."""
        return "; ".join(dict.fromkeys([f.reason for f in self.findings if f.word == self.word]))

    def with_finding(self, finding: Finding | None) -> Verdict:
        """The verdict with one more finding; itself where there is none."""
        if finding is None:
            return self
        findings = (*self.findings, finding)
        shadow = None if self.shadow is None else self.shadow.with_finding(finding)
        return replace(self, word=strictest(findings), findings=findings, shadow=shadow)

    def with_shadow(self, finding: Finding) -> Verdict:
        """The verdict, which would have one more finding if no rule were in shadow."""
        return replace(self, shadow=self.would_be.with_finding(finding))

    def explain(self) -> str:
        """The verdict for a person: its word, and a line for each rule that spoke, strictest first.

        A line holds the place in the policy (`built in`: no file says it), the rule and its word,
        what is wrong, the value (one that is secret is masked) and where it came from, and what
        would have been allowed. Where rules are in shadow, it also says what they would have made
        of the verdict.
        """
        lines = [_line(f) for f in _by_strictness(self.findings)]
        if self.shadow is not None:
            lines += [_line(f, "in shadow: ") for f in _by_strictness(self.shadowed)]
            return "\n".join([f"{self.word}; in shadow: {self.shadow.word}", *lines])
        return "\n".join([self.word, *lines] if lines else ["allow: no rule objects"])


def _by_strictness(findings: Iterable[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda f: -STRICTNESS[f.word])


def _line(finding: Finding, note: str = "") -> str:
    parts = [finding.reason]
    # As JSON: a line break or a control character in a value cannot make a line of its own.
    if finding.value:
        source = f" from {finding.origin}" if finding.origin else ""
        if finding.argument and f"'{finding.argument}'" not in finding.reason:
            source = f" in {json.dumps(finding.argument, ensure_ascii=False)}{source}"
        parts.append(f"value {json.dumps(finding.value, ensure_ascii=False)}{source}")
    if finding.allowed:
        parts.append(f"allowed: {finding.allowed}")
    place = finding.where or "built in"  # a shipped pattern, a call that nobody can read
    return f"{place} {finding.rule} ({note}{finding.word}): {'; '.join(parts)}"


def strictest(findings: Iterable[Finding]) -> Word:
    """The strictest word among `findings`; `allow` where nothing spoke."""
    return max((f.word for f in findings), key=STRICTNESS.__getitem__, default="allow")


def masked_call(call: ToolCall, verdict: Verdict) -> ToolCall:
    """The call with what a finding of the verdict masked; the same call where none did."""
    for finding in verdict.findings:
        if finding.masked is not None:
            return replace(call, arguments=finding.masked)
    return call
