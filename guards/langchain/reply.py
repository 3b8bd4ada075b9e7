"""A model's reply without its secrets: in its text, in the calls it proposes, in what comes beside.

What was masked in a call's arguments is noted in the message, by call id, so that the call is
judged by it. The note holds labels and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel

from ..arguments import parse_arguments
from ..patterns import searchable
from ..redact import Redactor
from ..withheld import masked_arguments

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage

    Reply = TypeVar("Reply", bound=AIMessage)

OPAQUE = frozenset({"id", "signature", "thinking", "data", "encrypted_content", "type"})
"""Fields of content blocks that only their provider may read or change."""

CALLS = frozenset({"tool_use", "tool_call", "function_call", "invalid_tool_call"})
"""Content blocks that repeat a proposed call."""

WITHHELD = "edgeward_withheld"
"""The additional field of a message that says what was masked in its calls, by call id."""

Withheld = dict[str, list[str]]


def masked(value: Any, redactor: Redactor) -> Any:
    """A JSON value with the secrets in it masked, except in fields that are not ours to touch."""
    if isinstance(value, str):
        return redactor.secrets(value)[0]
    if isinstance(value, dict):
        return {k: v if k in OPAQUE else masked(v, redactor) for k, v in value.items()}
    if isinstance(value, list):
        return [masked(item, redactor) for item in value]
    return value


def masked_reply(reply: Reply, redactor: Redactor) -> Reply:
    """The whole reply without secrets; the same object where it has none."""
    withheld = withheld_in(reply)
    calls = [masked_call(call, redactor, withheld) for call in reply.tool_calls]
    broken = [masked_call(call, redactor, withheld) for call in reply.invalid_tool_calls]
    extra = masked_fields(reply.additional_kwargs, redactor)
    changes = {
        "content": _content(reply.content, redactor),
        "tool_calls": calls,
        "invalid_tool_calls": broken,
        "additional_kwargs": {**extra, WITHHELD: withheld} if withheld else extra,
    }
    changes = {name: new for name, new in changes.items() if new != getattr(reply, name)}
    return masked_beside(reply.model_copy(update=changes) if changes else reply, redactor)


SIGNED = OPAQUE - {"id", "type"}

_HALF = r"\ud"
"""How Python writes half of a character."""


def masked_beside(reply: Reply, redactor: Redactor) -> Reply:
    """The reply without secrets in what is no word of it: ids, names, metadata, names of fields;
    nor with halves of characters there, which no checkpoint takes.

    Nearly always there is neither, which one look at all of it together tells.
    """
    calls = [*reply.tool_calls, *reply.invalid_tool_calls]
    blocks = reply.content if isinstance(reply.content, list) else ()
    beside = (reply.id, reply.name, [c["id"] for c in calls], blocks)
    fields = (reply.response_metadata, reply.additional_kwargs, reply.usage_metadata)
    told = repr((beside, fields))
    if _HALF not in told and not redactor.secrets(told)[1]:
        return reply

    def shown(value: Any) -> Any:
        if isinstance(value, dict):
            return {shown(k): v if k in SIGNED else shown(v) for k, v in value.items()}
        if isinstance(value, list):
            return [shown(item) for item in value]
        return redactor.secrets(searchable(value))[0] if isinstance(value, str) else value

    changes = {
        "id": reply.id if shown(reply.id) == reply.id else None,
        "name": shown(reply.name),
        "response_metadata": shown(reply.response_metadata),
        "additional_kwargs": shown(reply.additional_kwargs),
        "usage_metadata": shown(reply.usage_metadata),
        "tool_calls": [{**call, "id": shown(call["id"])} for call in reply.tool_calls],
        "invalid_tool_calls": [{**c, "id": shown(c["id"])} for c in reply.invalid_tool_calls],
    }
    if blocks:
        changes["content"] = shown(blocks)
    changes = {name: new for name, new in changes.items() if new != getattr(reply, name)}
    return reply.model_copy(update=changes) if changes else reply


def masked_call(call: Any, redactor: Redactor, withheld: Withheld) -> Any:
    """A proposed call with its secrets masked; the labels are added to `withheld`."""
    args = call.get("args")
    if isinstance(args, str):
        shown, found = masked_json(args, redactor)
    else:
        shown, found = masked_arguments(args, redactor)
    if found:
        note(withheld, call.get("id"), found)
    new = {**call, "args": shown, "name": redactor.secrets(call["name"] or "")[0]}
    if isinstance(call.get("error"), str):
        new["error"] = redactor.secrets(call["error"])[0]
    return new


def note(withheld: Withheld, call_id: str | None, labels: Iterable[str]) -> None:
    """Add the labels to what is noted under this call's id."""
    withheld[call_id or ""] = sorted({*withheld.get(call_id or "", ()), *labels})


def withheld_in(message: Any) -> Withheld:
    """What was masked in the arguments of a message's calls, by call id."""
    noted = getattr(message, "additional_kwargs", {}).get(WITHHELD)
    if not isinstance(noted, Mapping):
        return {}
    return {str(call_id): [*map(str, labels)] for call_id, labels in noted.items()}


def masked_fields(fields: Mapping[str, Any], redactor: Redactor) -> dict[str, Any]:
    """A message's additional fields; an object that was parsed from a secret is left out."""
    out = {}
    for name, value in fields.items():
        if isinstance(value, BaseModel):
            data = value.model_dump(mode="json")
            if redactor.value(data) != data:
                continue
        out[name] = masked(value, redactor)
    return out


def masked_json(text: str, redactor: Redactor) -> tuple[str, tuple[str, ...]]:
    """Arguments as a model wrote them, with secrets masked also behind JSON's escapes."""
    shown, labels = redactor.secrets(text)
    arguments, _ = parse_arguments(text)
    if arguments is None:
        return shown, labels
    new, found = masked_arguments(arguments, redactor)
    if not labels and new == arguments:
        return text, ()
    return json.dumps(new, ensure_ascii=False), tuple(dict.fromkeys((*labels, *found)))


def masked_block(block: Any, redactor: Redactor) -> Any:
    """A block of content without secrets; what repeats a call is masked as the call is."""
    if not isinstance(block, dict) or block.get("type") not in CALLS:
        return masked(block, redactor)
    new = redactor.value(block)
    for field in _ARGUMENTS:
        if isinstance(block.get(field), str):
            new[field] = masked_json(block[field], redactor)[0]
    return new


_ARGUMENTS = ("partial_json", "input", "arguments", "args")
"""Fields of a block in which the arguments of a call stand as a text."""


def _content(content: Any, redactor: Redactor) -> Any:
    if isinstance(content, str):
        return redactor.secrets(content)[0]
    return [masked_block(block, redactor) for block in content]
