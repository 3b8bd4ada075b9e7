"""One request of a wrapped client and its response: what every vendor's file does the same way.

    door = Door(policy)                          # one for a client and its copies
    exchange = door.exchange(turns)              # what decide() knows of this conversation
    body = exchange.rules.sent(body, fields)     # masked, to be sent in place of the caller's
    for judged in exchange.judge([Proposed(name, arguments, id)], choice=0): ...
    text = exchange.masked(text)                 # or exchange.holdback() for a stream
    exchange.add_tokens(usage.total_tokens)
    attach(response, exchange.decision())

The vendor's file reads calls out of a response, puts back what may stay, and decides nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

from ..caller import NOBODY, Caller
from ..conversation import Past, Proposed, Turn
from ..decide import Policy
from ..firewall import UNASKED, PolicyViolationError
from ..following import Following, Source
from ..holdback import Holdback
from ..ledger import History
from ..limits import Amounts, Spending, spender, spending_of
from ..pieces import beside, pieces
from ..python_values import as_call
from ..receipts.keeping import Decision as Kept
from ..receipts.keeping import keeps, kept
from ..receipts.receipt import Place
from ..results import answered
from ..shadow import Shadow
from ..spent import UNCOUNTED, Usage, caller_named
from ..streamed import Streamed
from ..verdict import Arguments, Finding, ToolCall, canonical_json, masked_call
from ._asked import asked, came
from ._rules import Rules
from ._tally import Tally, asked_amounts
from .defender import Decision, Status, ToolFinding, decision, told

MOST_CALLS = 512
"""Calls of one choice that are judged; each is looked at beside all others."""

_TOO_MANY = f"it comes after {MOST_CALLS} calls of the same turn"
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
    """What a client and its copies share: which policy counts, and what is kept for it."""

    place = Place("client")
    """What the receipts of this door say of it."""

    def __init__(
        self,
        policy: Source,
        *,
        spending: Spending | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`spending` counts what callers use, also beside other clients; `clock` gives seconds."""
        counted = spending_of(spending)
        self.caller = NOBODY
        self._rules = Following(policy, lambda now, before: Rules(now, counted, clock, before))

    @property
    def rules(self) -> Rules:
        """What is kept for the policy that counts now."""
        return self._rules.current

    def serving(self, caller: Caller) -> Door:
        """The same for requests that are made on this caller's behalf."""
        made = copy(self)
        made.caller = caller
        return made

    def exchange(self, turns: Iterable[Turn], *, after: str = "") -> Exchange:
        """The exchange that a request with these turns begins.

        `after`: the id of an earlier response (or conversation) that the provider keeps.

        Raises:
            PolicyViolationError: a limit is used up, so that the model must not be asked.
        """
        rules = self.rules
        counter = rules.counter
        limits, now, reserved = counter.limits, counter.clock(), dict[str, float]()
        past = rules.conversations.past(turns, after=after, caller=self.caller, now=now)
        if limits is not None:
            who = spender(self.caller)
            used = caller_named(past.history.used or {}, counter.spending.of(who))
            limit = limits.beyond(used, {})
            # What cannot be counted blocks the calls; it is no reason to say nothing at all.
            if limit is None or limit.spent(used) == UNCOUNTED:
                need, wish = asked_amounts(past, limits)
                got = limits.set_aside_tokens(counter.spending, who, need, wish)
                limit, reserved = (None, got) if got is not None else (limits.full(used), {})
            if limit is not None:
                why = f"the model is not asked: a limit is reached: {limit.told(used)}"
                raise PolicyViolationError(f"{rules.policy.block_message} {why}")
            past = replace(past, history=past.history.but(used=used))
        return Exchange(self, rules, past, began=now, reserved=reserved)


_Known = tuple[ToolFinding, History]
"""What was said of a call, and what that was decided on."""


@dataclass(slots=True)
class _Choice:
    """What is known of one alternative of a response."""

    proposed: int = 0
    """Calls that it has proposed so far."""
    through: list[str] = field(default_factory=list)
    """The tools whose calls were let through."""
    pieces: list[str] = field(default_factory=list)
    parsed: list[Arguments] = field(default_factory=list)
    """Arguments whose pieces nobody has asked for yet."""
    ids: set[str] = field(default_factory=set)
    kept: list[ToolFinding] = field(default_factory=list)
    """What was said of the calls that stay."""


