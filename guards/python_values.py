"""Python values as the rules see them: JSON values that hide nothing of what they stand for.

Plain Python code passes dates, paths, models. A rule looks at what such a value says; what has
no plain reading (an open file, an iterator, which reading would use up) cannot be checked.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from ipaddress import IPv4Address, IPv6Address
from pathlib import PurePath
from typing import Any
from uuid import UUID

from pydantic import AnyUrl, BaseModel, SecretBytes, SecretStr

from .arguments import MAX_DEPTH, parse_arguments
from .verdict import Arguments, ToolCall

_SPOKEN = (
    *(date, time, timedelta, Decimal, Fraction, UUID, PurePath),
    *(IPv4Address, IPv6Address, AnyUrl),
)


def as_call(
    name: str, arguments: Mapping[str, object] | str | None = None, *, id: str = ""
) -> ToolCall:
    """A call from what code has at hand; `fault` says why it cannot be checked."""
    if isinstance(arguments, str):
        parsed, fault = parse_arguments(arguments)
        return ToolCall(name, parsed or {}, id=id, raw=arguments, fault=fault)
    if arguments is not None and type(arguments) is not dict and not isinstance(arguments, Mapping):
        fault = f"arguments are a {type(arguments).__name__}, not a mapping"
        return ToolCall(name, {}, id=id, fault=fault)
    found, fault = json_arguments({} if arguments is None else arguments)
    return ToolCall(name, found, id=id, fault=fault)


def json_arguments(arguments: Mapping[str, object]) -> tuple[Arguments, str | None]:
    """Keyword arguments as JSON values, and the fault that forbids them or None."""
    found: Arguments = {}
    for name, value in arguments.items():
        if type(value) is str:  # by far the most common, and here without a call
            found[name] = value
            continue
        try:
            found[name] = json_value(value)
        except (TypeError, ValueError) as error:
            return {}, f"argument {ascii(name)[:80]} {error}"
    return found, None


def json_value(value: object, *, depth: int = MAX_DEPTH) -> Any:
    """The value as JSON says it: models and dataclasses by all their fields, secrets unmasked.

    Raises:
        TypeError, ValueError: it has no such reading. The text does not quote it.
    """
    if value is None or type(value) in (str, bool, int):
        return value
    if depth <= 0:
        raise ValueError("is nested too deeply")
    match value:
        case Enum():
            return json_value(value.value, depth=depth - 1)
        case str():
            return str.__str__(value)
        case int():
            return int.__index__(value)
        case float():
            if not math.isfinite(value):
                raise ValueError("holds a number that JSON cannot")
            return float.__float__(value)
        case bytes() | bytearray():
            return bytes(value).decode("utf-8", "replace")
        case SecretStr() | SecretBytes():
            return json_value(value.get_secret_value(), depth=depth - 1)
    fields = _fields(value)
    if fields is not None:
        return _object(fields, depth)
    if isinstance(value, list | tuple | set | frozenset):
        return [json_value(item, depth=depth - 1) for item in value]
    if isinstance(value, _SPOKEN):
        return str(value)
    raise TypeError(f"is a {type(value).__name__}, which cannot be checked")


def _fields(value: object) -> Mapping[Any, object] | None:
    # Not by a serializer of the model's own, which could leave something out.
    if isinstance(value, dict):
        return value
    if isinstance(value, BaseModel):
        return {**value.__dict__, **(value.__pydantic_extra__ or {})}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return None


def _object(fields: Mapping[Any, object], depth: int) -> Arguments:
    found: Arguments = {}
    for key, value in fields.items():
        name = key if type(key) is str else str(json_value(key, depth=depth - 1))
        if name in found:
            raise ValueError("holds the same key twice")
        found[name] = json_value(value, depth=depth - 1)
    return found
