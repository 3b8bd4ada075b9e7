"""`edgeward schema`: what a file may hold, as JSON Schema for editors."""

from __future__ import annotations

import json
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import options
from .failures import reported

if TYPE_CHECKING:
    from ..policies.json_schema import Schema

EXAMPLE = "Example:  edgeward schema policy > policy.schema.json"


class FileKind(str, Enum):
    """The kinds of file that are read."""

    policy = "policy"
    profile = "profile"
    strategy = "strategy"


def schema(
    kind: Annotated[FileKind, typer.Argument(help="Which file.")], debug: options.Debug = False
) -> None:
    """Print the JSON Schema of a policy, a profile or a strategy.

    An editor that speaks YAML completes and checks a file that begins with
    `# yaml-language-server: $schema=policy.schema.json`.
    """
    with reported(debug=debug):
        typer.echo(json.dumps(schema_for(kind.value), indent=2, ensure_ascii=False))


def schema_for(kind: str) -> Schema:
    """The JSON Schema of a kind of file, with what installed packages add to it."""
    if kind == "policy":
        from ..policies.json_schema import policy_schema

        return policy_schema()
    return _profile_schema() if kind == "profile" else _strategy_schema()


def _profile_schema() -> Schema:
    from ..policies.json_schema import schema_of
    from ..profiles.schema import AgentProfile

    found = schema_of(AgentProfile, title="Edgeward profile")
    head = {name: found.pop(name) for name in ("$schema", "title")}
    inner = found.pop("$defs", {})
    return {
        **head,
        "type": "object",
        "properties": {"agent": found},
        "required": ["agent"],
        "additionalProperties": False,
        "$defs": inner,
    }


def _strategy_schema() -> Schema:
    from ..graphs.schema import StrategyFile
    from ..nodes import kinds
    from ..policies.json_schema import schema_of

    found = schema_of(StrategyFile, title="Edgeward strategy")
    options: list[dict[str, Any]] = [{"enum": list(kinds())}]
    for name, kind in kinds().items():
        node = schema_of(kind.spec, title=name)
        found.setdefault("$defs", {}).update(node.pop("$defs", {}))
        node.pop("$schema")
        node["properties"]["kind"] = {"const": name}
        options.append(node)
    found["properties"]["nodes"]["additionalProperties"] = {"anyOf": options}
    return found
