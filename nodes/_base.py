"""The node contract: what a node kind declares, what it gets, what it gives back.

A kind is one module: a docstring, a `Spec` (its YAML fields and what it reads, writes, needs and
can end in) and `step`, a generator without I/O. It yields what it wants done (`CallModel`,
`RunTool`) and is sent the answer; the graph does the I/O, sync or async, so that the logic exists
once. A step holds no callable it was not given: only the tool kind gets the tool runner.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    ToolMessage,
)
from pydantic import BaseModel, ConfigDict

from ..guards.caller import NOBODY, Caller
from ..guards.decide import Policy
from ..guards.faults import AgentError, masked_fault
from ..guards.langchain.session import ESTIMATED, usage_of
from ..guards.ledger import USER, Entry, Ledger
from ..guards.receipts.keeping import Decision
from ..guards.receipts.log import ReceiptLog
from ..guards.receipts.past import SHOWN_ONLY, TOLD
from ..guards.receipts.receipt import Place
from ..guards.ticket import TicketKey
from ..guards.veil import BARE, Veil
from ..guards.verdict import Arguments, ToolCall
from ._index import LISTING, SHOWN, Index
from ._messages import rewritten
from ._turns import call_ids, whole_turns

State = Mapping[str, Any]
Update = dict[str, Any]

DEFAULT_MAX_STEPS = 10

GRAPH = Place("graph")

STATE_KEYS = frozenset(
    {"messages", "run", "ledger", "verdicts", "plan", "critique", "withheld", "approvals", "vault"}
)
"""The keys of a graph's state; `graphs/state.py` says what each is."""

APPROVED = "approved"
"""What a guard writes besides: no state, but the calls that go on to the tool node."""

CUT = "cut"
"""Of a thread's counters: the ids of calls whose results are shown shortened."""

OF_THE_THREAD = ("spent", "order", "private", "sent", TOLD, CUT, SHOWN)
"""Counters among those of a run that go on with the thread."""

TURN = "turn"
"""Of a run's counters: what a guard decided last, by call id: tool, fingerprint, let through."""


class NodeSpec(BaseModel):
    """The YAML fields of one node; a kind adds its own.

    The class variables are the kind's declaration: `reads` and `writes` are state keys, `needs`
    the parts of `Here` it is given, `counted` the outcomes that a run can take a
    bounded number of times: every loop needs one.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    reads: ClassVar[frozenset[str]] = frozenset()
    writes: ClassVar[frozenset[str]] = frozenset()
    needs: ClassVar[frozenset[str]] = frozenset()
    counted: ClassVar[frozenset[str]] = frozenset()

    kind: str

    def outcomes(self) -> tuple[str, ...]:
        """The words this node can end in; every one must be routed (I6)."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Result:
    """What a step ends with: its outcome and the state keys it writes."""

    outcome: str
    update: Update = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CallModel:
    """Ask the chat model; the answer is an `AIMessage`. `tools`: whether it may propose calls.

    `more`: tools that it is shown besides those that it is always shown.
    `max_tokens`: how much it may write, where a limit leaves less than it would. The graph sees to
    that. `size`: the tokens that the messages take by `_sizes`, where that need not be counted.
    `texts`: whether they are known to be text alone.
    """

    messages: list[BaseMessage]
    tools: bool = True
    more: tuple[str, ...] = ()
    size: int | None = None
    max_tokens: int | None = None
    texts: bool = False


@dataclass(frozen=True, slots=True)
class RunTool:
    """Run one call that holds a ticket; the answer is a `ToolOutcome`."""

    call: ToolCall
    ticket: object
    timeout_s: float


@dataclass(frozen=True, slots=True)
class UseStore:
    """Call a method of the long-term store (`put`, `search` …); the answer is what it returns."""

    method: Literal["put", "get", "search"]
    arguments: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class AskDetectors:
    """Ask the policy's detectors about a text; the answer is a tuple of `Opinion`."""

    text: str


@dataclass(frozen=True, slots=True)
class KeepReceipts:
    """Keep the receipts of what was decided; nothing is answered, and what fails is raised."""

    log: ReceiptLog
    receipts: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Tell:
    """Tell telemetry what was decided; nothing is answered, and nothing fails."""

    policy: Policy
    place: Place
    decisions: tuple[Decision, ...]


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What running a call came to: the text for the model, and whether it failed."""

    text: str
    failed: bool = False
    error: str = ""
    """What kind of failure it was: the exception's class, or `timeout`."""


