"""What a tool gives back as text for a model: any value at all has one."""

from __future__ import annotations

import inspect
import math
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import asdict, is_dataclass
from enum import Enum
from itertools import islice
from typing import Any

from langchain_core.messages import BaseMessage
from pydantic import BaseModel

from ..guards.verdict import canonical_json

MAX_ITEMS = 1_000
"""Items taken from a tool that returns an iterator."""

MAX_VALUES = 200_000
"""Values taken from a tool that returns data; of the rest it is said that there is more."""

MAX_CHARS = 5_000_000
"""Characters of a text that are looked at at all; nobody gets to see the rest."""

MAX_BITS = 14_000
"""Of a whole number: Python writes none that is much longer."""

MORE = "(and more, left out here)"


def as_text(value: object) -> str:
    """Any value as text: text as it is, data as JSON, anything else by its type."""
    text = _text(value)
    if len(text) <= MAX_CHARS:
        return text
    return f"{text[:MAX_CHARS]}\n[left out here: {len(text) - MAX_CHARS} more characters]"


def _text(value: object) -> str:
    match value:
        case str():
            return value
        case None:
            return ""
        case BaseMessage():
            return value.text
        case bytes() | bytearray():
            return _bytes_text(value)
        case BaseException():
            return f"{type(value).__name__}: {first_line(value)}"
    try:
        data = _Plain().of(value)
        return data if isinstance(data, str) else canonical_json(data)
    except (TypeError, ValueError, RecursionError):
        return f"(a value of type {type(value).__name__}, which has no text form)"


async def first_items(values: AsyncGenerator[Any, Any]) -> list[Any]:
    """What an async iterator gives, as far as it is looked at."""
    items: list[Any] = []
    async with aclosing(values):
        async for value in values:
            if len(items) == MAX_ITEMS:
                return [*items, MORE]
            items.append(value)
    return items


def first_line(error: BaseException) -> str:
    """The first line of an exception's text, cut to a line's length."""
    try:
        lines = str(error).splitlines()
    except Exception:  # noqa: BLE001 - an exception whose text fails has no text
        return ""
    return lines[0][:500] if lines else ""


def _bytes_text(value: bytes | bytearray) -> str:
    try:
        return value[: 4 * MAX_CHARS].decode()
    except UnicodeDecodeError:
        return f"({len(value)} bytes that are not text)"


class _Plain:
    """A value as JSON data: models, dataclasses, sets, iterators, numbers of other libraries."""

    def __init__(self) -> None:
        self._left = MAX_VALUES

    def of(self, value: Any) -> Any:
        match value:
            case Enum():
                return self.of(value.value)
            case float() if not math.isfinite(value):
                return str(value)
            case int() if value.bit_length() > MAX_BITS:
                return "(a number that is too long to write)"
            case str() | int() | float() | bool() | None:
                return value
            case BaseModel():
                return value.model_dump(mode="json")
            case Mapping():
                return self._mapping(value)
            case list() | tuple() | set() | frozenset():
                return self._items(value)
            case bytes():
                return _bytes_text(value)
        if is_dataclass(value) and not isinstance(value, type):
            return self.of(asdict(value))
        if inspect.isgenerator(value) or hasattr(value, "__next__"):
            return self._first(value)
        size = getattr(value, "size", 1)  # in some libraries a method
        if hasattr(value, "dtype") and not (isinstance(size, int) and size > MAX_VALUES):
            for name in ("tolist", "item"):  # an array of numpy's and the like, or one number
                if callable(getattr(value, name, None)):
                    return self.of(getattr(value, name)())
        if callable(getattr(value, "isoformat", None)):
            return value.isoformat()
        kind: Any = type(value)
        if kind.__str__ is object.__str__ and kind.__repr__ is object.__repr__:
            raise TypeError(kind.__name__)
        return str(value)

    def _first(self, values: Iterator[Any]) -> list[Any]:
        items = [self.of(value) for value in islice(values, MAX_ITEMS)]
        return [*items, MORE] if next(values, values) is not values else items

    def _items(self, values: Iterable[Any]) -> list[Any]:
        items: list[Any] = []
        for value in values:
            if self._left <= 0:
                return [*items, MORE]
            self._left -= 1
            items.append(self.of(value))
        return items

    def _mapping(self, values: Mapping[Any, Any]) -> dict[str, Any]:
        items: dict[str, Any] = {}
        for key, value in values.items():
            if self._left <= 0:
                return {**items, "...": MORE}
            self._left -= 1
            items[str(key)] = self.of(value)
        return items
