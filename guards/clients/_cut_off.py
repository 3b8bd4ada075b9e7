"""A stream that ends: calls that were never whole, and tokens that nobody counted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

CUT_OFF = "the stream ended before the call was whole"
"""Why a call is refused that nobody has seen to its end."""

CHARS_PER_TOKEN = 4
"""For an estimate where the provider says nothing."""


def estimated_tokens(written: int, read: Any) -> int:
    """Tokens where the provider does not say: by the characters that it wrote and that it read."""
    return (written + _chars(read)) // CHARS_PER_TOKEN


def _chars(value: Any) -> int:
    """The characters of all texts in a value."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Mapping):
        return sum(map(_chars, value.values()))
    return sum(map(_chars, value)) if isinstance(value, list | tuple) else 0
