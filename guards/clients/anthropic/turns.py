"""Content blocks of Anthropic's API: which are calls, what they call, what was given back.

A block of a kind that is not known here counts as a call of that kind, so that nothing passes
because it is new.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ...conversation import ModelTurn, Proposed, ToolResult, Turn, UserText
from ...verdict import canonical_json

CONTENT = ("system", "messages", "context_management", "compaction")
"""The fields of a request that hold text for the model."""

CALL = "tool_use"
"""A call that the program runs. The provider runs `server_tool_use`, `mcp_tool_use` and others."""

SIGNED = ("thinking", "redacted_thinking", "compaction")
"""Blocks that have to be sent back as they came."""

NO_CALLS = frozenset(("text", "container_upload", "fallback", "mcp_tool_listing", *SIGNED))
_RESULT = "tool_result"
_NO_TEXT = ("encrypted_content", "encrypted_stdout", "encrypted_index", "citations")


def is_result(block: Mapping[str, Any]) -> bool:
    """Whether a block holds what a call gave back."""
    kind = block.get("type")
    return isinstance(kind, str) and (kind == _RESULT or kind.endswith(f"_{_RESULT}"))


def is_call(block: Any) -> bool:
    """Whether a block is a call, to the best of what is known."""
    if not isinstance(block, Mapping):
        return True
    kind = block.get("type")
    return not (isinstance(kind, str) and (kind in NO_CALLS or is_result(block)))


def is_named_call(block: Mapping[str, Any]) -> bool:
    """Whether it is a call that has a tool's name and an `input`."""
    kind = block.get("type")
    return isinstance(kind, str) and (kind == CALL or kind.endswith(f"_{CALL}"))


def proposed(block: Any, text: str = "") -> Proposed:
    """The call that a block is. `text`: its arguments as a stream spelled them out."""
    given = block if isinstance(block, Mapping) else {}
    call_id = _text(given.get("id"))
    if is_named_call(given):
        arguments = given.get("input")
        return Proposed(_text(given.get("name")), text or _or_none(arguments), call_id)
    fields = {key: value for key, value in given.items() if key not in ("type", "id")}
    return Proposed(_text(given.get("type")), text or fields, call_id)


def with_arguments(block: dict[str, Any], arguments: str) -> dict[str, Any]:
    """The call with other arguments in place of its own."""
    given = json.loads(arguments)
    return {**block, "input": given} if is_named_call(block) else {**block, **given}


def _or_none(arguments: Any) -> Any:
    """What is no mapping goes on as it is, for the guard to refuse."""
    return "" if arguments is None else arguments


def _text(value: Any) -> str:
    """A name or an id. What is no text names nothing, and is refused for that."""
    return value if isinstance(value, str) else ""


def turns_of(messages: Any) -> Iterator[Turn]:
    """The conversation that a request carries. What the system says is nobody's word."""
    for message in messages if isinstance(messages, list | tuple) else ():
        if not isinstance(message, Mapping):
            continue
        content = message.get("content")
        if message.get("role") == "assistant":
            yield from turns_of_reply(content)
        elif message.get("role") == "user":
            yield from _users(content)


def turns_of_reply(content: Any) -> Iterator[Turn]:
    """What the model proposed, and what the provider ran of it, in order."""
    calls: list[Proposed] = []
    for block in content if isinstance(content, list | tuple) else ():
        if not isinstance(block, Mapping):
            continue
        if is_result(block):
            if calls:
                yield ModelTurn(tuple(calls))
                calls = []
            yield _result(block)
        elif is_call(block):
            calls.append(proposed(block))
    if calls:
        yield ModelTurn(tuple(calls))


def _users(content: Any) -> Iterator[Turn]:
    """Results first, as the API has it; then what the user wrote, which no document is."""
    if isinstance(content, str):
        yield UserText(content)
        return
    blocks = content if isinstance(content, list | tuple) else ()
    said = []
    for block in blocks:
        if isinstance(block, str):
            said.append(block)
        elif isinstance(block, Mapping) and is_result(block):
            yield _result(block)
        elif isinstance(block, Mapping) and block.get("type") == "text":
            said.append(_text(block.get("text")))
    if said:
        yield UserText("\n".join(said))


def _result(block: Mapping[str, Any]) -> ToolResult:
    content = block.get("content")
    kind = content.get("type") if isinstance(content, Mapping) else None
    failed = block.get("is_error") is True or (isinstance(kind, str) and kind.endswith("_error"))
    return ToolResult(_text(block.get("tool_use_id")), _read(content), failed=failed)


def _read(content: Any) -> str:
    """What of a result the model reads: a text, the texts of its blocks, or its data."""
    if isinstance(content, str):
        return content
    if isinstance(content, list | tuple):
        return "\n".join(text for text in map(_read_block, content) if text)
    return _data(content) if isinstance(content, Mapping) else ""


def _read_block(block: Any) -> str:
    if not isinstance(block, Mapping):
        return block if isinstance(block, str) else ""
    kind = block.get("type")
    if kind == "text":
        return _text(block.get("text"))
    return "" if kind == "image" else _data(block)


def _data(value: Mapping[str, Any]) -> str:
    """Structured data as JSON, without what only the provider can read."""
    seen = {key: item for key, item in value.items() if key not in _NO_TEXT}
    try:
        return canonical_json(seen)
    except (TypeError, ValueError, RecursionError):
        return str(seen)
