"""What a server says of one of its tools: told apart by a hash, and checked before it is offered.

All of it is written by whoever runs the server, and a model reads it on every call.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ....guards.hidden import cleaned
from ....guards.injection import scored
from .failures import one_line

if TYPE_CHECKING:
    from mcp.types import Tool

MAX_DESCRIPTION = 10_000
"""Characters of a description."""
MAX_SCHEMA = 60_000
"""Characters of a schema as JSON."""
MAX_DEPTH = 30
ORDERS = 0.5
"""Score of injection signals from which a text reads like orders to a model."""
MAX_VALUES = 10_000
"""Values of a schema once every reference in it is written out."""

_LOCAL = re.compile(r"#/(?P<place>\$defs|definitions)/(?P<name>[^/~%]+)\Z")
_ELSEWHERE = "its schema refers to what is not in it"
_NAME = re.compile(r"[a-zA-Z0-9_./-]{1,64}\Z")
_TOLD = frozenset({"description", "title", "$comment"})
"""Keys of a schema whose text is told and never sent."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A tool as its server describes it. Equal if and only if the hash is."""

    name: str
    description: str
    schema_json: str
    """The argument schema as canonical JSON."""

    @property
    def schema(self) -> dict[str, Any]:
        """The argument schema; the caller's own copy."""
        found: dict[str, Any] = json.loads(self.schema_json)
        return found

    @property
    def digest(self) -> str:
        """A hash of all of it."""
        whole = canonical([self.name, self.description, self.schema_json])
        return "sha256:" + hashlib.sha256(whole.encode()).hexdigest()


def canonical(value: object) -> str:
    """JSON in the one form that hashes are taken of: sorted, tight, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def definition_of(tool: Tool) -> Definition:
    """What a server's listing says."""
    return Definition(tool.name, tool.description or "", canonical(tool.inputSchema))


def offered_name(name: str) -> str:
    """The tool's name as providers take it: dots and slashes become `_`; empty if it has none."""
    return re.sub(r"[./]", "_", name) if _NAME.match(name) else ""


@dataclass(frozen=True, slots=True)
class Offer:
    """A definition as a model gets to read it; `hidden` names what was taken out."""

    name: str
    description: str
    schema: dict[str, Any]
    hidden: tuple[str, ...]


def offer_of(definition: Definition) -> Offer:
    """The definition without hidden characters.

    Raises:
        ValueError: it cannot be offered to a model, and why.
    """
    if fault := fault_of(definition):
        raise ValueError(fault)
    description, hidden = cleaned(definition.description)
    labels = dict.fromkeys(hidden)
    schema = _without_hidden(definition.schema, labels)
    return Offer(offered_name(definition.name), description, schema, tuple(labels))


def fault_of(definition: Definition) -> str:
    """Why a definition cannot be offered to a model; empty where it can."""
    if not offered_name(definition.name):
        allowed = "1 to 64 of a-z A-Z 0-9 _ - . /"
        return f"{one_line(definition.name)!r} is no name that providers take ({allowed})"
    if len(definition.description) > MAX_DESCRIPTION:
        size = len(definition.description)
        return f"its description has {size:,} characters, more than {MAX_DESCRIPTION:,}"
    if len(definition.schema_json) > MAX_SCHEMA:
        size = len(definition.schema_json)
        return f"its schema has {size:,} characters of JSON, more than {MAX_SCHEMA:,}"
    schema = definition.schema
    for value, depth, told in _values(schema):
        if depth > MAX_DEPTH:
            return f"its schema is more than {MAX_DEPTH} levels deep"
        if isinstance(value, str) and not told and cleaned(value)[1]:
            return "its schema has hidden characters in a name or a value"
    return _reference_fault(schema)


def orders_in(definition: Definition) -> tuple[str, ...]:
    """What of its texts reads like orders to a model, by labels; empty where little does."""
    texts = [definition.description[:MAX_SCHEMA]]
    if len(definition.schema_json) <= MAX_SCHEMA:
        texts += [v for v, _, _ in _values(definition.schema) if isinstance(v, str)]
    score, labels = scored("\n".join(texts))
    return labels if score >= ORDERS else ()


def _values(value: Any) -> Iterator[tuple[Any, int, bool]]:
    """Every value and key of a schema, its depth, and whether it is told and never sent."""
    left = [(value, 0, False)]
    while left:
        value, depth, told = left.pop()
        yield value, depth, told
        if depth > MAX_DEPTH:
            continue
        if isinstance(value, dict):
            left += [(key, depth + 1, False) for key in value]
            left += [(one, depth + 1, key in _TOLD) for key, one in value.items()]
        elif isinstance(value, list):
            left += [(one, depth + 1, False) for one in value]


def _reference_fault(schema: Mapping[str, Any]) -> str:
    """References only to the schema's own parts, in no circle, and few once they are written out.

    A schema of a few lines can stand for more than fits into memory.
    """
    sizes: dict[tuple[str, str], int] = {}
    open_: set[tuple[str, str]] = set()

    def size(value: Any) -> int:
        if isinstance(value, list):
            return 1 + sum(map(size, value))
        if not isinstance(value, dict):
            return 1
        total = 1 + sum(size(one) for one in value.values())
        if "$dynamicRef" in value or "$recursiveRef" in value:
            raise ValueError(_ELSEWHERE)
        if isinstance(reference := value.get("$ref"), str):
            total += referred(reference)
        if total > MAX_VALUES:
            raise ValueError(f"its schema stands for more than {MAX_VALUES:,} values")
        return total

    def referred(reference: str) -> int:
        match = _LOCAL.match(reference)
        part = schema.get(match["place"]) if match else None
        if match is None or not isinstance(part, dict) or match["name"] not in part:
            raise ValueError(_ELSEWHERE)
        key = match["place"], match["name"]
        if key in open_:
            raise ValueError("its schema contains itself")
        if key not in sizes:
            open_.add(key)
            sizes[key] = size(part[match["name"]])
            open_.discard(key)
        return sizes[key]

    try:
        size(schema)
    except ValueError as error:
        return str(error)
    except RecursionError:
        return "its schema refers too deeply"
    return ""


def _without_hidden(value: Any, labels: dict[str, None]) -> Any:
    if isinstance(value, list):
        return [_without_hidden(one, labels) for one in value]
    if not isinstance(value, dict):
        return value
    out = {}
    for key, one in value.items():
        if key in _TOLD and isinstance(one, str):
            one, hidden = cleaned(one)
            labels.update(dict.fromkeys(hidden))
        out[key] = _without_hidden(one, labels)
    return out
