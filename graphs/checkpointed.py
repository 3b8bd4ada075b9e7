"""The threads of a checkpoint database of LangGraph, as a replay goes through them.

Of a graph of ours a thread holds its messages, the record of each verdict, and the ledger; where
the policy said `receipts: history`, that has the results as they were read. Of any other agent the
messages are all there is. The file is only read. Nobody keeps in it who asked, nor the defaults
that a tool's schema adds to what the model wrote.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import StateGraph

from ..guards.caller import Caller
from ..guards.langchain.session import usage_of
from ..guards.ledger import USER
from ..guards.receipts.past import RAN
from ..guards.redact import Redactor
from ..guards.sqlite_file import read_sqlite
from ..guards.vault import PLACEHOLDER
from ..guards.verdict import ToolCall, canonical_json
from ..nodes._marks import is_summary
from ..nodes._turns import ABANDONED
from ..policies.replay.forms import message_of
from ..policies.replay.messages import steps_of
from ..policies.replay.recorded import (
    HIDDEN,
    Lost,
    Recorded,
    Returned,
    Said,
    Step,
    Steps,
    Turn,
    old_of,
    returned,
    secrets_in,
)
from .serializer import strict_serializer
from .state import State

SUMMED_UP = "earlier messages of its thread were summed up"
CHANGED = "a result of its thread was cut or changed before it was kept"
EDITED = "a person edited its arguments, and the thread keeps what the model wrote"

_CHANGES = ("cut", "defused", "flagged")
"""What a result's record says where its message is not what the ledger read."""


def threads_in(path: Path, caller: Caller) -> Iterator[Steps]:
    """The threads of a database, one after another; each is read when its steps are gone through.

    Raises:
        ValueError: the database, or a thread, cannot be read; which, and why.
    """
    with closing(read_sqlite(path, check_same_thread=False)) as connection:
        saver = SqliteSaver(connection, serde=strict_serializer())
        saver.is_setup = True  # it would write
        with _reading(str(path)):
            rows = connection.execute(
                "SELECT DISTINCT thread_id FROM checkpoints WHERE checkpoint_ns = '' "
                "ORDER BY thread_id"
            ).fetchall()
        for (thread,) in rows:
            yield _steps(path, saver, str(thread), caller)


def _steps(path: Path, saver: SqliteSaver, thread: str, caller: Caller) -> Iterator[Step]:
    shown = Redactor().secrets(thread)[0]
    with _reading(f"{path}: thread {shown!r}"):
        yield from steps_in(_state(saver, thread), thread, caller)


@contextmanager
def _reading(what: str) -> Iterator[None]:
    """Tell on one line what is wrong: whoever wrote a file may have put anything into it."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - it goes on as one that says where
        told = Redactor().secrets(f"{type(error).__name__}: {error}")[0]
        raise ValueError(f"{what}: cannot be read ({' '.join(told.split())})") from None


def _state(saver: SqliteSaver, thread: str) -> Mapping[str, Any]:
    """What a thread holds, by its last checkpoint."""
    config: RunnableConfig = {"configurable": {"thread_id": thread}}
    found = saver.get_tuple(config)
    whole = found.checkpoint["channel_values"] if found is not None else {}
    if isinstance(whole.get("messages"), list):
        return whole
    graph: Any = StateGraph(State)
    graph.add_node("read", lambda state: {})
    graph.set_entry_point("read")
    values: Mapping[str, Any] = graph.compile(checkpointer=saver).get_state(config).values
    return values


def steps_in(state: Mapping[str, Any], thread: str, caller: Caller) -> Iterator[Step]:
    """What a thread's state tells, step by step."""
    return _Thread(thread, state, caller).steps()


class _Thread:
    """One thread: its messages, told step by step with what else it holds of them."""

    def __init__(self, name: str, state: Mapping[str, Any], caller: Caller) -> None:
        self._name = name
        self._caller = caller
        self._messages: list[BaseMessage] = list(state.get("messages") or ())
        self._records = {str(r.get("id")): r for r in state.get("verdicts") or ()}
        self._results = {
            str(entry.get("call")): entry
            for entry in state.get("ledger") or ()
            if entry.get("source") != USER and RAN in entry
        }
        self._hides = bool(state.get("vault"))

    def steps(self) -> Iterator[Step]:
        """The thread, step by step."""
        if not self._records:
            plain = [message_of(_as_data(m), self._name) for m in self._messages]
            at = "call"
            yield from steps_of(
                plain, place=at, name=self._name, caller=self._caller, thread=self._name
            )
            return
        calls: dict[str, ToolCall] = {}
        tokens = 0
        yield from self._summed_up()
        for message in self._messages:
            if isinstance(message, HumanMessage):
                yield Said(message.text)
            elif isinstance(message, AIMessage):
                if is_summary(message):
                    yield Lost(SUMMED_UP)
                tokens += int(usage_of(message).amounts(None)["tokens"])
                made = [
                    ToolCall(c["name"], dict(c["args"]), id=str(c["id"]))
                    for c in message.tool_calls
                ]
                calls |= {call.id: call for call in made}
                if made:
                    yield Turn(tuple(map(self._recorded, made)), tokens=tokens)
            elif isinstance(message, ToolMessage) and message.tool_call_id in calls:
                yield from self._result(calls[message.tool_call_id], message)

    def _summed_up(self) -> Iterator[Step]:
        """The calls of which the thread keeps the verdict and no message."""
        left = {
            str(c["id"]) for m in self._messages if isinstance(m, AIMessage) for c in m.tool_calls
        }
        for call_id, record in self._records.items():
            if call_id not in left:
                call = ToolCall(str(record.get("tool") or ""), id=call_id)
                yield Turn((self._recorded(call, SUMMED_UP),), again=False)
                yield Lost(SUMMED_UP)

    def _recorded(self, call: ToolCall, why_not: str = "") -> Recorded:
        record = self._records.get(call.id)
        old = None if record is None else old_of(record)
        if old is not None and (old.approval or {}).get("decision") == "edit":
            why_not = why_not or EDITED
        if self._hides and PLACEHOLDER.search(canonical_json(call.arguments)):
            why_not = why_not or HIDDEN
        return Recorded(
            name=f"{self._name}:{call.id}",
            place=f"call {call.id}",
            call=call,
            old=old,
            caller=self._caller,
            thread=self._name,
            secrets=() if old is None else secrets_in(call, old),
            why_not=why_not,
        )

    def _result(self, call: ToolCall, message: ToolMessage) -> Iterator[Step]:
        record = self._records.get(call.id)
        old = None if record is None else old_of(record)
        if (old is not None and not old.ran) or message.text == ABANDONED:
            return
        entry = self._results.get(call.id)
        if entry is not None:
            ran = entry[RAN]
            yield Lost(CHANGED) if ran.get("long") else returned(call.name, call.id, ran)
            return
        noted = message.artifact.get("edgeward") if isinstance(message.artifact, Mapping) else None
        did = list(map(str, noted.get("did") or ())) if isinstance(noted, Mapping) else []
        if any(label.startswith(_CHANGES) for label in did):
            yield Lost(CHANGED)
            return
        yield Returned(
            call,
            message.text,
            failed=message.status == "error",
            withheld=any(label.startswith("withheld") for label in did),
            caller=self._caller,
        )


def _as_data(message: BaseMessage) -> Mapping[str, Any]:
    return {"type": message.type, "data": message.model_dump(warnings=False)}
