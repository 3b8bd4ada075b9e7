"""Content in blocks, as a model reads it: its texts, and what else stands in a block.

A document, a search result or data of a tool's own is read by the model like a text. So it is seen
and looked at like one; only pictures, sounds and files are not read here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .verdict import canonical_json

_TEXTS = frozenset({"text", "input_text", "output_text", "text-plain"})
"""Blocks that are a text and nothing besides."""

_BINARY = frozenset({"data", "base64", "bytes", "file_data", "url", "image_url"})
"""Fields that hold a file, or its address, as one long word."""

_LONGEST_WORD = 256
_FILE = re.compile(r"\s*(?:[A-Za-z0-9+/=_-]+|(?:data|https?):\S+)\s*")
"""In base64, or an address. Minified JSON or Chinese in a document has no blank either."""

OF_FORM = frozenset(
    {"type", "id", "index", "mime_type", "media_type", "cache_control"}
    | {"signature", "thinking", "encrypted_content"}
)
"""Fields that say how to read the others, or that their provider alone may read or change."""


def read_by_model(content: Any) -> str:
    """What a model reads of a message's content: a text, or blocks one after the other.

    What holds anything but texts is read as JSON.
    """
    if isinstance(content, list | tuple):
        return "\n".join(filter(None, map(_read, content)))
    return "" if content is None else _read(content)


def _read(block: Any) -> str:
    if isinstance(block, str):
        return block
    if not isinstance(block, Mapping):
        return str(block)
    if block.get("type") in _TEXTS and isinstance(block.get("text"), str):
        return str(block["text"])
    seen = _without_files(block)
    try:
        return canonical_json(seen) if seen else ""
    except (TypeError, ValueError, RecursionError):
        return str(seen)


def _without_files(value: Any) -> Any:
    """The value without what is no text to anybody, empty mappings included."""
    if isinstance(value, Mapping):
        return {
            name: seen
            for name, item in value.items()
            if name not in OF_FORM and not is_file(name, item)
            if (seen := _without_files(item)) not in ({}, None)
        }
    return [_without_files(item) for item in value] if isinstance(value, list) else value


def is_file(name: str, value: Any) -> bool:
    """Whether a field of a block holds a file."""
    if isinstance(value, bytes):
        return True
    if name not in _BINARY or not isinstance(value, str) or len(value) <= _LONGEST_WORD:
        return False
    return _FILE.fullmatch(value) is not None
