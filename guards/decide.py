"""The decision: a policy, a call, the history -> a verdict. Pure, synchronous, order-free.

Every check looks at the same examined call; what any of them says is kept, and the strictest word
wins (I4). What cannot be decided is blocked, with the reason: no policy, arguments that do not
parse, a bound that is hit, a check that raises.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ..later import Later
from .approvals import DEFAULT_MAX_S
from .caller import NOBODY, Caller
from .ledger import Entry, History, judge
from .names import name_fault
from .normalise import Examined
from .outputs import as_data, created_by, leaves
from .patterns import PatternSet
from .receipts.past import RAN, result_kept
from .redact import Redactor
from .results import Settings
from .rules import Check, speaks
from .shadow import Shadow
from .telemetry.timing import now, switch, timed
from .tokens import words
from .values import values_in
from .vault import Hides
from .verdict import Finding, ToolCall, Verdict, Word, strictest

if TYPE_CHECKING:
    from .receipts import log
else:
    log = Later("edgeward.guards.receipts.log")

__all__ = ["Check", "History", "Policy", "decide"]

_NO_POLICY = Verdict("block", (Finding("policy", "block", "no policy is loaded"),))
_PLAIN = Settings()
PRIVATE = "private"
"""The rule of whose finds other rules are told, by the ledger."""
_READABLE = "arguments that are one JSON object, each key once, not too long, deep or much encoded"
_NAMEABLE = "the name of a tool in plain letters"
_MAX_FINDINGS = 50
"""Findings that a verdict keeps; the strictest come first."""


@dataclass(frozen=True, slots=True)
class Policy:
    """A loaded policy: compiled checks and what else a run needs to know of the file.

    `digest` is the SHA-256 of what the file says; `source` its path, empty where there is none;
    `patterns` the set in which the checks' regular expressions are numbered.
    """

    name: str
    digest: str
    checks: tuple[Check, ...]
    patterns: PatternSet
    redactor: Redactor = field(default_factory=Redactor)
    version: int = 1
    description: str = ""
    fail_closed: bool = True
    block_message: str = "[Edgeward] Action blocked by policy."
    source: str = ""
    receipts: log.ReceiptLog | None = field(default=None, repr=False, compare=False)
    """Where each verdict is kept."""
    keeps_arguments: bool = False
    """Whether a receipt holds the arguments, masked, besides their fingerprint."""
    shadow: Shadow | None = None
    """Which of the checks decide nothing; None where all do."""
    enforced: tuple[Check, ...] | None = field(init=False, repr=False, compare=False, default=None)
    """The checks that decide; None where all do."""
    keeps_history: bool = False
    """Whether it also holds what came since the thread's last one: see `receipts/past.py`."""
    asked: tuple[Check, ...] = field(init=False, repr=False, compare=False, default=())
    """The checks that say something of calls."""
    unprompted: tuple[Check, ...] = field(init=False, repr=False, compare=False, default=())
    """Those of them that do even where no pattern hits and nothing was sent in pieces."""
    scans: tuple[Check, ...] = field(init=False, repr=False, compare=False, default=())
    """The checks that say how much a text looks like an injection."""
    reads: tuple[Check, ...] = field(init=False, repr=False, compare=False, default=())
    """The checks that say what in a result can be believed, or may not leave."""
    problem: str = field(default="", compare=False)
    """Why this policy still counts although its file says something else; mostly empty."""
    results: Settings = field(init=False, repr=False, compare=False, default=_PLAIN)
    """What the policy says of what comes back from tools."""
    injection_threshold: float = field(init=False, repr=False, compare=False, default=1.0)
    """The score from which a text counts as an injection."""
    no_objection: Verdict = field(init=False, repr=False, compare=False, default=_NO_POLICY)
    """The verdict where no rule speaks: it is the same for every call."""

    def __post_init__(self) -> None:
        self.patterns.freeze()
        # Each step of a run asks for these: they are looked up once.
        object.__setattr__(self, "asked", tuple(filter(speaks, self.checks)))
        unprompted = (c for c in self.asked if not getattr(c, "on_hits_only", False))
        object.__setattr__(self, "unprompted", tuple(unprompted))
        for kept, methods in (("scans", ("scan",)), ("reads", ("wishes", "believed", "pieces"))):
            able = (c for c in self.checks if any(getattr(c, name, None) for name in methods))
            object.__setattr__(self, kept, tuple(able))
        object.__setattr__(self, "no_objection", Verdict("allow", (), self.digest))
        if self.shadow is not None:
            object.__setattr__(self, "enforced", self.shadow.enforced(self.asked))
        settings = (getattr(check, "settings", None) for check in self.checks)
        found = next((s for s in settings if isinstance(s, Settings)), _PLAIN)
        if self.shadow is not None and self.shadow.whole:
            found = replace(found, shadow=True)
        object.__setattr__(self, "results", found)
        thresholds = [getattr(check, "threshold", None) for check in self.checks]
        least = min((t for t in thresholds if t is not None), default=1.0)
        object.__setattr__(self, "injection_threshold", least)

    @property
    def current(self) -> Policy:
        """The policy that counts now: of a loaded one, itself (see `Source`)."""
        return self

    def in_plain_sight(self) -> None:
        """Refuse `placeholders` where a door does not see all that the model reads.

        Raises:
            ValueError: the policy has them, and nobody would put the real values back.
        """
        if self.hides is not None:
            raise ValueError(
                f"policy {self.name!r}: `placeholders` needs to see all that the model reads, "
                "which this door does not; use build_graph, or leave `placeholders` out"
            )

    def scan_result(self, text: str) -> tuple[float, tuple[str, ...]]:
        """How much a text that came back from a tool looks like an injection.

        A score from 0 to 1 and what it is made of, as labels. Nothing is decided here.
        """
        scores = [check.scan(text) for check in self.scans]  # type: ignore[attr-defined]
        if not scores:
            return 0.0, ()
        labels = dict.fromkeys(label for _, found in scores for label in found)
        return max(score for score, _ in scores), tuple(labels)

    def observed(
        self,
        call: ToolCall,
        text: str,
        *,
        source: str,
        data: object = None,
        caller: Caller = NOBODY,
        failed: bool = False,
        withheld: bool = False,
    ) -> Entry | None:
        """The ledger's entry for what a call gave back; None where there is nothing to keep.

        `text` is what the model reads, secrets masked; `data` the same as plain data, where it is
        at hand; `caller` who is asking. Nothing is believed that the policy does not say may be,
        and nothing of what `failed` or was `withheld` from the model. What is private stays so in
        the text of a failure, too.
        """
        values = values_in(text)
        more: dict[str, object] = {}
        if not (failed or withheld):
            more = self._believed(call, as_data(text) if data is None else data, caller)
        elif not withheld and (private := self._private_in_failure(call, text)):
            more["private"] = private
        if self.keeps_history:
            more[RAN] = result_kept(
                call, text, self.redactor, caller, failed=failed, withheld=withheld
            )
        if not values and not more:
            return None
        return {"source": source, "call": call.id, "values": values, **more}

    def _private_in_failure(self, call: ToolCall, text: str) -> list[str]:
        """What of the text of a failure may not leave: what the call brought itself may."""
        checks = (pieces for c in self.reads if (pieces := getattr(c, "pieces", None)))
        found = [piece for pieces in checks for piece in pieces(call, as_data(text))]
        if not found:
            return []
        brought = " ".join(["", *words(" ".join(leaves(call.arguments))), ""])
        return [piece for piece in found if f" {piece} " not in brought]

    def _believed(self, call: ToolCall, data: object, caller: Caller) -> dict[str, object]:
        """What the checks find in a result that can be believed, or may not leave."""
        more: dict[str, object] = {**created_by(call, data)}
        for check in self.reads:
            if (wishes := getattr(check, "wishes", None)) is not None:
                more["done"] = wishes(call.name)
            if (believed := getattr(check, "believed", None)) is not None:
                more["records"] = believed(call, data, caller)
                own = bool(more["records"]) and getattr(check, "of_caller", False)
                more["judged"] = judge(self.digest, caller) if own else self.digest
            if (pieces := getattr(check, "pieces", None)) is not None:
                more["private"] = pieces(call, data)
        if not more.get("records"):
            more.pop("judged", None)
        return {key: found for key, found in more.items() if found}

    def approval_s(self, tool: str) -> int:
        """Seconds for which an approval of a call may answer for later ones; 0: for none."""
        found = [limit(tool) for c in self.checks if (limit := getattr(c, "approval_s", None))]
        return min(found, default=DEFAULT_MAX_S)

    def arguments(self, tool: str) -> set[str]:
        """The arguments of a tool at which the checks look by name."""
        named = (of(tool) for c in self.checks if (of := getattr(c, "arguments", None)))
        return set().union(*named)

    def objected(self, verdict: Verdict, finding: Finding) -> Verdict:
        """A verdict with what one more of the rules says; a rule in shadow says what would be."""
        if self.shadow is not None and self.shadow.holds(finding.rule):
            return verdict.with_shadow(finding)
        return verdict.with_finding(finding)

    @property
    def hides(self) -> Hides | None:
        """What the policy says of placeholders; None where nothing is hidden from the model."""
        return next((check for check in self.checks if isinstance(check, Hides)), None)


