"""The guard's questions to a person, their answers, and approvals that last."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from typing_extensions import Self

from ..guards.approvals import Bounds, Grant, covering, granted, offered, scope_fault
from ..guards.audit import Record, answer_record, record, utc
from ..guards.ledger import History
from ..guards.veil import Veil
from ..guards.verdict import Finding, ToolCall, Verdict
from ._base import Here


class Scope(BaseModel):
    """What else an approval answers for: calls with the same values of these arguments."""

    model_config = ConfigDict(extra="forbid", strict=True)

    arguments: list[str]
    for_s: int = Field(ge=1)


class Answer(BaseModel):
    """One person's answer to one call: approve it, reject it, or run it with other arguments."""

    model_config = ConfigDict(extra="forbid", strict=True)

    decision: Literal["approve", "edit", "reject"]
    args: dict[str, Any] | None = None
    reason: str = ""
    by: str = ""
    scope: Scope | None = None
    withheld: list[str] = []
    """Which secrets the graph masked in `args` before it stored them; people do not write this."""

    @model_validator(mode="after")
    def _what_goes_together(self) -> Self:
        if (self.args is not None) != (self.decision == "edit"):
            raise ValueError("`args` goes with `edit`, and only with it")
        if self.scope is not None and self.decision != "approve":
            raise ValueError("`scope` goes with `approve`, and only with it")
        return self


@dataclass(frozen=True, slots=True)
class Decided:
    """One call on its way through the guard."""

    call: ToolCall
    verdict: Verdict
    past: History
    """What it was decided on."""
    approval: Mapping[str, Any] | None = None
    grant: Grant | None = None
    """The lasting approval that was given with this call."""

    @property
    def asks(self) -> bool:
        """Whether the call still waits for a person."""
        return self.verdict.word == "ask" and self.approval is None

    def recorded(self, veil: Veil) -> Record:
        """The record of the verdict, as it may be stored."""
        return veil.record(record(veil.call(self.call), self.verdict, approval=self.approval))

    @property
    def may_run(self) -> bool:
        if self.verdict.word == "ask":
            return self.approval is not None and self.approval["decision"] != "reject"
        return self.verdict.word in ("allow", "redact")


def question_for(asked: Decided, here: Here) -> dict[str, Any]:
    """What a person is shown; secrets were masked when the model's message was kept.

    `scope`, where an approval may last, is one that an answer may hand back as it is.
    """
    shown = asked.recorded(here.veil) | {"args": here.veil.call(asked.call).arguments}
    scope = offered(asked.call, asked.verdict, max_s=_longest(asked.call, here))
    return shown | {"scope": scope} if scope else shown


def answers_to(waiting: Mapping[str, Decided], here: Here) -> Any:
    """The type of what answers these calls: by id, each scope one that its question allows."""
    ids = tuple(waiting)

    def fitting(answers: dict[str, Answer]) -> dict[str, Answer]:
        for call_id, answer in answers.items():
            asked, scope = waiting[call_id], answer.scope
            if scope is None:
                continue
            most = _longest(asked.call, here)
            fault = scope_fault(scope.arguments, scope.for_s, asked.call, asked.verdict, max_s=most)
            if fault:
                raise ValueError(f"{call_id}: scope: {fault}")
        return answers

    return Annotated[dict[Literal[ids], Answer], AfterValidator(fitting)]  # type: ignore[valid-type]


ANSWER_USED = Finding(
    "ask",
    "block",
    "the answer to the question about this call was used already; if the call is still wanted,"
    " propose it again",
)
"""Said of a call that would run once more by the same answer of a person."""


def used_once(decided: list[Decided], asked: Collection[str], here: Here) -> list[Decided]:
    """The calls, those refused that were `asked` about if the answer was used before."""
    if here.is_first_use is None or here.is_first_use():
        return decided
    return [
        replace(d, verdict=d.verdict.with_finding(ANSWER_USED), grant=None)
        if d.call.id in asked and d.may_run
        else d
        for d in decided
    ]


def approval_of(answer: Answer, asked: Decided, here: Here) -> tuple[dict[str, Any], Grant | None]:
    """The record of an answer, and the grant that it makes."""
    now = here.clock()
    # Masked: a parent graph's door masks nothing, and the record is kept.
    approval = answer_record(
        answer.decision,
        by=answer.by,
        reason=answer.reason,
        at=now,
        redactor=here.policy.redactor,
    )
    scope = answer.scope
    if scope is None:
        return approval, None
    until = int(now) + scope.for_s
    approval["scope"] = {"arguments": scope.arguments, "until": utc(until)}
    grant = granted(
        asked.call,
        asked.verdict,
        scope.arguments,
        until=until,
        by=approval["by"],
        at=approval["at"],
        bounds=bounds_of(here),
    )
    return approval, grant


def lasting(asked: Decided, grants: Sequence[Grant], here: Here) -> Mapping[str, Any] | None:
    """The record of the earlier approval that answers for this call; None where none does."""
    if not grants:
        return None
    now, bounds = here.clock(), bounds_of(here)
    grant = covering(grants, asked.call, asked.verdict, now=now, bounds=bounds)
    if grant is None:
        return None
    fixed, until = list(grant["fixed"]), utc(grant["until"])
    scope = {"arguments": fixed, "until": until, "call": grant["call"]}
    given = {"decision": "approve", "by": grant["by"], "reason": "", "at": grant["at"]}
    return {**given, "scope": scope}


def bounds_of(here: Here) -> Bounds:
    """What the grants of this run are bound to."""
    assert here.tickets is not None
    return Bounds(here.tickets, here.thread, here.policy.digest, here.caller)


def _longest(call: ToolCall, here: Here) -> int:
    """Seconds that an approval of the call may last; 0 where it would keep what must not be."""
    if here.policy.redactor.value(call.arguments) != call.arguments or here.veil.hides(call):
        return 0
    return here.policy.approval_s(call.name)
