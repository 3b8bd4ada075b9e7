"""What a decision in a LangChain agent may know of the past: read from the agent's own state.

So a thread that is resumed in another process goes on where it stood. A message that sums up
earlier ones is not the user's word, and what it stands for was not seen: after it nothing earlier
is known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ..caller import Caller, caller_of
from ..content import read_by_model
from ..conversation import Conversations, ModelTurn, Past, Proposed, ToolResult, Turn, UserText
from ..ledger import History
from ..limits import Amounts
from ..pieces import beside
from ..python_values import as_call
from ..rules.limits import limits_of
from ..rules.sequence import order_of
from ..spent import CHARS_PER_TOKEN, UNCOUNTED, UNKNOWN, Usage
from .messages import RECORD
from .reply import withheld_in

if TYPE_CHECKING:
    from langchain.agents.middleware.types import ModelRequest, ToolCallRequest


def past_of(
    messages: Sequence[Any], conversations: Conversations, *, caller: Caller, thread: str = ""
) -> Past:
    """What these messages of a thread came to."""
    since = _summed_up(messages)
    return conversations.past(
        turns_of(messages[since:]), after=SUMMARY if since else "", caller=caller, thread=thread
    )


class Together:
    """What the calls of one message mean to each other, told once and not anew for each of them."""

    def __init__(self, conversations: Conversations) -> None:
        self._rule = order_of(conversations.policy)
        self._last: tuple[Any, Any, list[tuple[tuple[str, ...], Any]]] | None = None

    def of(self, proposed: list[Any], order: Any) -> list[tuple[tuple[str, ...], Any]]:
        """For each call the pieces that may be sent with it, and how the gates stand for it."""
        last = self._last  # once: another thread may put its own there
        if last is None or last[0] is not proposed or last[1] != order:
            made = [as_call(call["name"], call["args"]).arguments for call in proposed]
            orders: list[Any] = [order] * len(proposed)
            if self._rule is not None and order is not None:
                names = [call["name"] for call in proposed]
                orders = self._rule.automata.beside(order, names)
            last = self._last = proposed, order, list(zip(beside(made), orders, strict=True))
        return last[2]


def history_of(
    request: ToolCallRequest, conversations: Conversations, together: Together | None = None
) -> History:
    """The history of the thread in which a call is proposed.

    Tokens are those of every model message that the thread has had; calls those since the user last
    spoke, without the ones that were refused, and those that stand before this one in the model's
    message, which may run at the same time. The caller is the one whom the run's context names
    (`user`, `tenant`, `roles`).
    """
    messages = messages_in(request.state)
    at, place = _place(messages, request.tool_call.get("id"))
    past = past_of(
        messages[:at],
        conversations,
        caller=caller_in(request.runtime),
        thread=thread_of(request),
    )
    proposed = messages[at].tool_calls if at < len(messages) else []
    calls = dict(past.history.calls)
    for call in proposed[:place]:
        calls[call["name"]] = calls.get(call["name"], 0) + 1
    _, spent, _ = _spent(request.state, tokens_of)
    history = past.history.but(calls=calls, tokens_used=int(spent))
    if limits_of(conversations.policy) is not None:
        history = history.but(used=used_in(request.state, past, place, conversations))
    if not proposed:
        return history
    together = together or Together(conversations)
    pieces, order = together.of(proposed, history.order)[place]
    return history.after(*pieces).but(order=order)


SPENT = "edgeward_spent"
"""The key of an agent's state that keeps what the model has used: messages may be taken out."""


JUDGED_BY = "policy"
"""Among it: the digest of the policy that counted when the model last proposed calls."""


def proposed_under(request: ToolCallRequest) -> str:
    """The digest of the policy under which a call was proposed; empty where nobody kept it."""
    kept = request.state.get(SPENT) if isinstance(request.state, Mapping) else None
    return str((kept or {}).get(JUDGED_BY) or "")


def spent_after(state: Any, said: Sequence[Any], conversations: Conversations) -> dict[str, Any]:
    """What thread and run have used once the model has said this; `of` tells runs apart."""
    run, thread, of = _spent(state, tokens_of)
    new = sum(map(tokens_of, said))
    kept: dict[str, Any] = {"run": int(run + new), "thread": int(thread + new), "of": of}
    if limits_of(conversations.policy) is not None:
        for amount in ("tokens", "cost_usd"):
            one = partial(_amount, amount, conversations)
            run, thread, _ = _spent(state, one, amount)
            more = sum(one(message) for message in said)
            kept[amount] = {"run": run + more, "thread": thread + more}
    return kept


