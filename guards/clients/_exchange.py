"""One request of a wrapped client and its response: what every vendor's file does the same way.

    door = Door(policy)                          # one for a client and its copies
    inbound = door.inbound(messages)             # masked, to be sent in place of the caller's
    exchange = door.exchange(turns)              # what decide() knows of this conversation
    for judged in exchange.judge([Proposed(name, arguments, id)], choice=0): ...
    text = exchange.masked(text)                 # or exchange.holdback() for a stream
    exchange.add_tokens(usage.total_tokens)
    attach(response, exchange.decision())

The vendor's file reads calls out of a response, puts back what may stay, and decides nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

from ..caller import NOBODY, Caller
from ..conversation import Conversations, Past, Proposed, Turn
from ..decide import Policy
from ..firewall import UNASKED, masked_call
from ..holdback import Holdback
from ..ledger import History
from ..rules.sequence import order_of
from ..verdict import Finding, canonical_json, strictest
from ._request import Inbound, RequestMask
from .defender import Decision, Status, ToolCall, ToolFinding, decision, finding_of

_LOG = logging.getLogger("edgeward.guards")

_TOO_LATE = "it does not go with a call of the same turn that has been let through already"
_REPEATED = "its id is that of another call: an answer could not be told from the other's"


@dataclass(frozen=True, slots=True)
class Judged:
    """A call and what becomes of it.

    `keep`: it stays in the response. `arguments`: the JSON text to put in place of the model's
    where the verdict wants them masked; None where they stay as they are.
    """

    proposed: Proposed
    keep: bool
    arguments: str | None
    finding: ToolFinding


class Door:
    """What a client and its copies share: the policy, what is known of conversations, the mask."""

    def __init__(self, policy: Policy) -> None:
        if not isinstance(policy, Policy):
            raise TypeError(f"a client needs a Policy, not a {type(policy).__name__}")
        self.policy = policy
        self.caller = NOBODY
        self.conversations = Conversations(policy)
        self._mask = RequestMask(policy)

    def serving(self, caller: Caller) -> Door:
        """The same for requests that are made on this caller's behalf."""
        made = copy(self)
        made.caller = caller
        return made

    def inbound(self, value: Any) -> Inbound:
        """Content that goes to the model, masked; the caller's own objects stay as they are.

        Raises:
            ValueError: it is nested too deeply to be walked.
        """
        made = self._mask(value)
        if made.left:
            _LOG.warning(
                "a secret (%s) stands in a part of the request that cannot be changed; it was sent",
                ", ".join(made.left),
            )
        return made

    def exchange(self, turns: Iterable[Turn], *, after: str = "") -> Exchange:
        """The exchange that a request with these turns begins.

        `after`: the id of an earlier response (or conversation) that the provider keeps.
        """
        past = self.conversations.past(turns, after=after, caller=self.caller)
        return Exchange(self, past)


