"""guard: decides every proposed call; the only kind whose `allow` leads into a tool node.

Reads: messages, run, ledger, withheld, verdicts, approvals, vault.
Writes: messages, run, verdicts, approvals, approved.
Outcomes: `allow` (at least one call may run), `block` (none may).

    nodes: {guard: {kind: guard}}
    edges: {guard.allow: tool, guard.block: act}

Calls are parsed and validated through the tool's schema before any rule looks at them (I3). What
may run gets a ticket; what may not is answered here, so that every call id has one answer. Calls
whose verdict is `ask` are put to a person all at once, by id; the run waits for the answers. An
approval with a `scope` answers for later calls, too (`guards/approvals.py`).
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any, Literal

from ..guards.approvals import Grant, live
from ..guards.audit import Record, edit_of
from ..guards.decide import decide
from ..guards.ledger import History, Ledger
from ..guards.pieces import beside, kept
from ..guards.receipts.keeping import Decision, receipts_of, unkept
from ..guards.receipts.past import TOLD
from ..guards.rules.sequence import Order, order_of
from ..guards.telemetry.current import listening
from ..guards.verdict import Finding, ToolCall, masked_call
from ..guards.withheld import masked_arguments, with_withheld
from ._approvals import (
    Answer,
    Decided,
    answers_to,
    approval_of,
    lasting,
    question_for,
    used_once,
)
from ._base import (
    TURN,
    Effect,
    Here,
    KeepReceipts,
    NodeSpec,
    Result,
    State,
    Step,
    Tell,
    as_arguments,
    open_calls,
)
from ._messages import MessageLog
from ._order import ORDER, gone_on, standing
from ._private import PRIVATE, seen_by, with_gap
from ._proposed import is_changed, unasked
from ._refusals import FINGERPRINT, broken, over, refusal, unread
from ._shorten import READ_REST, reads_own


class Spec(NodeSpec):
    reads = frozenset({"messages", "run", "ledger", "withheld", "verdicts", "approvals", "vault"})
    writes = frozenset({"messages", "run", "verdicts", "approvals", "approved"})
    needs = frozenset({"catalog", "tickets", "pause", "veil", "used", "place", "readable"})

    kind: Literal["guard"]

    def outcomes(self) -> tuple[str, ...]:
        return ("allow", "block")


def step(spec: Spec, state: State, here: Here) -> Step:
    message, waiting = open_calls(state.get("messages") or [])
    if message is None:
        return Result("block", {"approved": []})
    rule = order_of(here.policy)
    order = None if rule is None else standing(rule.automata, state)
    proposed = [call for call in message.tool_calls if call["id"] in waiting]
    seen = seen_by(here.policy, state)
    history = _history(state, here, order, seen)
    if here.used is not None:
        history = replace(history, used=here.used(len(proposed)))
    decided = _decided(proposed, state, here, history)
    if rule is not None and len(decided) > 1:
        decided = _beside(decided, rule, here)
    if any(d.asks for d in decided):
        decided = _covered(decided, state.get("approvals") or [], here)
    if is_changed(state, waiting, here):
        decided = unasked(decided, here)
    if asked := {d.call.id for d in decided if d.asks}:
        decided = used_once(_ask(decided, here, history), asked, here)
    decided, records, told = yield from _kept(decided, state, here)
    unreadable = [call for call in message.invalid_tool_calls if call["id"] in waiting]
    result = _settle(unreadable, decided, records, state, here)
    if rule is not None and order is not None:
        through = {d.call.id: d.call.name for d in decided if d.may_run}
        result.update["run"][ORDER] = gone_on(rule.automata, order, through)
    if seen is not None:
        result.update["run"][PRIVATE] = seen
    if told and here.policy.keeps_history:
        result.update["run"][TOLD] = told
    return result


def _kept(
    decided: list[Decided], state: State, here: Here
) -> Generator[Effect, Any, tuple[list[Decided], list[Record], list[Any]]]:
    """The calls once their receipts are kept, blocked where they could not be; their records; and
    how much of the ledger stands in receipts then."""
    veil, told = here.veil, list[Any]()
    records = [d.recorded(veil) for d in decided]
    if here.policy.receipts is not None and decided:
        finding, told = yield from _written(decided, records, state, here)
        if finding is not None:
            decided = [replace(d, verdict=d.verdict.with_finding(finding)) for d in decided]
            records = [d.recorded(veil) for d in decided]
    if listening():
        listed = (Decision(veil.call(d.call), d.verdict, d.past, d.approval) for d in decided)
        yield Tell(here.policy, here.place, tuple(listed))
    return decided, records, told


def _written(
    decided: list[Decided], records: list[Record], state: State, here: Here
) -> Generator[Effect, Any, tuple[Finding | None, list[Any]]]:
    policy, ledger = here.policy, _ledger(state)
    assert policy.receipts is not None
    listed = [Decision(d.call, d.verdict, d.past, d.approval) for d in decided]
    # A thread that began before its receipts told of it: what it saw then is nowhere.
    lost = not ledger.told[1] and bool(state.get("verdicts"))
    receipts = receipts_of(policy, here.place, listed, records, ledger, here.veil, lost=lost)
    try:
        yield KeepReceipts(policy.receipts, tuple(receipts))
    except Exception as error:  # noqa: BLE001 - whatever a log raises, nothing runs unrecorded
        return unkept(policy, error), []
    return None, [len(ledger), receipts[-1]["receipt"]]


def _ledger(state: State) -> Ledger:
    """The thread's ledger, which knows what of it stands in receipts."""
    ledger = state.get("ledger") or []
    ledger = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
    if told := (state.get("run") or {}).get(TOLD):
        ledger.tell(*told)
    return ledger


