"""A file's schema as JSON Schema, for editors: they complete keys and mark what is wrong.

It says what the models say; what only several keys together show to be wrong is seen at load.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema

from ..guards.rules import rule_modules
from .schema import policy_model

Schema = dict[str, Any]


def policy_schema() -> Schema:
    """The schema of a policy file, with the keys of every rule kind that is installed."""
    found = schema_of(policy_model(), title="Edgeward policy")
    for key, module in rule_modules().items():
        said = (getattr(module, "__doc__", "") or "").strip()
        found["properties"][key]["description"] = said
    return found


def schema_of(model: type[BaseModel], *, title: str) -> Schema:
    """The schema of a file that holds this model."""
    found: Schema = {"$schema": GenerateJsonSchema.schema_dialect, **model.model_json_schema()}
    found["title"] = title
    for part in (found, *found.get("$defs", {}).values()):
        _blank_may_be(part)
    _as_editors_write_patterns(found)
    return found


def _as_editors_write_patterns(part: object) -> None:
    r"""JSON Schema's regular expressions have no `\A` and `\z`."""
    if isinstance(part, dict):
        if isinstance(part.get("pattern"), str):
            part["pattern"] = re.sub(r"\\[zZ]", "$", part["pattern"].replace(r"\A", "^"))
        part = list(part.values())
    for inner in part if isinstance(part, list) else ():
        _as_editors_write_patterns(inner)


def _blank_may_be(part: Schema) -> None:
    """A key whose value is left blank counts as omitted."""
    required = part.get("required", ())
    for key, value in part.get("properties", {}).items():
        if key not in required and not _takes_null(value):
            notes = {name: value[name] for name in ("title", "description") if name in value}
            rest = {name: item for name, item in value.items() if name not in notes}
            part["properties"][key] = {**notes, "anyOf": [rest, {"type": "null"}]}


def _takes_null(part: Mapping[str, Any]) -> bool:
    return any(option.get("type") == "null" for option in part.get("anyOf", ()))
