"""What a server answers to a call, as text for a model: every shape of it, and its errors."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .failures import folded

if TYPE_CHECKING:
    from mcp.types import CallToolResult

MAX_CHARS = 1_000_000
"""Characters of a result that are handed on; the tool node cuts further."""


def text_of(result: CallToolResult) -> str:
    """The result as text: blocks one after the other, what is no text as a line that names it.

    Data that the text does not say already follows as JSON. Names and addresses are whole: keys in
    them are to be masked before anything is cut short.
    """
    texts = [_block(block) for block in result.content]
    data = result.structuredContent
    if data is not None and not _is_said(texts, data):
        texts.append(json.dumps(data, ensure_ascii=False))
    whole = "\n".join(text for text in texts if text)
    if len(whole) > MAX_CHARS:
        whole = f"{whole[:MAX_CHARS]}\n({len(whole) - MAX_CHARS:,} more characters are cut off)"
    return whole


def _block(block: Any) -> str:
    match block.type:
        case "text":
            return str(block.text)
        case "image" | "audio":
            return (
                f"({block.type} of type {folded(block.mimeType)}, {_size(block.data)}, not shown)"
            )
        case "resource_link":
            about = [block.title or block.name, block.mimeType, block.description]
            told = ", ".join(folded(part) for part in about if part)
            return f"(resource {folded(str(block.uri))}: {told})"
        case "resource":
            return _resource(block.resource)
    return f"(content of type {folded(str(block.type))}, not shown)"


def _resource(resource: Any) -> str:
    uri = folded(str(resource.uri))
    if hasattr(resource, "text"):
        return f"(resource {uri})\n{resource.text}"
    kind = folded(resource.mimeType or "unknown type")
    return f"(resource {uri}: {kind}, {_size(resource.blob)}, not shown)"


def _size(base64: str) -> str:
    return f"{len(base64) * 3 // 4:,} bytes"


def _is_said(texts: list[str], data: dict[str, Any]) -> bool:
    """Whether the text blocks say what the data says: servers repeat it for older clients."""
    values: list[Any] = [data]
    if data.keys() == {"result"}:  # a bare value, wrapped
        values.append(data["result"])
    read = [_read(text) for text in texts]
    forms: list[Any] = [texts, read]
    if len(texts) == 1:
        forms += [texts[0], read[0]]
    return any(form == value for form in forms for value in values)


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
