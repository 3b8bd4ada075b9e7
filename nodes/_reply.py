"""A model's reply as a thread may keep it: ids unique, secrets masked, unreadable calls set apart.

A checkpoint may be written as soon as a node returns, so what must not be stored is taken out here
and not later.
"""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage

from ..guards.decide import Policy
from ..guards.langchain.own_ids import NewIds, Renames, unique_ids
from ..guards.langchain.reply import CALLS, WITHHELD, masked, masked_beside, withheld_in
from ..guards.ledger import Ledger
from ..guards.patterns import searchable
from ..guards.redact import Redactor
from ..guards.results import answered
from ..guards.verdict import canonical_json
from ..guards.withheld import masked_arguments
from ._base import State
from ._messages import MessageLog

CUT_OFF = "length"
"""Why a run stopped whose answer the model could not finish."""

FILTERED = "filtered"
"""Why a run stopped whose answer the provider withheld, or broke off."""

EMPTY = "empty"
"""Why a run stopped whose model said nothing and called nothing."""

POOR_ENDS = frozenset({CUT_OFF, FILTERED, EMPTY})
"""Why a run stopped whose last reply is no whole answer."""

_CUTS = frozenset(
    {"length", "max_tokens", "model_context_window_exceeded", "max_output_tokens", "max_length"}
)
_FILTERS = frozenset(
    {"content_filter", "content_filtered", "refusal", "guardrail_intervened", "recitation"}
    | {"safety", "image_safety", "blocklist", "prohibited_content", "spii", "language"}
)

THOUGHTS = frozenset({"text", "thinking", "redacted_thinking", "reasoning"})
"""Content blocks without which there is neither a text nor a call."""


def sealed(
    reply: AIMessage, policy: Policy, state: State, *, keep_calls: bool
) -> tuple[AIMessage | None, dict[str, list[str]]]:
    """The reply as it may be kept, and by call id what was masked in the arguments.

    None in place of a reply in which there is nothing: no text, no call (providers refuse it).
    """
    redactor, log = policy.redactor, _log(state)
    reply = masked_beside(reply, redactor)
    calls, broken = _readable(reply) if keep_calls else ([], [])
    proposed = [*calls, *broken]
    kept = unique_ids(proposed, is_taken=log.answers, number=len(log))
    ids = [(old.get("id"), new["id"]) for old, new in zip(proposed, kept, strict=True)]
    calls, broken = kept[: len(calls)], kept[len(calls) :]
    withheld: dict[str, list[str]] = {}
    noted = withheld_in(reply)  # what was masked before the model's words came here
    for old, new in ids:
        if told := noted.get(old or ""):
            withheld[new] = told
    for call in calls:
        call["args"], labels = masked_arguments(call["args"], redactor)
        if labels:
            withheld[call["id"]] = sorted({*labels, *withheld.get(call["id"], ())})
    for call in broken:
        for field in ("args", "error"):
            call[field] = redactor.secrets(call.get(field) or "")[0]
    for call in kept:
        call["name"] = redactor.secrets(call["name"] or "")[0]
    extra = masked(reply.additional_kwargs, redactor)
    extra.pop(WITHHELD, None)
    if not keep_calls:
        extra = {k: v for k, v in extra.items() if k not in ("tool_calls", "function_call")}
    content = _defused(_content(reply, redactor, ids), policy, state)
    changes = {
        "tool_calls": calls,
        "invalid_tool_calls": broken,
        "content": content,
        "additional_kwargs": extra,
        # A server that gives every reply the same id would overwrite the thread.
        "id": None if log.holds(reply.id) else reply.id,
    }
    if not kept and _is_empty(content):
        return None, withheld
    return _plain(reply, changes), withheld


