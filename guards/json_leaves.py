"""JSON text inside a value, and the paths of the values inside arguments."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from .encodings import json_text

MAX_OPENED = 4
"""Levels of JSON text within JSON text that are opened."""

NO_JSON = object()
TOO_DEEP = object()


def as_json(text: str) -> Any:
    """The value of a text that is JSON (an object, a list, a string); `NO_JSON` otherwise."""
    core = text.strip()
    if len(core) < 2 or core[0] + core[-1] not in ("{}", "[]", '""'):
        return NO_JSON
    try:
        return json.loads(core, object_pairs_hook=_all_pairs)
    except RecursionError:
        return TOO_DEEP
    except ValueError:
        return NO_JSON


def without_escapes(text: str, inner: Any) -> str:
    """JSON text as what it says: the string that it is, or itself with the escapes undone."""
    for _ in range(MAX_OPENED):
        if type(inner) is not str:
            break
        text, inner = inner, as_json(inner)
    return text if inner is NO_JSON else json_text(text)


def _all_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object that keeps every value of a repeated key."""
    found: dict[str, Any] = dict(pairs)
    if len(found) != len(pairs):
        found = {key: [] for key in found}
        for key, value in pairs:
            found[key].append(value)
    return found


def leaf_paths(value: Any, path: str) -> Iterator[str]:
    """The path of every leaf, in the order in which `Examined` numbers them."""
    if isinstance(value, dict):
        for key, item in value.items():
            below = f"{path}.{key}" if path else key
            yield below
            yield from leaf_paths(item, below)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from leaf_paths(item, f"{path}[{number}]")
    elif value is not None and not isinstance(value, bool):
        yield path