def _history(
    state: State, here: Here, order: Mapping[str, Any] | None, seen: Mapping[str, Any] | None
) -> History:
    run = state.get("run") or {}
    return History(
        ledger=with_gap(here.veil.ledger(_ledger(state)), seen),
        thread=here.thread,
        calls=run.get("calls") or {},
        tokens_used=int(run.get("spent") or 0),
        caller=here.caller,
        order=None if order is None else tuple(order["states"]),
        sent=tuple(run.get("sent") or ()),
    )


def _decided(
    proposed: Sequence[Mapping[str, Any]], state: State, here: Here, history: History
) -> list[Decided]:
    """The calls of one turn, one by one: those that go through count for the ones after them.

    What is sent in pieces is not safe in any order: each is judged beside the pieces of all others.
    """
    assert here.catalog is not None
    decided: list[Decided] = []
    calls = [
        here.catalog.canonical(
            here.veil.revealed(ToolCall(c["name"], as_arguments(c["args"]), id=c["id"]))
        )
        for c in proposed
    ]
    window = history.sent
    for call, others in zip(calls, beside([call.arguments for call in calls]), strict=True):
        past = replace(history, sent=(*window, *others)) if others else history
        judged = _judge(call, state, here, past)
        decided.append(judged)
        if len(decided) < len(calls):
            history = _gone_through(history, [judged])
    return decided


def _beside(decided: list[Decided], rule: Order, here: Here) -> list[Decided]:
    """The calls of one turn, each with what the others that may run mean to it: in any order."""
    through = {d.call.id: d for d in decided if d.verdict.word != "block"}
    before = decided[0].past.order or ()
    names = [d.call.name for d in through.values()]
    for d, states in zip(list(through.values()), rule.automata.beside(before, names), strict=True):
        if states != before:
            past = replace(d.past, order=states)
            met = rule.met(d.call.name, states)
            new = (finding for finding in met if finding not in d.verdict.would_be.findings)
            verdict = reduce(here.policy.objected, new, d.verdict)
            through[d.call.id] = replace(d, verdict=verdict, past=past)
    return [through.get(d.call.id, d) for d in decided]


def _judge(call: ToolCall, state: State, here: Here, history: History) -> Decided:
    if call.name == READ_REST and _reads_own(call, state, here):
        history = replace(history, granted=frozenset((READ_REST,)))
    verdict = decide(here.policy, call, history)
    withheld = (state.get("withheld") or {}).get(call.id) or ()
    verdict = with_withheld(here.policy, call, verdict, withheld)
    return Decided(masked_call(call, verdict), verdict, history)


def _reads_own(call: ToolCall, state: State, here: Here) -> bool:
    """Whether this is the framework's own tool, and the result one that this caller was given."""
    messages = state.get("messages") or []
    log = messages if isinstance(messages, MessageLog) else MessageLog(messages)
    return here.readable and reads_own(log.answer(str(call.arguments.get("call"))), here.caller)


