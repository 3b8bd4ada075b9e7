"""Type hints as pydantic can read them, and what of them a model could not be told.

Some hints that people write say what is meant and yet do not work as they stand: a `TypedDict` of
the standard library before Python 3.12, a `Literal` of enum members, a set (whose order differs
from one process to the next, and with it what an approval was given for).
"""

from __future__ import annotations

import sys
import types
import typing
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from enum import Enum
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typing_extensions
from pydantic import BeforeValidator, TypeAdapter, WrapSerializer
from pydantic.errors import PydanticUserError

from ...guards.verdict import canonical_json

_SAYS = frozenset({"type", "enum", "const", "anyOf", "oneOf", "allOf", "$ref"})
_NESTED = 20


def portable(hint: Any, depth: int = 0) -> Any:
    """The hint, with what would not work as it stands replaced by what means the same."""
    if depth > _NESTED:
        return hint
    if typing.is_typeddict(hint) and sys.version_info < (3, 12):
        return _typed_dict(hint, depth)
    origin, args = get_origin(hint), get_args(hint)
    if origin is Literal:
        return _literal(hint, args)
    if not args or hint is Any:
        return _ordered(hint) if hint in (set, frozenset, AbstractSet) else hint
    if origin is Annotated:
        inner = portable(args[0], depth + 1)
        return hint if inner is args[0] else Annotated[(inner, *hint.__metadata__)]
    made = [portable(arg, depth + 1) for arg in args]
    if any(new is not old for new, old in zip(made, args, strict=True)):
        hint = _rebuilt(hint, origin, made)
    return _ordered(hint) if origin in (set, frozenset, AbstractSet) else hint


def _rebuilt(hint: Any, origin: Any, args: list[Any]) -> Any:
    if origin is Union or isinstance(hint, types.UnionType):
        return Union[tuple(args)]  # noqa: UP007 - made of what is only known here
    return hint.copy_with(tuple(args)) if hasattr(hint, "copy_with") else origin[tuple(args)]


def _typed_dict(hint: Any, depth: int) -> Any:
    fields: dict[str, Any] = {}
    marks: tuple[Any, ...] = (typing_extensions.Required, typing_extensions.NotRequired)
    for name, kind in typing_extensions.get_type_hints(hint, include_extras=True).items():
        mark = marks[name not in hint.__required_keys__]
        while get_origin(kind) in marks:  # of a class whose hints are texts, it knows no better
            mark, (kind,) = get_origin(kind), get_args(kind)
        fields[name] = mark[portable(kind, depth + 1)]
    return typing_extensions.TypedDict(hint.__name__, fields)  # type: ignore[operator]


def _literal(hint: Any, args: tuple[Any, ...]) -> Any:
    members = [arg for arg in args if isinstance(arg, Enum)]
    if not members:
        return hint

    def as_member(value: Any) -> Any:
        return next((member for member in members if member.value == value), value)

    return Annotated[hint, BeforeValidator(as_member)]


def _ordered(hint: Any) -> Any:
    return Annotated[hint, WrapSerializer(_sorted, when_used="json")]


def _sorted(values: Any, write: Any) -> Any:
    return sorted(write(values), key=canonical_json)


def unspoken(hint: Any) -> tuple[str, str]:
    """Why a model could not be told what is meant, and what to do; empty where it could be.

    Raises:
        PydanticUserError, NameError, TypeError, ValueError: the hint has no schema at all.
    """
    schema = TypeAdapter(hint).json_schema()
    for part in _parts(schema):
        if part.get("format") == "binary":
            return "bytes have no JSON form", "take text and decode it"
        if part.get("writeOnly"):
            return "a secret is not the model's to give", "read it from the environment"
    if any(not _SAYS & part.keys() for part in (schema, *schema.get("anyOf", ()))):
        return "it does not say what may stand there", "name the type that is meant"
    for key in _keys(hint, 0):
        if TypeAdapter(key).json_schema().get("type") in ("array", "object"):
            return "the keys of a JSON object are texts", "take a list of items with the key in it"
    return "", ""


def _parts(schema: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(schema, Mapping):
        yield schema
        schema = list(schema.values())
    if isinstance(schema, list):
        for part in schema:
            yield from _parts(part)


def _keys(hint: Any, depth: int) -> Iterator[Any]:
    """The types of the keys of mappings in the hint."""
    args = get_args(hint)
    if depth > _NESTED or get_origin(hint) is Literal:
        return
    origin = get_origin(hint)
    if isinstance(origin, type) and issubclass(origin, Mapping) and len(args) == 2:
        yield args[0]
    for arg in args[:1] if origin is Annotated else args:
        yield from _keys(arg, depth + 1)


NO_SCHEMA = (PydanticUserError, NameError, TypeError, ValueError)
"""What pydantic raises for a hint that it cannot make a schema of."""