def decide(policy: Policy | None, call: ToolCall, history: History) -> Verdict:
    """The verdict on `call`.

    Same policy, call and history: same verdict. Never raises for what a call holds. Where rules are
    in shadow, `Verdict.shadow` is what all of them would have said.
    """
    began = now() if switch.on else None
    if policy is None:
        verdict = _NO_POLICY
    elif policy.enforced is None:
        verdict = _judged(policy, policy.asked, call, history)
    else:
        verdict = _judged(policy, policy.enforced, call, _beside_shadow(policy, history))
        verdict = replace(verdict, shadow=_judged(policy, policy.asked, call, history))
    return verdict if began is None else timed(verdict, began)


def _beside_shadow(policy: Policy, history: History) -> History:
    """The history as enforced checks know it. Conditions of `tools` ask what is private: nothing
    is for them where `private` is in shadow."""
    if policy.shadow is None or not policy.shadow.holds(PRIVATE):
        return history
    return replace(history, ledger=history.judged_by(policy.digest).ledger.public())


def _judged(
    policy: Policy, checks_of: tuple[Check, ...], call: ToolCall, history: History
) -> Verdict:
    """What these checks of the policy say."""
    if call.fault is not None:
        reason = f"the call cannot be checked: {policy.redactor.shown(call.fault)}"
        finding = Finding("arguments", "block", reason, allowed=_READABLE)
        return Verdict("block", (finding,), policy.digest)
    fault = name_fault(call.name)
    if fault:
        finding = Finding("tool_name", "block", fault, allowed=_NAMEABLE)
        return Verdict("block", (finding,), policy.digest)
    if not checks_of and policy.shadow is not None:
        return policy.no_objection  # whatever no rule could see whole
    history = history.judged_by(policy.digest)
    try:
        examined = Examined(call, policy.patterns)
    except Exception as error:  # noqa: BLE001 - what cannot be read must not get through
        return Verdict("block", (_failed("arguments", error, "block"),), policy.digest)
    findings: list[Finding] = []
    prompted = examined.hits or history.sent or checks_of is not policy.asked
    checks = iter(checks_of if prompted else policy.unprompted)
    while not examined.too_long:
        try:
            for check in checks:
                if found := check(examined, history):
                    findings += found
            break
        except Exception as error:  # noqa: BLE001 - what cannot be checked must not get through
            word: Word = "block" if policy.fail_closed else "allow"
            findings.append(_failed(check.rule, error, word))
    if examined.bounds:
        findings += _bounds(examined)
    if not findings:
        return policy.no_objection
    if examined.hits or policy.redactor.literals:
        findings = [_without_secrets(finding, policy.redactor) for finding in findings]
    worst = strictest(findings)
    if len(findings) > _MAX_FINDINGS:
        findings = sorted(findings, key=lambda f: f.word != worst)[:_MAX_FINDINGS]
    return Verdict(worst, tuple(findings), policy.digest)


def _without_secrets(finding: Finding, redactor: Redactor) -> Finding:
    """The finding, masked where the name of its argument is a secret: a model chooses names."""
    name, found = redactor.secrets(finding.argument)
    if not found:
        return finding
    return replace(finding, argument=name, reason=redactor.secrets(finding.reason)[0])


def _failed(rule: str, error: Exception, word: Word) -> Finding:
    # The exception's text may quote the arguments; its type does not.
    rest = "" if word == "block" else "; allowed because of fail_closed: false"
    return Finding(rule, word, f"the check '{rule}' failed ({type(error).__name__}){rest}")


def _bounds(examined: Examined) -> Iterator[Finding]:
    for index, limit in examined.bounds:
        path = examined.path(index)
        place = f"argument '{path}': " if path else ""
        yield Finding("arguments", "block", f"{place}{limit}", argument=path, allowed=_READABLE)
