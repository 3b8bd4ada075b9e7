"""Telemetry on and off, and what doors tell it. Off, as it is at first, nothing happens."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any, Literal

from ...arguments import refusal
from ...extras import MissingExtra
from ..redact import Redactor
from ..verdict import ToolCall
from .operation import (
    EXECUTE_TOOL,
    NOBODY_LISTENS,
    OPERATION,
    Attributes,
    Operation,
    Spanned,
    Value,
    masked,
    shown,
)
from .safely import safely
from .timing import switch

if TYPE_CHECKING:
    from ..decide import Policy
    from ..receipts.keeping import Decision
    from ..receipts.receipt import Place
    from .instruments import Instruments

Content = Literal["none", "masked"]

MOST_WAITING = 10_000
"""Calls that wait and are remembered, so that none is counted twice."""


class _Current:
    instruments: Instruments | None = None
    waiting: OrderedDict[tuple[str, str], str]


_current = _Current()
_current.waiting = OrderedDict()


def instrument(
    *,
    tracer_provider: Any = None,
    meter_provider: Any = None,
    content: Content = "none",
) -> None:
    """Tell OpenTelemetry of every decision, and of the agents, models and tools that run.

    For this whole process, whichever door is used. The providers are the SDK's: those given here,
    or else the global ones. `content`: whether spans also hold what users, models and tools wrote,
    its secrets and personal data masked; without it they hold names, ids, numbers and verdicts.

    Raises:
        MissingExtra: opentelemetry-api is not installed.
        ValueError: `content` is no such word. TypeError: a provider is none.
    """
    for name, given, method in (
        ("tracer_provider", tracer_provider, "get_tracer"),
        ("meter_provider", meter_provider, "get_meter"),
    ):
        if given is not None and not hasattr(given, method):
            raise refusal(
                name, given, f"a provider of OpenTelemetry's SDK (with {method}), or None"
            )
    if content not in ("none", "masked"):
        raise ValueError(f"content: {content!r} is not allowed; allowed: 'none', 'masked'")
    try:
        from .instruments import Instruments

        made = Instruments(tracer_provider, meter_provider, content=content == "masked")
    except ModuleNotFoundError as error:
        raise MissingExtra("telemetry needs `pip install 'edgeward[otel]'`") from error
    _current.instruments = made
    switch.on = True


def uninstrument() -> None:
    """Tell nobody any more. What has begun ends as it began."""
    switch.on = False
    _current.instruments = None
    _current.waiting.clear()


def listening() -> bool:
    """Whether anybody is told."""
    return _current.instruments is not None


def operation(
    kind: str, name: str, redactor: Redactor, attributes: Attributes | None = None
) -> Operation:
    """An operation that begins now: its kind (`chat` …), of what; nothing where nobody listens."""
    instruments = _current.instruments
    if instruments is None:
        return NOBODY_LISTENS
    told = {OPERATION: kind, **(attributes or {})}
    return Spanned(instruments, f"{kind} {name}".rstrip(), told, redactor)


def executing(call: ToolCall, redactor: Redactor, *, thread: str = "") -> Operation:
    """The operation of running a tool."""
    told = operation(EXECUTE_TOOL, call.name, redactor, _A_FUNCTION)
    if told.on:
        told.note("gen_ai.tool.name", call.name)
        told.note("gen_ai.tool.call.id", call.id)
        told.note("gen_ai.conversation.id", thread)
        told.content("gen_ai.tool.call.arguments", lambda: call.arguments)
    return told


def ran(told: Operation, result: object, *, failed: bool = False, kind: str = "") -> None:
    """What came of running a tool: what it gave back, or what kind of failure it was."""
    if told.on:
        _ran(told, result, kind or "tool_error" if failed else "")


@safely
def _ran(told: Operation, result: object, failure: str) -> None:
    if failure:
        told.failed(failure, lambda: str(result))
    else:
        told.content("gen_ai.tool.call.result", lambda: result)


_A_FUNCTION = {"gen_ai.tool.type": "function"}


def tell(policy: Policy, place: Place, decisions: Iterable[Decision]) -> None:
    """Tell of decisions, as they came out in the end."""
    if _current.instruments is not None:
        for decision in decisions:
            _tell(_current.instruments, policy, place, decision)


@safely
def _tell(instruments: Instruments, policy: Policy, place: Place, decision: Decision) -> None:
    call, verdict, timing = decision.call, decision.verdict, decision.verdict.timing
    counted: dict[str, Value] = {
        "edgeward.verdict": verdict.word,
        "edgeward.door": place.door,
        "edgeward.policy.name": policy.name,
    }
    if verdict.shadow is not None:
        counted["edgeward.shadow.verdict"] = verdict.shadow.word
    if decision.approval is not None:
        counted["edgeward.approval"] = str(decision.approval["decision"])
    told: dict[str, Value] = {
        **counted,
        "edgeward.policy.digest": verdict.policy,
        "edgeward.rules": [f.rule for f in verdict.findings if f.word != "allow"],
        "edgeward.shadow.rules": [f.rule for f in verdict.shadowed if f.word != "allow"],
        "gen_ai.agent.id": place.agent,
        "gen_ai.conversation.id": decision.history.thread,
        "gen_ai.tool.name": call.name,
        "gen_ai.tool.call.id": call.id,
    }
    redactor = policy.redactor
    known = {name: masked(value, redactor) for name, value in told.items() if value}
    if instruments.content:
        known["edgeward.reason"] = shown(verdict.reason, redactor)
        known["gen_ai.tool.call.arguments"] = shown(call.arguments, redactor)
    seconds = None if timing is None else timing[1] / 1e9
    instruments.count_decision(counted, seconds)
    name = f"decide {known.get('gen_ai.tool.name', '')}".rstrip()
    span = instruments.start(name, known, at=None if timing is None else timing[0])
    span.end(None if timing is None else sum(timing))


@safely
def waits(door: str, thread: str, calls: Collection[str]) -> None:
    """Calls (their ids) of a thread wait for a person."""
    if _current.instruments is not None:
        new = {(thread, call): door for call in calls if (thread, call) not in _current.waiting}
        _current.waiting.update(new)
        while len(_current.waiting) > MOST_WAITING:
            _current.waiting.popitem(last=False)
        _count_waiting(door, len(new))


@safely
def answered(door: str, thread: str, calls: Collection[str]) -> None:
    """They wait no more. They may have begun to in another process."""
    if _current.instruments is not None:
        for call in calls:
            _current.waiting.pop((thread, call), None)
        _count_waiting(door, -len(calls))


@safely
def left_behind(thread: str) -> None:
    """The user went on in this thread without an answer."""
    if _current.waiting:
        left = {key: door for key, door in _current.waiting.items() if key[0] == thread}
        for (_, call), door in left.items():
            answered(door, thread, [call])


def _count_waiting(door: str, calls: int) -> None:
    if calls and _current.instruments is not None:
        _current.instruments.count_waiting(calls, {"edgeward.door": door})
