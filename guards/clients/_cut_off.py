"""A stream that ends: calls that were never whole, and tokens that nobody counted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..spent import CHARS_PER_TOKEN

CUT_OFF = "the stream ended before the call was whole"
"""Why a call is refused that nobody has seen to its end."""


def estimated_tokens(written: int, read: Any) -> int:
    """Tokens where the provider does not say: by the characters that it wrote and that it read."""
    return (written + chars_in(read)) // CHARS_PER_TOKEN


def chars_in(value: Any) -> int:
    """The characters of all texts in a value."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Mapping):
        return sum(map(chars_in, value.values()))
    return sum(map(chars_in, value)) if isinstance(value, list | tuple) else 0