def broken_off(reply: AIMessage) -> str:
    """Why the reply is no whole one: `CUT_OFF` or `FILTERED`; empty where it is."""
    about = reply.response_metadata
    incomplete = about.get("incomplete_details")
    ends = (
        about.get("finish_reason"),
        about.get("stop_reason"),
        about.get("stopReason"),
        incomplete.get("reason") if isinstance(incomplete, dict) else None,
    )
    said = {end.lower() for end in ends if isinstance(end, str)}
    if said & _FILTERS:
        return FILTERED
    return CUT_OFF if said & _CUTS else ""


def _plain(reply: AIMessage, changes: dict[str, Any]) -> AIMessage:
    """The reply with the changes, as an `AIMessage` also where it came as a chunk or a subclass."""
    changes = {name: new for name, new in changes.items() if new != getattr(reply, name)}
    if type(reply) is AIMessage:
        return reply.model_copy(update=changes) if changes else reply
    fields = {name: getattr(reply, name) for name in AIMessage.model_fields if name != "type"}
    return AIMessage(**{**fields, **changes})


def _readable(reply: AIMessage) -> tuple[list[Any], list[Any]]:
    """The calls whose arguments are JSON, and those that nobody can judge (NaN, half a letter)."""
    calls: list[Any] = []
    broken: list[Any] = [{**call} for call in reply.invalid_tool_calls]
    for call in reply.tool_calls:
        try:
            canonical_json(call["args"]).encode()
        except (TypeError, ValueError, RecursionError):
            set_apart = {"name": call["name"], "args": "", "id": call["id"]}
            error = "they hold what JSON cannot"
            broken.append({**set_apart, "error": error, "type": "invalid_tool_call"})
        else:
            calls.append({**call})
    return calls, broken


def _content(reply: AIMessage, redactor: Redactor, ids: Renames) -> Any:
    """The content without secrets, blank texts and blocks of calls that are not kept.

    Where the model refuses in words of their own kind, those are its text.
    """
    if isinstance(reply.content, str):
        text = (reply.content.strip() and reply.content) or _refusal(reply)
        return redactor.secrets(searchable(text))[0]
    own = NewIds(ids)
    blocks: list[Any] = []
    for block in reply.content:
        if isinstance(block, str):
            blocks.append(redactor.secrets(block)[0])
        elif block.get("type") == "refusal" and isinstance(block.get("refusal"), str):
            blocks.append({"type": "text", "text": redactor.secrets(block["refusal"])[0]})
        elif block.get("type") in CALLS:
            if (new := own.of(block)) is not None:
                blocks.append({**redactor.value(block), **new})
        else:
            blocks.append(masked(block, redactor))
    return [block for block in blocks if not _is_blank(block)]


def _refusal(reply: AIMessage) -> str:
    words = reply.additional_kwargs.get("refusal")
    return words if isinstance(words, str) else ""


def _defused(content: Any, policy: Policy, state: State) -> Any:
    """The content without images and links that carry data to hosts that are not listed."""
    ledger = state.get("ledger") or []
    private = ledger.private if isinstance(ledger, Ledger) else None

    def shown(text: str) -> str:
        return answered(policy, text, private=private)[0]

    if isinstance(content, str):
        return shown(content)
    return [
        shown(block)
        if isinstance(block, str)
        else {**block, "text": shown(block["text"])}
        if block.get("type") == "text" and isinstance(block.get("text"), str)
        else block
        for block in content
    ]


def _is_blank(block: Any) -> bool:
    text = block if isinstance(block, str) else block.get("text")
    typed = "text" if isinstance(block, str) else block.get("type")
    return typed == "text" and not str(text or "").strip()


def _is_empty(content: Any) -> bool:
    """Whether there is neither a text nor anything else to show, such as an image."""
    if isinstance(content, str):
        return not content.strip()
    kinds = [("text" if isinstance(block, str) else block.get("type")) for block in content]
    return "text" not in kinds and all(kind in THOUGHTS for kind in kinds)


def _log(state: State) -> MessageLog:
    messages = state.get("messages") or []
    return messages if isinstance(messages, MessageLog) else MessageLog(messages)