class Exchange:
    """One request and its response, whole or streamed, under the policy that counted when it began.
    Belongs to one task or thread."""

    def __init__(
        self,
        door: Door,
        rules: Rules,
        past: Past,
        *,
        began: float,
        reserved: Amounts,
    ) -> None:
        self._door = door
        self.rules = rules
        self._past = past
        self._asked = asked(door.place.door, rules.policy.redactor)
        self._tally = Tally(rules.counter, past, spender(door.caller), began, reserved=reserved)
        self._choices: dict[int, _Choice] = {}
        self._labels: dict[str, None] = {}
        self._held: list[Streamed] = []
        self.findings: list[ToolFinding] = []
        """What was said of each call, in the order in which they were judged."""

    @property
    def policy(self) -> Policy:
        """The policy that judges."""
        return self.rules.policy

    @property
    def history(self) -> History:
        """What is known of the conversation before this response."""
        return self._past.history

    @property
    def one_by_one(self) -> bool:
        """Whether calls may be judged as they come. Where not, a stream holds all calls of a
        choice to its end and has them judged together: each has a say in the others. What is sent
        in pieces is seen either way, with the last of them at the latest."""
        return self.rules.order is None

    def judge(self, calls: Iterable[Proposed], *, choice: int = 0) -> list[Judged]:
        """What becomes of each call. Those that stay count for the ones after them.

        `choice`: the alternative of the response that proposes them (choices, candidates); each
        is counted by itself. Calls that come later in the same choice may be given later; what
        does not go with a call that has stayed is then taken out, and what comes after
        `MOST_CALLS`. Never raises for what a call holds.
        """
        listed = list(calls)
        here = self._choices.setdefault(choice, _Choice())
        room = max(MOST_CALLS - here.proposed, 0)
        here.proposed += len(listed)
        decided = self._decided(listed[:room], here) + self._refused(listed[room:], _TOO_MANY)
        findings = [finding for finding, _ in decided]
        self._beside(here, findings)
        self._keep(decided)
        judged = [_judged(p, finding) for p, finding in zip(listed, findings, strict=True)]
        here.kept += [j.finding for j in judged if j.keep]
        for one in judged:
            if one.arguments is not None:
                self.noted(one.finding.secrets)
        return judged

    def _decided(self, listed: list[Proposed], here: _Choice) -> list[_Known]:
        """What is said of each call, those before it and pieces of all others counted."""
        calls = [_parsed(proposed) for proposed in listed]
        arguments = [call.arguments for call in calls]
        here.pieces += [piece for earlier in here.parsed for piece in pieces(earlier)]
        history, set_aside = self._tally.history(len(listed))
        counted, new, decided = len(here.through), tuple(here.through), list[_Known]()
        for call, more in zip(calls, beside(arguments), strict=True):
            history, new = history.let_through(*new), ()
            known = history.after(*here.pieces, *more)
            finding = told(call, self.policy, known)
            if call.id and (call.id in here.ids or call.id in self._past.open):
                _object(finding, Finding("arguments", "block", _REPEATED))
            here.ids.add(call.id)
            if finding.verdict.word != "block":
                here.through.append(call.name)
                new = (call.name,)
            self.findings.append(finding)
            decided.append((finding, known))
        here.parsed = arguments
        self._tally.let_through(len(here.through) - counted, set_aside)
        return decided

    def _beside(self, here: _Choice, new: list[ToolFinding]) -> None:
        """Object to what does not go with the other calls of this turn, in any order."""
        rule, shadow, before = self.rules.order, self.policy.shadow, self.history.order
        if rule is None or before is None:
            return
        earlier = [finding.call.name for finding in here.kept]
        through = [finding for finding in new if finding.verdict.word != "block"]
        if len(earlier) + len(through) < 2:
            return
        names = [*earlier, *(finding.call.name for finding in through)]
        states = rule.automata.beside(before, names)
        for finding, stand in zip(through, states[len(earlier) :], strict=True):
            for found in rule.met(finding.call.name, stand):
                if found not in finding.verdict.would_be.findings:
                    _object(finding, found, shadow)
        gone = zip(earlier, states, strict=False)
        late = {f.rule for n, s in gone for f in rule.met(n, s) if f not in rule.met(n, before)}
        for name in sorted(late):
            for finding in through:
                _object(finding, Finding(name, "block", _TOO_LATE), shadow)

    def refuse(self, calls: Iterable[Proposed], reason: str) -> list[ToolFinding]:
        """Note calls that are refused unjudged: nobody has seen them to their end, say."""
        refused = self._refused(calls, reason)
        self._keep(refused)
        return [finding for finding, _ in refused]

    def _refused(self, calls: Iterable[Proposed], reason: str) -> list[_Known]:
        findings = [told(_parsed(proposed), self.policy, self.history) for proposed in calls]
        for finding in findings:
            _object(finding, Finding("arguments", "block", reason))
        self.findings += findings
        return [(finding, self.history) for finding in findings]

    def _keep(self, decided: list[_Known]) -> None:
        """Keep the receipts of what was decided; where that fails, none of the calls goes out."""
        if not keeps(self.policy):
            return
        decisions = [Kept(f.call, f.verdict, known) for f, known in decided]
        if unkept := kept(self.policy, self._door.place, decisions):
            for finding, _ in decided:
                _object(finding, unkept)

    def masked(self, text: str) -> str:
        """A text of the model's: secrets and personal data masked, images and links that carry data
        out as words (see `results.answered`)."""
        self._tally.written += len(text)
        masked, labels = self.policy.redactor.all(text)
        shown, defused = answered(self.policy, masked, private=self._private)
        self._labels.update(dict.fromkeys((*labels, *defused)))
        return shown

    def masked_data(self, value: Any) -> Any:
        """What stands beside the text (citations, results, fields of next year), masked as in a
        request."""
        made = self.rules.inbound(value)
        self.noted(made.labels)
        return made.value

    def holdback(self) -> Streamed:
        """What makes the same of one streamed text piece by piece; the decision names it."""
        held = Streamed(Holdback(self.policy.redactor), self.policy, private=self._private)
        self._held.append(held)
        return held

    def _private(self, text: str) -> str:
        """See `Ledger.private`."""
        return self.history.ledger.private(text)

    def noted(self, labels: Sequence[str]) -> None:
        """Add labels of what was masked in the response elsewhere."""
        self._labels.update(dict.fromkeys(labels))

    def add_tokens(self, tokens: int | None, *, usage: Usage | None = None) -> None:
        """Count what the model call used, as the provider says; None: it says nothing, and an
        estimate counts. `usage` tells more than the sum: what was read and written, by which model.

        Before the calls are judged, where the provider has said it by then: what the call has used
        counts against them. Told twice, the greater counts.
        """
        usage = usage or (None if tokens is None else Usage(total=tokens))
        self._tally.add(usage)
        came(self._asked, usage)

    def estimate(self, written: int) -> None:
        """Note how many characters the model has written so far: for what is judged meanwhile."""
        self._tally.written = max(written, self._tally.written)

    def remember(self, reply_id: str, reply: Iterable[Turn]) -> None:
        """Let later requests follow this response by its id; `reply` is what of it stayed."""
        self.rules.conversations.remember(reply_id, self._past, *reply)

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


def _parsed(proposed: Proposed) -> ToolCall:
    """The call with its arguments parsed, as strictly from a mapping as from the wire's text."""
    return as_call(str(proposed.name or ""), proposed.arguments, id=proposed.id)


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


def _object(finding: ToolFinding, new: Finding, shadow: Shadow | None = None) -> None:
    if shadow is not None and shadow.holds(new.rule):
        finding.verdict = finding.verdict.with_shadow(new)
        return
    finding.verdict = finding.verdict.with_finding(new)
    finding.status = Status.BLOCK
    if new.reason not in finding.reasons:
        finding.reasons.append(new.reason)