Effect = CallModel | RunTool | UseStore | AskDetectors | KeepReceipts | Tell
Step = Generator[Effect, Any, Result]
ModelStep = Generator[Effect, Any, AIMessage]


class Catalog(Protocol):
    """The tools as the guard sees them: names and argument schemas, never the code."""

    @property
    def names(self) -> Sequence[str]:
        """The tools of which the model is told."""
        ...

    def canonical(self, call: ToolCall) -> ToolCall:
        """The call with its arguments as they will run, or with `fault` set."""
        ...


@dataclass(frozen=True, slots=True)
class Here:
    """What a step is given besides the state: the parts its kind needs, and the run's facts."""

    policy: Policy
    thread: str = ""
    max_steps: int = DEFAULT_MAX_STEPS
    prompt: str = ""
    catalog: Catalog | None = None
    tickets: TicketKey | None = None
    pause: Callable[[Any, Any], Any] | None = None
    """Puts a question to a person and returns the answer; None where nobody can be asked."""
    drop_answer: Callable[[], bool] | None = None
    """Whether a person has answered what this step asked; the answer counts no more."""
    is_first_use: Callable[[], bool] | None = None
    """Whether nobody else goes on by the same answer of a person's."""
    answered: Callable[[str], bool] | None = None
    """Whether the thread holds an answer to the call with this id."""
    caller: Caller = NOBODY
    """Who is asking, by the run's context."""
    clock: Callable[[], float] = time.time
    """The time, as seconds since 1970: approvals end."""
    veil: Veil = BARE
    """Hides personal data in what is stored, and puts it back in calls; see `guards/vault.py`."""
    used: Callable[[int], Mapping[str, Mapping[str, float]]] | None = None
    """What run, thread and caller have used, to judge so many calls by; None: nothing bounds."""
    boundary: str = ""
    """The code of the marks around tool outputs in this thread; empty: the policy wants none."""
    overhead: int = 0
    """Tokens that the system prompt and the tools' descriptions take in each request."""
    readable: bool = False
    """Whether the model can read the rest of a result that is shown shortened."""
    index: Index | None = None
    """The tools as a list, where the model asks for those it needs; None: it is shown all."""
    has_store: bool = False
    agent_id: str = ""
    place: Place = GRAPH
    """What the receipts of this graph say of it."""


class NodeFault(AgentError):
    """A node broke its contract, or its model failed. The message holds no secret."""


class LimitReached(RuntimeError):
    """A limit of the policy has no room for what a step asked for. `reason` is why a run stops."""

    def __init__(self, reason: str, told: str) -> None:
        super().__init__(told)
        self.reason = reason

    def __reduce__(self) -> tuple[type[LimitReached], tuple[str, str]]:
        return LimitReached, (self.reason, str(self))


class StepFunction(Protocol):
    """A kind's `step`: the logic of one node, as a generator of the effects it asks for."""

    def __call__(self, spec: Any, state: State, here: Here) -> Step: ...


@dataclass(frozen=True, slots=True)
class NodeKind:
    """One kind as the registry knows it."""

    name: str
    spec: type[NodeSpec]
    step: StepFunction
    origin: str
    """The module it comes from."""


def open_run(state: State, policy: Policy) -> tuple[dict[str, Any], Update, State]:
    """The run's counters, what there is to write at its beginning, and the state with that in it.

    A run begins with a message of the user: its counters start at zero, what the user wrote since
    the last look goes into the ledger, and calls that were left behind get an answer. Of results
    that came with the user's messages, as a graph hands them over that this one is a node of, only
    what is private counts. Whatever node comes first calls this; a later call in the same run finds
    everything as it is.
    """
    messages: Sequence[BaseMessage] = state.get("messages") or []
    run: dict[str, Any] = state.get("run") or {}
    first = not run  # of a thread: a parent graph may hand over what its nodes wrote last
    if not messages or not (first or isinstance(messages[-1], HumanMessage)):
        return run, {}, state
    here = len(messages) - 1
    if _key(messages, here) == run.get("id"):
        return run, {}, state
    ledger = state.get("ledger") or []
    if not isinstance(ledger, Ledger):
        ledger = Ledger(ledger)
    entries: list[Entry] = []
    names: dict[str, str] | None = None
    start = 0
    for position in range(here, -1, -1):
        if _key(messages, position) == run.get("id"):
            start = position
            break
        message = messages[position]
        if names is None and isinstance(message, ToolMessage) and not message.name:
            names = _tools(messages)
        entry = _observed(message, ledger, policy, names or {})
        if entry:
            entries.append(entry)
    update: Update = {"ledger": entries[::-1]} if entries else {}
    whole = whole_turns(messages, start)
    if whole is not messages:
        update["messages"] = rewritten(whole)
    begins = _key(whole, len(whole) - 1) if whole else _key(messages, here)
    fresh = {"id": begins, "steps": 0, "calls": {}, "tokens": {}}
    stays = {name: run[name] for name in OF_THE_THREAD if name in run}
    run = {**fresh, "stopped": "", "spent": 0, **stays}
    return run, update, {**state, "messages": whole}


