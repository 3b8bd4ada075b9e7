"""The arguments of a call, parsed once and strictly from the text that a model wrote."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any

from .verdict import Arguments

MAX_CHARS = 4_000_000
"""Characters in all leaves of a call."""

MAX_DEPTH = 64
"""Levels of objects and lists."""


class _NotJson(ValueError):
    """The arguments are no JSON object; the text says why, without quoting them."""


def parse_arguments(raw: str) -> tuple[Arguments | None, str | None]:
    """The arguments of a call from the text that a model wrote, or the fault that forbids them.

    Exactly one of the two is None. Strict: one JSON object, no repeated key, nothing behind it, no
    NaN or infinity, no absurd size or depth. Blank text is a call without arguments.
    """
    if not raw.strip():
        return {}, None
    if len(raw) > MAX_CHARS:
        return None, f"arguments are longer than {MAX_CHARS} characters"
    try:
        value = _DECODER.decode(raw)
    except RecursionError:
        return None, "arguments are nested too deeply"
    except json.JSONDecodeError as error:
        return None, f"arguments are not valid JSON ({error.msg}, character {error.pos})"
    except _NotJson as error:
        return None, str(error)
    except ValueError:
        return None, "arguments hold a number that is too long"
    if not isinstance(value, dict):
        return None, f"arguments are a JSON {_json_kind(value)}, not an object"
    if _deeper(value, MAX_DEPTH):
        return None, "arguments are nested too deeply"
    return value, None


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _NotJson("arguments hold the same key twice")
    return found


def _no_constant(name: str) -> Any:
    raise _NotJson(f"arguments hold {name}, which is not JSON")


def _finite(number: str) -> float:
    value = float(number)
    if not math.isfinite(value):
        raise _NotJson("arguments hold a number that is too large")
    return value


_DECODER = json.JSONDecoder(
    object_pairs_hook=_no_repeats, parse_constant=_no_constant, parse_float=_finite
)


def _json_kind(value: object) -> str:
    kinds = {list: "list", str: "string", bool: "boolean", type(None): "null"}
    return kinds.get(type(value), "number")


def _deeper(value: dict[str, Any], depth: int) -> bool:
    """Whether `value` has more than `depth` levels."""
    level: list[Any] = [value]
    for _ in range(depth):
        level = [x for v in level for x in _children(v) if type(x) in _NESTING and x]
        if not level:
            return False
    return True


_NESTING = (dict, list)


def _children(value: Any) -> Iterable[Any]:
    return value.values() if type(value) is dict else value
