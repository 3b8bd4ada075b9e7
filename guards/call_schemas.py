"""Arguments as a tool's own schema reads them: what is judged is what will run (I3).

`"7"` becomes 7, defaults are filled in, and what the schema does not know is refused rather than
dropped.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

from pydantic import BaseModel, ValidationError

from .verdict import canonical_json


def canonical_arguments(
    schema: type[BaseModel] | None, arguments: Mapping[str, Any]
) -> dict[str, Any]:
    """Arguments as the schema reads them, as JSON values.

    Raises:
        ValueError: they do not fit (pydantic's `ValidationError` is one), or name what the
            schema does not know.
        TypeError: they are not JSON.
    """
    canonical_json(arguments)
    if schema is None:
        return dict(arguments)
    known = _names(schema)
    if not known.issuperset(arguments) and schema.model_config.get("extra") != "allow":
        unknown = sorted(set(arguments) - known)
        allowed = ", ".join(sorted(known)) or "none"
        raise ValueError(f"unknown argument {', '.join(unknown)[:120]}; allowed: {allowed}")
    result = _read(schema, arguments)
    # The tool reads them once more when it runs: then it must not run something else.
    try:
        again = _dumped(schema, result)
    except ValidationError:
        # A default of None for what is no Optional (`cc: str = None`): the tool fills it in again.
        kept = {name: v for name, v in result.items() if v is not None or name in arguments}
        if _read(schema, kept) == result:
            return kept
        again = {}
    if again != result:
        raise ValueError("the tool's schema reads them differently each time")
    return result


def arguments_fault(error: Exception) -> str:
    """What is wrong with the arguments, in one line, without their values."""
    if isinstance(error, ValidationError):
        problems = [
            f"{'.'.join(map(str, e['loc'])) or 'arguments'}: {e['msg']}"
            for e in error.errors(include_url=False, include_input=False, include_context=False)
        ]
        return "wrong arguments: " + "; ".join(problems[:5])
    if isinstance(error, RecursionError):
        return "wrong arguments: nested too deeply"
    return f"wrong arguments: {error}"


def _read(schema: type[BaseModel], arguments: Mapping[str, Any]) -> dict[str, Any]:
    result = _dumped(schema, arguments)
    canonical_json(result)
    return result


def _dumped(schema: type[BaseModel], arguments: Mapping[str, Any]) -> dict[str, Any]:
    read = schema.model_validate(dict(arguments))
    dumped: dict[str, Any] = read.model_dump(mode="json", by_alias=True)
    return dumped


_known: WeakKeyDictionary[type[BaseModel], frozenset[str]] = WeakKeyDictionary()


def _names(schema: type[BaseModel]) -> frozenset[str]:
    names = _known.get(schema)
    if names is None:
        fields = schema.model_fields.items()
        names = _known[schema] = frozenset(field.alias or name for name, field in fields)
    return names
