"""What a decision in a LangChain agent may know of the past: read from the agent's own state.

So a thread that is resumed in another process goes on where it stood.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..caller import caller_of
from ..ledger import History

if TYPE_CHECKING:
    from langchain.agents.middleware.types import ToolCallRequest


def history_of(request: ToolCallRequest) -> History:
    """The history of the thread in which a call is proposed.

    Tokens are those of every model message in the state; calls those that were answered since the
    user last spoke, without the ones that were refused, and those that stand before this one in
    the model's message, which may run at the same time. The caller is the one whom the run's
    context names (`user`, `tenant`, `roles`).
    """
    messages = _messages(request.state)
    calls = _answered(messages)
    for name in _before(messages, request.tool_call.get("id")):
        calls[name] = calls.get(name, 0) + 1
    return History(
        thread=_thread(request),
        calls=calls,
        tokens_used=sum(map(_tokens, messages)),
        caller=caller_of(getattr(request.runtime, "context", None)),
    )


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


def _answered(messages: Sequence[Any]) -> dict[str, int]:
    found: dict[str, int] = {}
    for message in reversed(messages):
        kind = getattr(message, "type", "")
        if kind == "human":
            break
        if kind == "tool" and message.name and not _refused(message):
            found[message.name] = found.get(message.name, 0) + 1
    return found


def _before(messages: Sequence[Any], call_id: str | None) -> list[str]:
    """The names of the calls that stand before this one in its message."""
    for message in reversed(messages):
        proposed = getattr(message, "tool_calls", None) or ()
        ids = [call["id"] for call in proposed]
        if call_id in ids:
            return [call["name"] for call in proposed[: ids.index(call_id)]]
    return []


def _refused(message: Any) -> bool:
    artifact = message.artifact
    return isinstance(artifact, dict) and "edgeward" in artifact