class Exchange:
    """One request and its response, whole or streamed. Belongs to one task or thread."""

    def __init__(self, door: Door, past: Past) -> None:
        self._door = door
        self._past = past
        self._counts: dict[int, dict[str, int]] = {}
        self._ids: dict[int, set[str]] = {}
        self._kept: dict[int, list[ToolFinding]] = {}
        self._labels: dict[str, None] = {}
        self._held: list[Holdback] = []
        self.findings: list[ToolFinding] = []
        """What was said of each call, in the order in which they were judged."""

    @property
    def policy(self) -> Policy:
        """The policy that judges."""
        return self._door.policy

    @property
    def history(self) -> History:
        """What is known of the conversation before this response."""
        return self._past.history

    @property
    def one_by_one(self) -> bool:
        """Whether calls may be judged as they come. Where not, a stream holds all calls of a
        choice to its end and has them judged together: each has a say in the others."""
        return order_of(self.policy) is None

    def judge(self, calls: Iterable[Proposed], *, choice: int = 0) -> list[Judged]:
        """What becomes of each call. Those that stay count for the ones after them.

        `choice`: the alternative of the response that proposes them (choices, candidates); each
        is counted by itself. Calls that come later in the same choice may be given later; what
        does not go with a call that has stayed is then taken out. Never raises for what a call
        holds.
        """
        earlier = [finding.call.name for finding in self._kept.get(choice, [])]
        decided = [self._decided(call, choice) for call in calls]
        self._beside(earlier, [finding for _, finding in decided])
        judged = [_judged(proposed, finding) for proposed, finding in decided]
        self._kept.setdefault(choice, []).extend(j.finding for j in judged if j.keep)
        for one in judged:
            if one.arguments is not None:
                self.noted(one.finding.secrets)
        return judged

    def _decided(self, proposed: Proposed, choice: int) -> tuple[Proposed, ToolFinding]:
        counts = self._counts.setdefault(choice, dict(self.history.calls))
        history = replace(self.history, calls=counts)
        arguments: Any = proposed.arguments
        call = ToolCall(proposed.id, "function", {"name": proposed.name, "arguments": arguments})
        finding = finding_of(call, self.policy, history)
        taken = self._ids.setdefault(choice, set())
        if proposed.id and (proposed.id in taken or proposed.id in self._past.open):
            _object(finding, Finding("arguments", "block", _REPEATED))
        taken.add(proposed.id)
        self.findings.append(finding)
        if finding.verdict.word != "block":
            counts[finding.call.name] = counts.get(finding.call.name, 0) + 1
        return proposed, finding

    def _beside(self, earlier: list[str], new: list[ToolFinding]) -> None:
        """Object to what does not go with the other calls of this turn, in any order."""
        rule = order_of(self.policy)
        before = self.history.order
        through = [finding for finding in new if finding.verdict.word != "block"]
        if rule is None or before is None or len(earlier) + len(through) < 2:
            return
        names = [*earlier, *(finding.call.name for finding in through)]
        states = rule.automata.beside(before, names)
        for finding, stand in zip(through, states[len(earlier) :], strict=True):
            for found in rule.met(finding.call.name, stand):
                if found not in finding.verdict.findings:
                    _object(finding, found)
        gone = zip(earlier, states, strict=False)
        if any(list(rule.met(n, stand)) != list(rule.met(n, before)) for n, stand in gone):
            for finding in through:
                _object(finding, Finding(rule.rule, "block", _TOO_LATE))

    def refuse(self, calls: Iterable[Proposed], reason: str) -> None:
        """Note calls that are refused unjudged: nobody has seen them to their end, say."""
        for proposed in calls:
            arguments: Any = proposed.arguments
            function = {"name": proposed.name, "arguments": arguments}
            call = ToolCall(proposed.id, "function", function)
            finding = finding_of(call, self.policy, self.history)
            _object(finding, Finding("arguments", "block", reason))
            self.findings.append(finding)

    def masked(self, text: str) -> str:
        """A text of the model's, with secrets and personal data masked."""
        masked, labels = self.policy.redactor.all(text)
        self._labels.update(dict.fromkeys(labels))
        return masked

    def holdback(self) -> Holdback:
        """What masks one streamed text piece by piece; the decision names what was masked."""
        held = Holdback(self.policy.redactor)
        self._held.append(held)
        return held

    def noted(self, labels: Sequence[str]) -> None:
        """Add labels of what was masked in the response elsewhere."""
        self._labels.update(dict.fromkeys(labels))

    def add_tokens(self, tokens: int | None) -> None:
        """Count what the model call used, as the provider says."""
        self._door.conversations.add_tokens(self._past, int(tokens or 0))

    def remember(self, reply_id: str, reply: Iterable[Turn]) -> None:
        """Let later requests follow this response by its id; `reply` is what of it stayed."""
        self._door.conversations.remember(reply_id, self._past, *reply)

    def decision(self) -> Decision:
        """The `firewall` object: what became of the response, as far as it was seen."""
        return joint([self])

    @property
    def labels(self) -> tuple[str, ...]:
        """What was masked in the response, as far as it was seen."""
        for held in self._held:
            self.noted(held.labels)
        return tuple(self._labels)


def joint(exchanges: Sequence[Exchange]) -> Decision:
    """One decision on several exchanges, where an SDK makes several requests for one call."""
    findings = [finding for exchange in exchanges for finding in exchange.findings]
    labels = dict.fromkeys(label for exchange in exchanges for label in exchange.labels)
    return decision(findings, exchanges[-1].policy, masked=tuple(labels))


def attach(response: Any, made: Decision) -> None:
    """Put the decision on a response: `.firewall`, and `model_extra["firewall"]` where it has that.

    A dict gets a key.

    Raises:
        AttributeError: the object takes no attributes of its own.
    """
    if isinstance(response, dict):
        response["firewall"] = made
        return
    extra = getattr(response, "__pydantic_extra__", None)
    if isinstance(extra, dict):
        extra["firewall"] = made
        return
    object.__setattr__(response, "firewall", made)


def _judged(proposed: Proposed, finding: ToolFinding) -> Judged:
    passed: str | None = None
    if finding.verdict.word == "redact":
        masked = masked_call(finding.call, finding.verdict)
        if masked is not finding.call:
            passed = canonical_json(masked.arguments)
            finding.status = Status.FLAG
    elif finding.verdict.word == "ask":
        finding.reasons.append(UNASKED)
    return Judged(proposed, finding.status is not Status.BLOCK, passed, finding)


def _object(finding: ToolFinding, new: Finding) -> None:
    verdict = finding.verdict
    findings = (*verdict.findings, new)
    finding.verdict = replace(verdict, word=strictest(findings), findings=findings)
    finding.status = Status.BLOCK
    if new.reason not in finding.reasons:
        finding.reasons.append(new.reason)
