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
from .reply import withheld_in

if TYPE_CHECKING:
    from langchain.agents.middleware.types import ToolCallRequest


def history_of(request: ToolCallRequest, conversations: Conversations) -> History:
    """The history of the thread in which a call is proposed.

    Tokens are those of every model message that the thread has had; calls those since the user last
    spoke, without the ones that were refused, and those that stand before this one in the model's
    message, which may run at the same time. The caller is the one whom the run's context names
    (`user`, `tenant`, `roles`).
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
    run, spent, _ = _spent(request.state)
    calls = dict(past.history.calls)
    for name in before:
        calls[name] = calls.get(name, 0) + 1
    history = replace(past.history, calls=calls, tokens_used=spent)
    if limits_of(conversations.policy) is not None:
        history = replace(history, used=_used(messages, calls, run=run, thread=spent))
    rule = order_of(conversations.policy)
    if rule is None or history.order is None or at == len(messages):
        return history
    names = [call["name"] for call in messages[at].tool_calls]
    return replace(history, order=rule.automata.beside(history.order, names)[len(before)])


SPENT = "edgeward_spent"
"""The key of an agent's state that keeps what the model has used: messages may be taken out."""


def spent_after(state: Any, said: Sequence[Any]) -> dict[str, Any]:
    """What thread and run have used once the model has said this; `of` tells runs apart."""
    run, thread, of = _spent(state)
    new = sum(map(_tokens, said))
    return {"run": run + new, "thread": thread + new, "of": of}


def _spent(state: Any) -> tuple[int, int, str]:
    """Tokens of the run and of the thread, and the message of the user that the run began with.

    A message that sums up others is no new word of the user, and what it replaced was spent.
    """
    messages = _messages(state)
    kept = (state.get(SPENT) if isinstance(state, Mapping) else None) or {}
    of, last = str(kept.get("of") or ""), 0
    for at, message in enumerate(messages):
        if message.type == "human" and not _is_summary(message):
            last = at
    if messages and messages[last].type == "human" and not _is_summary(messages[last]):
        of = messages[last].id or of
    before = int(kept.get("run") or 0) if of == kept.get("of") else 0
    run = max(before, sum(map(_tokens, messages[last:])))
    return run, max(int(kept.get("thread") or 0), sum(map(_tokens, messages))), of


def withheld_of(request: ToolCallRequest) -> Sequence[str]:
    """What was masked in this call's arguments before it could be stored."""
    messages = _messages(request.state)
    call_id = request.tool_call.get("id")
    at, _ = _place(messages, call_id)
    return withheld_in(messages[at]).get(call_id or "", ()) if at < len(messages) else ()


def _is_summary(message: Any) -> bool:
    return bool(message.additional_kwargs.get("lc_source") == "summarization")


def _used(messages: Sequence[Any], calls: Mapping[str, int], *, run: int, thread: int) -> Used:
    """Tokens of run and thread; their calls as far as the messages go back. Money and seconds
    cannot be counted here; nor can what other threads of the same caller use."""
    last = max((n for n, m in enumerate(messages) if m.type == "human"), default=0)
    ran = sum(m.type == "tool" and not _refused(m) for m in messages[:last])
    now = sum(calls.values())
    uncounted = {"cost_usd": float("inf"), "seconds": float("inf")}
    of_run = {"tokens": run, "calls": now, **uncounted}
    of_thread = {"tokens": thread, "calls": now + ran, **uncounted}
    return {"run": of_run, "thread": of_thread, "caller": of_thread}


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
        if _is_summary(messages[at]):
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