def _amount(amount: str, conversations: Conversations, message: Any) -> float:
    return amounts_of(message, conversations).get(amount, 0)


def _spent(
    state: Any, of_message: Callable[[Any], float], amount: str = ""
) -> tuple[float, float, str]:
    """An amount of the run and of the thread, and the message of the user that the run began with.

    A message that sums up others is no new word of the user, and what it replaced was spent.
    """
    messages = messages_in(state)
    kept = (state.get(SPENT) if isinstance(state, Mapping) else None) or {}
    amounts = kept.get(amount) or {} if amount else kept
    of, last = str(kept.get("of") or ""), _last_word(messages)
    if messages and messages[last].type == "human" and not _is_summary(messages[last]):
        of = messages[last].id or of
    before = amounts.get("run") or 0 if of == kept.get("of") else 0
    run = max(before, sum(map(of_message, messages[last:])))
    return run, max(amounts.get("thread") or 0, sum(map(of_message, messages))), of


def _last_word(messages: Sequence[Any]) -> int:
    """Where the user last spoke; 0 where nowhere."""
    spoken = (n for n, m in enumerate(messages) if m.type == "human" and not _is_summary(m))
    return max(spoken, default=0)


def withheld_of(request: ToolCallRequest) -> Sequence[str]:
    """What was masked in this call's arguments before it could be stored."""
    messages = messages_in(request.state)
    call_id = request.tool_call.get("id")
    at, _ = _place(messages, call_id)
    return withheld_in(messages[at]).get(call_id or "", ()) if at < len(messages) else ()


def _is_summary(message: Any) -> bool:
    return bool(message.additional_kwargs.get("lc_source") == "summarization")


def used_in(
    state: Any, past: Past, before: int, conversations: Conversations
) -> dict[str, dict[str, float]]:
    """What run and thread have used: tokens and money as the thread keeps them, calls as far as its
    messages go back, seconds as this process has seen them. Behind a summary a thread's calls and
    seconds are unknown."""
    messages, kept = messages_in(state), past.history.used or {}
    last = _last_word(messages)
    ran = sum(m.type == "tool" and not _refused(m) for m in messages[:last])
    now = sum(past.history.calls.values()) + before
    used: dict[str, dict[str, float]] = {"caller": dict(UNKNOWN)}
    for scope, calls in (("run", now), ("thread", now + ran)):
        seconds = kept.get(scope, {}).get("seconds", 0)
        used[scope] = {"seconds": seconds, "calls": calls}
    for amount in ("tokens", "cost_usd"):
        run, thread, _ = _spent(state, partial(_amount, amount, conversations), amount)
        used["run"][amount], used["thread"][amount] = run, thread
    if _summed_up(messages):
        used["thread"] |= {"calls": UNCOUNTED, "seconds": UNCOUNTED}
    return used


def amounts_of(message: Any, conversations: Conversations) -> Amounts:
    """What the model call that gave a message has used; of other messages, nothing."""
    if message.type != "ai":
        return {}
    return usage_of(message).amounts(limits_of(conversations.policy))


