"""Every key of a graph's state: who writes it, how writes merge, what a checkpoint keeps.

| key      | written by            | merge              | kept in checkpoints          |
|----------|-----------------------|--------------------|------------------------------|
| messages | input, every node     | append, by id      | the new ones of each step    |
| run      | act, plan, guard …    | last write         | yes                          |
| ledger   | act, plan, tool …     | append             | the new entries of each step |
| verdicts | guard                 | append             | the new records of each step |
| plan     | plan                  | last write         | yes                          |
| critique | reflect               | last write         | yes                          |
| withheld | act                   | last write         | yes                          |
| approvals | guard                | last write         | yes                          |
| vault    | input, tool           | first write a name | the new names of each step   |
| used     | the graph, of itself  | sum                | yes                          |

`vault` holds what placeholders stand for, encrypted under a key that is in no state.

A node's outcome, and the calls that a guard approved with their tickets, are no state: they go from
the node to its edge and are gone.

The three logs grow; a checkpoint holds what a step added to them, not the whole, so that a thread
on disk grows with its length and not with the square of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

from langchain_core.messages import AIMessage, BaseMessage, convert_to_messages
from langgraph.channels import DeltaChannel
from typing_extensions import TypedDict

from ..guards.ledger import Entry, Ledger
from ..nodes._messages import MessageLog
from .meter import USED, add_used, used_by_both

SNAPSHOT_EVERY = 500
"""Updates of a log between two full copies: bounds how far a reload has to read back."""

OF_A_MODEL = ("invalid_tool_calls", "usage_metadata")
"""Fields of a message that only a model writes."""


def merge_messages(log: list[BaseMessage], writes: Sequence[Any]) -> MessageLog:
    """Reducer of `messages`. A write is one message-like or a list of them."""
    new: list[Any] = []
    for write in writes:
        if isinstance(write, list):
            new.extend(write)
        else:
            new.append(write)
    new = [as_message(m) for m in new]
    if not isinstance(log, MessageLog):
        log = MessageLog(as_message(m) for m in log)
    return log.merged(new)


def as_message(given: Any) -> BaseMessage:
    """A message-like as a message, also one that was written out as data.

    LangGraph's server replays a thread that it shows from such data. LangChain alone would file
    what only an answer of a model has under `additional_kwargs`.
    """
    if isinstance(given, BaseMessage):
        return given
    (message,) = convert_to_messages([given])
    if not isinstance(message, AIMessage):
        return message
    more = message.additional_kwargs
    fields = {name: more.pop(name) for name in OF_A_MODEL if name in more}
    return AIMessage.model_validate({**dict(message), **fields}) if fields else message


def merge_ledger(ledger: list[Entry], writes: Sequence[list[Entry]]) -> Ledger:
    """Reducer of `ledger`."""
    if not isinstance(ledger, Ledger):
        ledger = Ledger(ledger)
    return ledger.appended(entry for write in writes for entry in write)


def append(records: list[Any], writes: Sequence[list[Any]]) -> list[Any]:
    """Reducer of `verdicts`."""
    return [*records, *(record for write in writes for record in write)]


def merge_held(held: dict[str, str], writes: Sequence[dict[str, str]]) -> dict[str, str]:
    """Reducer of `vault`: what a placeholder stands for is said once."""
    merged = dict(held)
    for write in writes:
        for name, kept in write.items():
            merged.setdefault(name, kept)
    return merged


LOGS: Mapping[str, Callable[[list[Any], Sequence[Any]], list[Any]]] = {
    "messages": merge_messages,
    "ledger": merge_ledger,
    "verdicts": append,
}
"""The keys that are lists of which a write holds more, and their reducers."""


def after(state: Mapping[str, Any], update: Mapping[str, Any]) -> dict[str, Any]:
    """The state as it will be once the update is written."""
    whole = {**state, **update}
    for key, merge in LOGS.items():
        if key in update:
            whole[key] = merge(state.get(key) or [], [update[key]])
    if "vault" in update:
        whole["vault"] = merge_held(state.get("vault") or {}, [update["vault"]])
    if USED in update:
        whole[USED] = add_used(state.get(USED) or {}, update[USED])
    return whole


def together(first: Mapping[str, Any], then: Mapping[str, Any]) -> dict[str, Any]:
    """Two updates, the second written after the first, as one."""
    both = {**first, **then}
    for key in LOGS:
        if key in first and key in then:
            both[key] = [*first[key], *then[key]]
    if "vault" in first and "vault" in then:
        both["vault"] = merge_held(first["vault"], [then["vault"]])
    if USED in first and USED in then:
        both[USED] = used_by_both(first[USED], then[USED])
    return both


class Input(TypedDict):
    """What a graph takes: `{"messages": [...]}`, LangChain messages or `{"role", "content"}`."""

    messages: list[Any]


class HiddenInput(Input, total=False):
    """The input as `LockedGraph` hands it on; callers never write the second key."""

    vault: dict[str, str]


class Output(TypedDict):
    """What a graph gives: all messages of the thread, the answer last."""

    messages: list[Any]


class State(TypedDict, total=False):
    """The whole state; see the table in the module's docstring."""

    messages: Annotated[
        list[Any], DeltaChannel(merge_messages, list, snapshot_frequency=SNAPSHOT_EVERY)
    ]
    run: dict[str, Any]
    ledger: Annotated[
        list[Any], DeltaChannel(merge_ledger, list, snapshot_frequency=SNAPSHOT_EVERY)
    ]
    verdicts: Annotated[list[Any], DeltaChannel(append, list, snapshot_frequency=SNAPSHOT_EVERY)]
    plan: dict[str, Any]
    critique: str
    withheld: dict[str, list[str]]
    approvals: list[dict[str, Any]]
    vault: Annotated[
        dict[str, str], DeltaChannel(merge_held, dict, snapshot_frequency=SNAPSHOT_EVERY)
    ]
    used: Annotated[dict[str, Any], add_used]
