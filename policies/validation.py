"""Plain data against a pydantic model: every fault at once, in words that say what to do.

pydantic says what is wrong with an input value in its own terms and shows the value, which in a
configuration file may be a key or a password. Here its list of faults is retold: where the value
stands, what it is (never what it says), what may stand there, and the nearest allowed word.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ValidationError

from .problems import FieldPath, Problem, did_you_mean, either, spell
from .shapes import keys_at, without_blanks

Model = TypeVar("Model", bound=BaseModel)

_SECRET = re.compile(
    r"key|passw|pwd|secret|token|header|env$|environ|auth|credential|cookie|private|cert",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,30}\Z")
_YES_NO = {"yes": True, "on": True, "no": False, "off": False}


def _yes_or_no(value: object) -> object:
    return _YES_NO.get(value.lower(), value) if isinstance(value, str) else value


Flag = Annotated[
    bool,
    BeforeValidator(_yes_or_no, json_schema_input_type=bool | Literal["yes", "no", "on", "off"]),
]
"""A boolean field that also takes YAML 1.1's `yes`, `no`, `on` and `off`."""


@dataclass(slots=True)
class Fault:
    """One problem before it has a line."""

    path: FieldPath
    kind: str
    wrong: str
    allowed: list[str] = field(default_factory=list)
    fix: str = ""

    @property
    def path_text(self) -> str:
        return spell(self.path)

    def problem(self, where: str) -> Problem:
        allowed = either(list(dict.fromkeys(self.allowed)))
        return Problem(where, self.path_text, self.wrong, allowed, self.fix, self.kind)


def check(model: type[Model], data: object, at: FieldPath) -> Model | list[Fault]:
    """The model's instance, or all faults of `data`, their paths beginning with `at`."""
    try:
        # JSON mode: strict about kinds, while a list may still become a tuple and text a Path.
        return model.model_validate_json(json.dumps(without_blanks(data, [model])), strict=True)
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False)
    faults = [_fault(model, data, detail) for detail in details]
    merged = _one_a_place(faults)
    for fault in merged:
        fault.path = (*at, *fault.path)
    return merged


def _fault(model: type[BaseModel], data: object, detail: Mapping[str, Any]) -> Fault:
    kind, context = str(detail["type"]), detail.get("ctx", {})
    path, value = _find(data, detail["loc"], missing=kind == "missing")
    fault = Fault(path, kind, "")
    if kind == "extra_forbidden":
        known = keys_at(model, path[:-1])
        fault.wrong, fault.allowed = "unknown key", known
        fault.fix = did_you_mean(str(path[-1]), known) or "remove it"
    elif kind == "missing":
        fault.wrong, fault.fix = "is missing", "add it"
    elif kind in ("literal_error", "enum", "union_tag_invalid"):
        words = str(context.get("expected") or context.get("expected_tags", ""))
        fault.allowed = re.findall(r"'([^']*)'", words) or [words]
        fault.wrong = _wrong_word(value, path)
        fault.fix = did_you_mean(value, fault.allowed) if isinstance(value, str) else ""
    elif kind in _KINDS:
        fault.wrong, fault.allowed = f"is {_describe(value)}", [_KINDS[kind]]
        fault.fix = _fix_kind(kind, value)
    elif kind in _BOUNDS:
        name, wrong, allowed = _BOUNDS[kind]
        bound = context[name]
        fault.wrong, fault.allowed = wrong, [allowed.format(bound)]
        if kind in ("string_too_short", "too_short") and not value:
            fault.wrong = "is empty"
    elif kind in ("value_error", "assertion_error"):
        # The schema's own sentence.
        fault.wrong = str(detail["msg"]).split("error, ", 1)[-1].removeprefix("Assertion failed, ")
    else:
        fault.wrong = "is not valid" if _is_secret(path) else str(detail["msg"])
    return fault


_KINDS = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "set_type": "a list",
    "frozen_set_type": "a list",
    "dict_type": "a mapping (`key: value` lines)",
    "mapping_type": "a mapping (`key: value` lines)",
    "model_type": "a mapping (`key: value` lines)",
    "model_attributes_type": "a mapping (`key: value` lines)",
    "dataclass_type": "a mapping (`key: value` lines)",
    "none_required": "nothing",
}

_BOUNDS = {
    "greater_than": ("gt", "is too small", "more than {}"),
    "greater_than_equal": ("ge", "is too small", "{} or more"),
    "less_than": ("lt", "is too large", "less than {}"),
    "less_than_equal": ("le", "is too large", "{} or less"),
    "multiple_of": ("multiple_of", "is not a multiple", "multiples of {}"),
    "string_too_short": ("min_length", "is too short", "a length of {} or more"),
    "string_too_long": ("max_length", "is too long", "a length of {} or less"),
    "too_short": ("min_length", "has too few entries", "{} or more"),
    "too_long": ("max_length", "has too many entries", "at most {}"),
    "string_pattern_mismatch": ("pattern", "does not have the form", "text that matches {}"),
}


def _describe(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    for kind, word in (
        (str, "text"),
        (int, "a whole number"),
        (float, "a number with decimals"),
        (list, "a list"),
        (dict, "a mapping"),
    ):
        if isinstance(value, kind):
            return word
    return "blank"


def _fix_kind(kind: str, value: object) -> str:
    if kind == "string_type" and isinstance(value, int | float):
        return "put it in quotes"
    if _KINDS[kind] == "a list" and not isinstance(value, dict | list):
        return "write [value], or one `- value` a line"
    if kind in ("int_type", "float_type", "bool_type") and isinstance(value, str):
        return "write it without quotes"
    return ""


def _wrong_word(value: object, path: FieldPath) -> str:
    if not isinstance(value, str):
        shown_number = type(value) is int and not _is_secret(path)
        return f"is {value}" if shown_number else f"is {_describe(value)}"
    shown = _WORD.match(value) and not _is_secret(path)
    return f"is {value}, which is not one of the words" if shown else "is not one of the words"


def _is_secret(path: FieldPath) -> bool:
    return any(isinstance(part, str) and _SECRET.search(part) for part in path)


def _find(data: object, loc: tuple[str | int, ...], *, missing: bool) -> tuple[FieldPath, object]:
    """The part of pydantic's `loc` that is in the data, and the value there.

    `loc` also names union members and validators on the way; those are not in the file.
    """
    path: list[str | int] = []
    value: Any = data
    for part in loc:
        if isinstance(value, dict):
            known = part in value
        else:
            known = isinstance(value, list) and isinstance(part, int) and part < len(value)
        if known:
            value = value[part]
            path.append(part)
    if missing:
        path.append(loc[-1])
    return tuple(path), value


def _one_a_place(faults: list[Fault]) -> list[Fault]:
    """Where a value may have one of several shapes, pydantic complains once for each shape.

    Told as one fault a place; and of shapes that the value does not have, nothing is said if
    there are faults inside the shape that it has.
    """
    inside = {fault.path[:n] for fault in faults for n in range(len(fault.path))}
    kept: dict[FieldPath, Fault] = {}
    for fault in faults:
        shape = fault.kind in _KINDS or fault.kind == "literal_error"
        if shape and fault.path in inside:
            continue
        first = kept.setdefault(fault.path, fault)
        if first is not fault and fault.kind == "value_error":
            kept[fault.path] = fault  # the value has this shape; what it says is wrong
        elif first is not fault and first.kind != "value_error":
            first.allowed += fault.allowed
            first.fix = first.fix or fault.fix
    return list(kept.values())