def run_id(state: State) -> str | None:
    """What tells the run that goes on, or begins with the user's last message, from others."""
    messages: Sequence[BaseMessage] = state.get("messages") or []
    if messages and isinstance(messages[-1], HumanMessage):
        return _key(messages, len(messages) - 1)
    found: str | None = (state.get("run") or {}).get("id")
    return found


def _key(messages: Sequence[BaseMessage], position: int) -> str:
    """What tells one message of a thread from another, also where ids were never given."""
    return messages[position].id or f"#{position}"


def _observed(
    message: BaseMessage, ledger: Ledger, policy: Policy, names: Mapping[str, str]
) -> Entry | None:
    """The entry for a message; `names` are those of the tools by their calls' ids."""
    if isinstance(message, HumanMessage):
        return ledger.observed(message.text, source=USER)
    if isinstance(message, ToolMessage) and message.artifact != LISTING:
        name = message.name or names.get(message.tool_call_id, "unknown")
        call, source = ToolCall(name, id=message.tool_call_id), f"tool {name}"
        seen = policy.observed(call, message.text, source=source)
        kept = {key: seen[key] for key in _NOBODYS if key in seen} if seen else None
        return kept and {**kept, SHOWN_ONLY: True}
    return None


_NOBODYS = ("source", "call", "values", "private")
"""Of an entry: what holds whoever says that a tool gave it."""


def _tools(messages: Sequence[BaseMessage]) -> dict[str, str]:
    """The tool of each call by its id; the first call that has it counts."""
    replies = (m for m in reversed(messages) if isinstance(m, AIMessage))
    return {call["id"] or "": call["name"] for m in replies for call in reversed(m.tool_calls)}


def ask_model(asked: CallModel, here: Here) -> ModelStep:
    """The model's reply, from inside a step. A failure's text is masked before it goes on (I9).

    Raises:
        LimitReached: the policy leaves no room for the call.
        Exception: what the model raised, or a `NodeFault` in its place where it held a secret.
    """
    try:
        reply: AIMessage = yield asked
    except Exception as error:
        fault = masked_fault(error, here.policy.redactor)
        if fault is None:
            raise
    else:
        return reply
    raise NodeFault(str(fault))  # outside of the handler: it must not carry the original along


def add_usage(run: Mapping[str, Any], reply: AIMessage) -> dict[str, Any]:
    """`run` with the tokens of one model call added, cached and reasoning tokens included."""
    usage = reply.usage_metadata
    if not usage:
        return dict(run)
    tokens: dict[str, int] = dict(run.get("tokens") or {})
    counts = {
        "input_tokens": usage.get("input_tokens", 0),
        "output_tokens": usage.get("output_tokens", 0),
        "total_tokens": usage.get("total_tokens", 0),
        "cached_tokens": (usage.get("input_token_details") or {}).get("cache_read", 0),
    }
    if reply.response_metadata.get(ESTIMATED):
        counts["estimated_tokens"] = usage.get("total_tokens", 0)
    for name, count in counts.items():
        tokens[name] = tokens.get(name, 0) + int(count or 0)
    spent = int(run.get("spent") or 0) + int(usage_of(reply).amounts(None)["tokens"])
    return {**run, "tokens": tokens, "spent": spent}


def open_calls(messages: Sequence[BaseMessage]) -> tuple[AIMessage | None, set[str]]:
    """The last message of the model, if calls in it still wait for an answer, and their ids."""
    answered: set[str] = set()
    for message in reversed(messages):
        if isinstance(message, ToolMessage):
            answered.add(message.tool_call_id)
        elif isinstance(message, AIMessage):
            ids = call_ids(message) - answered
            return (message, ids) if ids else (None, set())
        else:
            break
    return None, set()


def as_arguments(value: object) -> Arguments:
    """`value` as parsed arguments; anything but an object becomes no arguments."""
    return dict(value) if isinstance(value, Mapping) else {}
