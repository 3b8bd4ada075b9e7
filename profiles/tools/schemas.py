"""Tool descriptions as every provider takes them.

Providers differ in what they accept; one schema that one of them refuses makes it refuse all
tools. So here: a list always says what its items are, an object says what is required, `const`
becomes `enum`, and fixed-length lists are described by their items.
"""

from __future__ import annotations

import json
import warnings
from typing import Any

from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel

from .signature import refuse

_DROPPED = frozenset({"title", "$schema", "$defs", "definitions"})
_FORMATS = frozenset({"date-time", "date", "time", "duration", "uuid", "email", "uri"})
_NESTED = 40


def tool_schema(tool: BaseTool) -> dict[str, Any]:
    """The tool's description in OpenAI's form: `{"type": "function", "function": {...}}`.

    Raises:
        ToolRegistrationError: the arguments have no schema that providers take.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a parameter that is called like a method of the model
        if _contains_itself(tool):  # LangChain would cut such a type short
            fix = "bound its depth, or take text"
            refuse(tool.name, "", "an argument's type contains itself", fix=fix)
        described = convert_to_openai_tool(tool)
    function = described["function"]
    parameters = function.get("parameters") or {}
    clash = sorted({"anyOf", "oneOf", "allOf"} & parameters.keys())
    if clash or parameters.get("type", "object") != "object":
        refuse(
            tool.name, "", "its arguments are not one object", allowed="an object of named fields"
        )
    fitted = _fit(parameters, tool.name, 0)
    fitted.pop("description", None)
    fitted = {"type": "object", **fitted}
    fitted.setdefault("properties", {})
    fitted.setdefault("required", [])
    if _refuses_extra(tool):
        fitted["additionalProperties"] = False
    for name, field in fitted["properties"].items():
        _check_is_json(tool.name, name, field)
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": function.get("description", ""),
            "parameters": fitted,
        },
    }


def _check_is_json(tool: str, name: str, field: dict[str, Any]) -> None:
    """Refuse a default (or a bound) that JSON has no word for: a request with it cannot be sent."""
    try:
        json.dumps(field, allow_nan=False)
    except ValueError:
        fix = "make the default None, and its type `float | None`"
        refuse(tool, name, "infinity and NaN cannot be told to a model", fix=fix)


def _contains_itself(tool: BaseTool) -> bool:
    schema = tool.tool_call_schema
    if not isinstance(schema, dict):
        if not issubclass(schema, BaseModel):
            return False
        schema = schema.model_json_schema()
    kinds = schema.get("$defs") or schema.get("definitions") or {}
    uses = {name: _references(kind) for name, kind in kinds.items()}
    reached = {name: set(used) for name, used in uses.items()}
    for _ in uses:  # after so many rounds every chain has been followed to its end
        for name, used in reached.items():
            reached[name] = used.union(*(uses.get(other, set()) for other in used))
    return any(name in used for name, used in reached.items())


def _references(part: object) -> set[str]:
    if isinstance(part, list):
        return set().union(*map(_references, part))
    if not isinstance(part, dict):
        return set()
    own = {str(part["$ref"]).rsplit("/", 1)[-1]} if "$ref" in part else set()
    return own.union(*map(_references, part.values()))


def _refuses_extra(tool: BaseTool) -> bool:
    schema = tool.args_schema
    if isinstance(schema, type) and issubclass(schema, BaseModel):
        return schema.model_config.get("extra") == "forbid"
    return False


def _fit(schema: Any, tool: str, depth: int) -> Any:
    if isinstance(schema, list):
        return [_fit(item, tool, depth) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if depth > _NESTED or "$ref" in schema:
        refuse(tool, "", "an argument's type is nested too deeply", fix="take something simpler")
    out: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "properties" and isinstance(value, dict):
            out[key] = {name: _fit(one, tool, depth + 1) for name, one in value.items()}
        elif key in ("anyOf", "oneOf", "allOf", "items", "additionalProperties", "not"):
            out[key] = _fit(value, tool, depth + 1)
        elif key not in _DROPPED:
            out[key] = value
    if "const" in out:
        out["enum"] = [out.pop("const")]
    if out.get("format") not in _FORMATS:
        out.pop("format", None)
    if "prefixItems" in schema:
        out.pop("prefixItems")
        kinds = [_fit(item, tool, depth + 1) for item in schema["prefixItems"]]
        same = all(kind == kinds[0] for kind in kinds)
        out["items"] = kinds[0] if kinds and same else {"anyOf": kinds}
    if out.get("type") == "array" and not out.get("items"):
        out["items"] = {"type": "string"}
    if out.get("type") == "object" and "properties" in out:
        out.setdefault("required", [])
    return out
