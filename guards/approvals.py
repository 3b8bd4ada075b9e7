"""Approvals that last: a person's yes to one call that also answers for later ones like it.

A scope fixes the values of some arguments and leaves the others free, for a while, in one thread,
for one caller, under one policy. It answers the question that was asked, and no other: a later call
that is asked about for another reason is asked about again, and what is blocked stays blocked (I4).

A grant lies in the thread's state under a seal (a keyed hash, as tickets have): whoever can write
the state can take a grant away, and neither make one nor stretch it (I2).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .caller import Caller
from .fields import Kind, kind_of
from .ticket import TicketKey
from .verdict import Arguments, Finding, ToolCall, Verdict, canonical_json

DEFAULT_MAX_S = 3_600
"""Seconds that an approval may last where the policy says nothing of it."""

MAX_GRANTS = 100
"""Grants that a thread keeps; the oldest go first."""

_POINTS = Kind.POINTS | Kind.PATH | Kind.COMMAND

Grant = dict[str, Any]
"""One lasting approval as plain data: `tool`, `fixed`, `rules`, `until`, `by`, `at`, `call`,
`seal`."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a grant is bound to besides its own words, and what is its seal's."""

    key: TicketKey
    thread: str
    policy: str
    caller: Caller

    def seal(self, grant: Mapping[str, Any]) -> str:
        """The seal of a grant's words in this thread, under this policy, for this caller."""
        said = [grant[name] for name in ("tool", "fixed", "rules", "until", "by", "at", "call")]
        who = [self.caller.user, self.caller.tenant, *sorted(self.caller.roles)]
        return self.key.seal([*said, self.thread, self.policy, who], use="approval")

    def holds(self, grant: object) -> bool:
        """Whether the grant is one of ours, word for word."""
        if not isinstance(grant, Mapping):
            return False
        try:
            return self.key.is_seal(grant.get("seal"), self.seal(grant))
        except (KeyError, TypeError, ValueError, RecursionError):
            return False


def offered(call: ToolCall, verdict: Verdict, *, max_s: int) -> dict[str, Any] | None:
    """The scope that a person is offered with a question; None where no approval may last.

    Fixed are the arguments that the question is about and those that say where the call leads; all
    of them where none does.
    """
    asks = _asks(verdict)
    if max_s < 1 or any(finding.rests_on is None for finding in asks):
        return None
    needed = {name for finding in asks for name in finding.rests_on or ()}
    leads = {name for name in call.arguments if kind_of(name) & _POINTS}
    names = [name for name in call.arguments if name in needed | leads]
    names = names or list(call.arguments)
    if needed - set(names):
        return None
    return {"arguments": names, "for_s": max_s}


def scope_fault(
    names: Sequence[str], for_s: int, call: ToolCall, verdict: Verdict, *, max_s: int
) -> str:
    """Why this question's answer cannot have that scope; empty where it can."""
    asks = _asks(verdict)
    if max_s < 1:
        return f"the policy wants every call of {call.name} approved by itself; leave `scope` out"
    if for_s > max_s:
        return f"for_s: at most {max_s}, by the policy"
    if any(finding.rests_on is None for finding in asks):
        return "what is asked about here is asked each time; leave `scope` out"
    unknown = [name for name in names if name not in call.arguments]
    if unknown:
        return f"arguments: the call has no {unknown[0]}; it has {', '.join(call.arguments)}"
    missing = sorted({n for f in asks for n in f.rests_on or ()} - set(names))
    if missing:
        return f"arguments: the question is about {missing[0]}; the scope has to fix it"
    if not names and call.arguments:
        return "arguments: at least one, whose value is fixed"
    return ""


def granted(
    call: ToolCall,
    verdict: Verdict,
    names: Sequence[str],
    *,
    until: int,
    by: str,
    at: str,
    bounds: Bounds,
) -> Grant:
    """The grant for an approval of `call` that fixes the arguments `names`."""
    grant: Grant = {
        "tool": call.name,
        "fixed": {name: call.arguments[name] for name in names},
        "rules": sorted({finding.rule for finding in _asks(verdict)}),
        "until": until,
        "by": by,
        "at": at,
        "call": call.id,
    }
    return {**grant, "seal": bounds.seal(grant)}


def covering(
    grants: Iterable[Grant], call: ToolCall, verdict: Verdict, *, now: float, bounds: Bounds
) -> Grant | None:
    """The grant that answers for this call, whose verdict is `ask`; None where none does."""
    if verdict.word != "ask":
        return None
    for grant in grants:
        if (
            bounds.holds(grant)
            and grant["tool"] == call.name
            and now < grant["until"]
            and _as_fixed(grant["fixed"], call.arguments)
            and all(_answers(grant, finding) for finding in _asks(verdict))
        ):
            return grant
    return None


def live(grants: Iterable[Grant], *, now: float) -> list[Grant]:
    """The grants that are worth keeping: not run out, the newest of them."""
    return [
        grant
        for grant in grants
        if isinstance(grant, Mapping)
        and isinstance(grant.get("until"), int)
        and now < grant["until"]
    ][-MAX_GRANTS:]


def _asks(verdict: Verdict) -> list[Finding]:
    return [finding for finding in verdict.findings if finding.word == "ask"]


def _as_fixed(fixed: Arguments, arguments: Arguments) -> bool:
    if not fixed:
        return not arguments  # of a call without arguments: that very call
    return all(
        name in arguments and canonical_json(arguments[name]) == canonical_json(value)
        for name, value in fixed.items()
    )


def _answers(grant: Grant, finding: Finding) -> bool:
    """Whether the person was asked this: by the same rule, and about values that are fixed."""
    return (
        finding.rule in grant["rules"]
        and finding.rests_on is not None
        and all(name in grant["fixed"] for name in finding.rests_on)
    )
