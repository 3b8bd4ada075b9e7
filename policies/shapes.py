"""What a pydantic model says of the place of a value: which keys it knows, what a blank means."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel

from .problems import FieldPath


def without_blanks(data: object, shapes: Sequence[Any]) -> Any:
    """`data` without the model fields whose value is blank: such a key counts as omitted.

    Only fields: a blank value under a name that the author made up (a tool's, a header's) is a
    mistake, and so is a blank list item. Both stay, and are refused.
    """
    return _without_blanks(data, shapes) if _holds_blank(data) else data


def _holds_blank(data: object) -> bool:
    """Whether something in it is blank: in most files nothing is."""
    if isinstance(data, dict | list):
        return any(map(_holds_blank, data.values() if isinstance(data, dict) else data))
    return data is None


def _without_blanks(data: object, shapes: Sequence[Any]) -> Any:
    if isinstance(data, dict):
        fields = set(_fields(shapes))
        return {
            key: _without_blanks(item, [inner for shape in shapes for inner in _inside(shape, key)])
            if isinstance(item, dict | list)
            else item
            for key, item in data.items()
            if item is not None or key not in fields
        }
    if isinstance(data, list):
        inner = [inner for shape in shapes for inner in _inside(shape, 0)]
        return [_without_blanks(item, inner) for item in data]
    return data


def keys_at(model: type[BaseModel], path: FieldPath) -> list[str]:
    """The keys that the model knows at `path`."""
    shapes: list[Any] = [model]
    for part in path:
        shapes = [inner for shape in shapes for inner in _inside(shape, part)]
    return list(dict.fromkeys(_fields(shapes)))


def _fields(shapes: Sequence[Any]) -> Iterator[str]:
    """The field names of the models among `shapes`."""
    for shape in shapes:
        for member in _members(shape):
            if isinstance(member, type) and issubclass(member, BaseModel):
                for name, info in member.model_fields.items():
                    yield info.alias or name


def _members(shape: Any) -> Iterator[Any]:
    """The alternatives of a union, without their annotations."""
    if get_origin(shape) is Annotated:
        yield from _members(get_args(shape)[0])
    elif get_origin(shape) in (Union, types.UnionType):
        for member in get_args(shape):
            yield from _members(member)
    else:
        yield shape


def _inside(shape: Any, part: str | int) -> Iterator[Any]:
    """The shapes that stand at key or position `part` of `shape`."""
    for member in _members(shape):
        origin, arguments = get_origin(member), get_args(member)
        if isinstance(member, type) and issubclass(member, BaseModel):
            for name, info in member.model_fields.items():
                if part in (info.alias, name):
                    yield info.annotation
        elif arguments and isinstance(origin, type) and issubclass(origin, Mapping):
            yield arguments[1]
        elif arguments and isinstance(part, int):
            yield arguments[0]