def usage_of(message: Any) -> Usage:
    """What a reply says that it used; where it says nothing, an estimate of what was written."""
    usage = getattr(message, "usage_metadata", None)
    if not usage:
        return Usage(written=len(str(message.content)) // CHARS_PER_TOKEN)
    cached = int((usage.get("input_token_details") or {}).get("cache_read") or 0)
    read, written = int(usage.get("input_tokens") or 0), int(usage.get("output_tokens") or 0)
    said = message.response_metadata
    model = said.get("model_name") or said.get("model") or ""
    return Usage(read, written, cached, str(model), total=int(usage.get("total_tokens") or 0))


ESTIMATED = "usage_estimated"
"""In a reply's metadata: nobody counted its tokens."""


def is_uncounted(reply: Any) -> bool:
    """Whether the provider did not say what a reply used, or says that it used nothing."""
    return not reply.usage_metadata or not usage_of(reply).amounts(None)["tokens"]


def estimated(reply: Any, *, read: int, written: int) -> Any:
    """The reply with an estimate of its tokens, marked as one."""
    usage = {"input_tokens": read, "output_tokens": written, "total_tokens": read + written}
    marked = {**reply.response_metadata, ESTIMATED: True}
    return reply.model_copy(update={"usage_metadata": usage, "response_metadata": marked})


def caller_in(runtime: Any) -> Caller:
    """The caller whom a run's context names."""
    return caller_of(getattr(runtime, "context", None))


SUMMARY = "a summary of earlier messages"
"""What stands for the past where it was summed up: an id that nothing is known of."""


def turns_of(messages: Sequence[Any]) -> Iterator[Turn]:
    """LangChain's messages as turns; calls that were refused, and their answers, left out.

    A refusal is one of the calls of the model's last message before it: an id says nothing more,
    for whoever controls the model chooses it.
    """
    refused = _refused_calls(messages)
    for at, message in enumerate(messages):
        if message.type == "human":
            yield UserText(str(message.text))
        elif message.type == "tool":
            if not _refused(message):
                failed = message.status == "error"
                yield ToolResult(
                    message.tool_call_id, read_by_model(message.content), failed=failed
                )
        elif calls := getattr(message, "tool_calls", None):
            through = [call for call in calls if call["id"] not in refused.get(at, ())]
            yield ModelTurn(tuple(Proposed(c["name"], c["args"], c["id"] or "") for c in through))


def _refused_calls(messages: Sequence[Any]) -> dict[int, set[str]]:
    """By the place of each message that proposes calls: the ids of those that were refused. Of
    calls with one id they are refused if all of them were."""
    found: dict[int, set[str]] = {}
    behind: Counter[str] = Counter()
    for at in range(len(messages) - 1, -1, -1):
        message = messages[at]
        if message.type == "tool":
            behind[message.tool_call_id] += _refused(message)
        elif message.type == "ai":
            proposed = Counter(call["id"] for call in message.tool_calls)
            found[at] = {i for i, times in proposed.items() if 0 < times <= behind[i]}
            behind = Counter()
    return found


PROPOSED_TWICE = "the model proposed two calls with this id at once"


def is_proposed_twice(request: ToolCallRequest) -> bool:
    """Whether the call shares its id with another one of its message. The middleware gives each an
    id of its own; but it may be used without its say over what the model said."""
    call_id = request.tool_call.get("id")
    messages = messages_in(request.state)
    at, _ = _place(messages, call_id)
    proposed = messages[at].tool_calls if at < len(messages) else []
    return [call["id"] for call in proposed].count(call_id) > 1


def _summed_up(messages: Sequence[Any]) -> int:
    """Where what was seen begins: behind the last message that sums up earlier ones."""
    for at in range(len(messages) - 1, -1, -1):
        if _is_summary(messages[at]):
            return at + 1
    return 0


def _place(messages: Sequence[Any], call_id: str | None) -> tuple[int, int]:
    """Which message proposes the call, and how many calls stand before it there."""
    for at in range(len(messages) - 1, -1, -1):
        ids = [call["id"] for call in getattr(messages[at], "tool_calls", None) or ()]
        if call_id in ids:
            return at, ids.index(call_id)
    return len(messages), 0


def messages_in(state: Any) -> Sequence[Any]:
    """The messages of an agent's state."""
    if isinstance(state, list):
        return state
    found = state.get("messages") if isinstance(state, Mapping) else None
    return found or getattr(state, "messages", None) or ()


def thread_of(request: ToolCallRequest | ModelRequest[Any]) -> str:
    """The thread in which a tool, or a model, is asked for."""
    config = getattr(request.runtime, "config", None) or {}
    info = getattr(request.runtime, "execution_info", None)
    found = (config.get("configurable") or {}).get("thread_id") or getattr(info, "thread_id", "")
    return str(found or "")


def tokens_of(message: Any) -> int:
    """The tokens that a message says its model call used."""
    if not getattr(message, "usage_metadata", None):
        return 0
    return int(usage_of(message).amounts(None)["tokens"])


def _refused(message: Any) -> bool:
    artifact = message.artifact
    return isinstance(artifact, dict) and RECORD in artifact
