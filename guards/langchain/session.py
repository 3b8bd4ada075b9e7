"""What a decision in a LangChain agent may know of the past: read from the agent's own state.

So a thread that is resumed in another process goes on where it stood. A message that sums up
earlier ones is not the user's word, and what it stands for was not seen: after it nothing earlier
is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..caller import caller_of
from ..conversation import Conversations, ModelTurn, Proposed, ToolResult, Turn, UserText
from ..ledger import History
from ..limits import Used
from ..rules.limits import limits_of
from ..rules.sequence import order_of

if TYPE_CHECKING:
    from langchain.agents.middleware.types import ToolCallRequest


def history_of(request: ToolCallRequest, conversations: Conversations) -> History:
    """The history of the thread in which a call is proposed.

    Tokens are those of every model message in the state; calls those since the user last spoke,
    without the ones that were refused, and those that stand before this one in the model's message,
    which may run at the same time. The caller is the one whom the run's context names (`user`,
    `tenant`, `roles`).
    """
    messages = _messages(request.state)
    at, before = _place(messages, request.tool_call.get("id"))
    earlier = messages[:at]
    since = _summed_up(earlier)
    past = conversations.past(
        turns_of(earlier[since:]),
        after=SUMMARY if since else "",
        caller=caller_of(getattr(request.runtime, "context", None)),
        thread=_thread(request),
    )
    calls = dict(past.history.calls)
    for name in before:
        calls[name] = calls.get(name, 0) + 1
    history = replace(past.history, calls=calls, tokens_used=sum(map(_tokens, messages)))
    if limits_of(conversations.policy) is not None:
        history = replace(history, used=_used(messages, calls))
    rule = order_of(conversations.policy)
    if rule is None or history.order is None or at == len(messages):
        return history
    names = [call["name"] for call in messages[at].tool_calls]
    return replace(history, order=rule.automata.beside(history.order, names)[len(before)])


def _used(messages: Sequence[Any], calls: Mapping[str, int]) -> Used:
    """Tokens and calls of run and thread, as far as the messages go back. Money and seconds cannot
    be counted here; nor can what other threads of the same caller use."""
    last = max((n for n, m in enumerate(messages) if m.type == "human"), default=0)
    ran = sum(m.type == "tool" and not _refused(m) for m in messages[:last])
    now = sum(calls.values())
    uncounted = {"cost_usd": float("inf"), "seconds": float("inf")}
    run = {"tokens": sum(map(_tokens, messages[last:])), "calls": now, **uncounted}
    thread = {"tokens": sum(map(_tokens, messages)), "calls": now + ran, **uncounted}
    return {"run": run, "thread": thread, "caller": thread}


SUMMARY = "a summary of earlier messages"
"""What stands for the past where it was summed up: an id that nothing is known of."""


def turns_of(messages: Sequence[Any]) -> Iterator[Turn]:
    """LangChain's messages as turns; calls that were refused, and their answers, left out."""
    refused = {m.tool_call_id for m in messages if m.type == "tool" and _refused(m)}
    for message in messages:
        if message.type == "human":
            yield UserText(str(message.text))
        elif message.type == "tool":
            if message.tool_call_id not in refused:
                failed = message.status == "error"
                yield ToolResult(message.tool_call_id, str(message.text), failed=failed)
        elif calls := getattr(message, "tool_calls", None):
            through = [call for call in calls if call["id"] not in refused]
            yield ModelTurn(tuple(Proposed(c["name"], c["args"], c["id"] or "") for c in through))


def _summed_up(messages: Sequence[Any]) -> int:
    """Where what was seen begins: behind the last message that sums up earlier ones."""
    for at in range(len(messages) - 1, -1, -1):
        if messages[at].additional_kwargs.get("lc_source") == "summarization":
            return at + 1
    return 0


def _place(messages: Sequence[Any], call_id: str | None) -> tuple[int, list[str]]:
    """Where the message stands that proposes the call, and the calls before it there, by name."""
    for at in range(len(messages) - 1, -1, -1):
        proposed = getattr(messages[at], "tool_calls", None) or ()
        ids = [call["id"] for call in proposed]
        if call_id in ids:
            return at, [call["name"] for call in proposed[: ids.index(call_id)]]
    return len(messages), []


def _messages(state: Any) -> Sequence[Any]:
    if isinstance(state, list):
        return state
    found = state.get("messages") if isinstance(state, Mapping) else None
    return found or getattr(state, "messages", None) or ()


def _thread(request: ToolCallRequest) -> str:
    config = getattr(request.runtime, "config", None) or {}
    return str((config.get("configurable") or {}).get("thread_id") or "")


def _tokens(message: Any) -> int:
    usage = getattr(message, "usage_metadata", None) or {}
    return int(usage.get("total_tokens") or 0)


def _refused(message: Any) -> bool:
    artifact = message.artifact
    return isinstance(artifact, dict) and "edgeward" in artifact
