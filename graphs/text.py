"""What a tool gives back as text for a model: any value at all has one."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from enum import Enum
from typing import Any

from langchain_core.messages import BaseMessage
from pydantic import BaseModel

from ..guards.verdict import canonical_json

MAX_ITEMS = 1_000
"""Items taken from a tool that returns an iterator."""


def as_text(value: object) -> str:
    """Any value as text: text as it is, data as JSON, anything else by its type."""
    match value:
        case str():
            return value
        case None:
            return ""
        case BaseMessage():
            return value.text
        case bytes() | bytearray():
            return _bytes_text(bytes(value))
        case BaseException():
            return f"{type(value).__name__}: {first_line(value)}"
    try:
        data = _plain(value)
        return data if isinstance(data, str) else canonical_json(data)
    except (TypeError, ValueError, RecursionError):
        return f"(a value of type {type(value).__name__}, which has no text form)"


def first_line(error: BaseException) -> str:
    """The first line of an exception's text, cut to a line's length."""
    try:
        lines = str(error).splitlines()
    except Exception:  # noqa: BLE001 - an exception whose text fails has no text
        return ""
    return lines[0][:500] if lines else ""


def _bytes_text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return f"({len(value)} bytes that are not text)"


def _plain(value: Any) -> Any:
    """`value` as JSON data: models, dataclasses, sets, iterators, numbers of other libraries."""
    match value:
        case Enum():
            return _plain(value.value)
        case float() if not math.isfinite(value):
            return str(value)
        case str() | int() | float() | bool() | None:
            return value
        case BaseModel():
            return value.model_dump(mode="json")
        case Mapping():
            return {str(k): _plain(v) for k, v in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_plain(v) for v in value]
        case bytes():
            return _bytes_text(value)
    if is_dataclass(value) and not isinstance(value, type):
        return _plain(asdict(value))
    if inspect.isgenerator(value) or hasattr(value, "__next__"):
        return [_plain(v) for v, _ in zip(value, range(MAX_ITEMS), strict=False)]
    if callable(getattr(value, "item", None)) and hasattr(value, "dtype"):
        return _plain(value.item())
    if callable(getattr(value, "isoformat", None)):
        return value.isoformat()
    kind: Any = type(value)
    if kind.__str__ is object.__str__ and kind.__repr__ is object.__repr__:
        raise TypeError(kind.__name__)
    return str(value)