def _covered(decided: list[Decided], grants: Sequence[Grant], here: Here) -> list[Decided]:
    """The calls, those answered for for which an earlier approval lasts."""
    return [replace(d, approval=lasting(d, grants, here)) if d.asks else d for d in decided]


def _ask(decided: list[Decided], here: Here, history: History) -> list[Decided]:
    """The calls with their answers. Raises out of the step while an answer is missing."""
    if here.pause is None:
        return [_unanswerable(d) if d.asks else d for d in decided]
    while waiting := {d.call.id: d for d in decided if d.asks}:
        questions = [question_for(d, here) for d in waiting.values()]
        answers = here.pause({"type": "approval", "calls": questions}, answers_to(waiting, here))
        # Edits last: what they are judged by is what else of this turn goes through.
        for call_id, answer in sorted(answers.items(), key=lambda a: a[1].decision == "edit"):
            asked = waiting[call_id]
            past = _gone_through(history, [d for d in decided if d.call.id != call_id])
            past = replace(past, order=asked.past.order, sent=asked.past.sent)
            answered = _answered(asked, answer, here, past)
            decided = [answered if d.call.id == call_id else d for d in decided]
        given = [d.grant for d in decided if d.grant is not None]
        decided = _covered(decided, given, here)
    return decided


def _gone_through(history: History, decided: Sequence[Decided]) -> History:
    """The history with those calls in it that run, or still may."""
    for d in decided:
        if d.may_run or d.asks:
            history = history.let_through(d.call.name)
    return history


def _unanswerable(asked: Decided) -> Decided:
    reason = f"{asked.verdict.reason}; it needs an approval, and nobody can be asked here"
    finding = Finding(rule="ask", word="block", reason=reason)
    return replace(asked, verdict=asked.verdict.with_finding(finding))


def _answered(asked: Decided, answer: Answer, here: Here, history: History) -> Decided:
    approval, grant = approval_of(answer, asked, here)
    if answer.decision != "edit":
        return replace(asked, approval=approval, grant=grant)
    assert here.catalog is not None
    args = here.veil.answered(as_arguments(answer.args))
    call = here.catalog.canonical(here.veil.revealed(replace(asked.call, arguments=args)))
    approval |= edit_of(here.veil.call(asked.call), here.veil.call(call))
    verdict = decide(here.policy, call, history)
    masked, labels = masked_arguments(call.arguments, here.policy.redactor)
    labels = (*answer.withheld, *labels)
    if labels:  # a person's secret is none the less a secret: the call goes on through the state
        call = replace(call, arguments=masked)
        verdict = with_withheld(here.policy, call, verdict, sorted(set(labels)))
    return Decided(masked_call(call, verdict), verdict, history, approval)


def _settle(
    unreadable: Sequence[Mapping[str, Any]],
    decided: list[Decided],
    records: list[Record],
    state: State,
    here: Here,
) -> Result:
    """Tickets for what may run, answers for the rest, a record for each."""
    assert here.tickets is not None
    answers = [broken(call) for call in unreadable]
    approved: list[dict[str, Any]] = []
    run = dict(state.get("run") or {})
    calls: dict[str, int] = dict(run.get("calls") or {})
    for d in decided:
        if d.may_run:
            ticket = here.tickets.sign(d.call, thread=here.thread, policy=here.policy.digest)
            approved.append({**here.veil.packed(d.call), "ticket": ticket})
            calls[d.call.name] = calls.get(d.call.name, 0) + 1
        else:
            answers.append(refusal(d, here))
    sent = tuple(run.get("sent") or ())
    window = kept(sent, [here.veil.call(d.call).arguments for d in decided if d.may_run])
    if window != sent:
        run["sent"] = list(window)
    run |= {"calls": calls}
    if why := over(decided):
        run["over"] = why
    update: dict[str, Any] = {"approved": approved, "run": run}
    turn = {str(c["id"]): (c.get("name") or "unknown", unread(c), False) for c in unreadable}
    if decided:
        update["verdicts"] = records
        for d, told in zip(decided, records, strict=True):
            turn[d.call.id] = (d.call.name, told["fingerprint"][:FINGERPRINT], d.may_run)
    run[TURN] = turn
    if answers:
        update["messages"] = answers
    given = [d.grant for d in decided if d.grant is not None]
    if given:
        grants = [*(state.get("approvals") or []), *given]
        update["approvals"] = live(grants, now=here.clock())
    return Result("allow" if approved else "block", update)
