"""The parts of Gemini's contents: which are calls, what they call, what was given back.

Everything reads JSON as the API words it. A server may spell a field `functionCall` or
`function_call`; the SDKs read both, and so everything is brought to the first spelling here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...conversation import ModelTurn, Proposed, ToolResult, Turn, UserText
from ...verdict import canonical_json

CONTENT = ("contents", "systemInstruction")
"""The fields of a request that hold text for the model."""

CODE = "code_execution"
"""The name of Gemini's own tool that runs code; `executableCode` is a call of it."""

PLAIN = frozenset({"inlineData", "fileData"})
"""Kinds of parts that are data and no text."""

GIVEN_BACK = frozenset({"functionResponse", "codeExecutionResult", "toolResponse"})
"""Kinds of parts that hold what a tool gave back."""

_CALLS = frozenset({"functionCall", "executableCode", "toolCall"})
_BESIDE = frozenset({"thought", "thoughtSignature", "mediaResolution", "mediaProcessing"})
_TEXTS = frozenset({"text", "audioTranscription"})
_WRAPPERS = ("result", "output")
_SNAKE = re.compile(r"_([a-z0-9])")
_HUMP = re.compile(r"(?<=[a-z0-9])([A-Z])")


def camel(given: Any) -> dict[str, Any]:
    """An object of the API's with its fields spelled as in JSON; no object: an empty one."""
    if not isinstance(given, dict):
        return dict(given) if isinstance(given, Mapping) else {}
    if not any("_" in str(key) for key in given):
        return given
    return {_SNAKE.sub(lambda m: m[1].upper(), str(key)): value for key, value in given.items()}


def kinds_of(part: Mapping[str, Any]) -> list[str]:
    """The fields that say what a part is: one, as a rule. Metadata says nothing."""
    found = [
        name
        for name, value in part.items()
        if value is not None and name not in _BESIDE and not name.endswith("Metadata")
    ]
    if len(found) > 1 and part.get("text") == "":
        found.remove("text")
    return found


def is_call(kind: str) -> bool:
    """Whether parts of a kind are calls; what is not known here counts as one."""
    return kind not in PLAIN and kind not in GIVEN_BACK and kind not in _TEXTS


def proposed(kind: str, value: Any, call_id: str) -> Proposed:
    """The call that a part is; `call_id` is for a call that has no id of its own."""
    given = camel(value)
    own = given.get("id")
    call_id = own if isinstance(own, str) and own else call_id
    if kind == "functionCall":
        name = given.get("name")
        arguments = given.get("args")
        return Proposed(
            name if isinstance(name, str) else "", {} if arguments is None else arguments, call_id
        )
    if kind == "executableCode":
        return Proposed(CODE, {k: v for k, v in given.items() if k != "id"}, call_id)
    if kind == "toolCall":
        name = str(given.get("toolType") or "").lower()
        return Proposed(name, given.get("args") or {}, call_id)
    name = _HUMP.sub(r"_\1", kind).lower().removesuffix("_call")
    return Proposed(name, given if isinstance(value, Mapping) else {"value": value}, call_id)


def with_arguments(kind: str, value: Any, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The call with other arguments in place of its own."""
    given = camel(value)
    if kind in ("functionCall", "toolCall"):
        return {**given, "args": dict(arguments)}
    return {**given, **arguments}


def call_name(turn: int, number: int) -> str:
    """The id of a call that has none: the content that it stands in, and its place there."""
    return f"call_{turn}_{number}"


@dataclass
class _Open:
    """A call that waits for its answer."""

    id: str
    name: str
    own: bool


@dataclass
class _Reading:
    """A conversation as far as it was read."""

    waiting: list[_Open] = field(default_factory=list)


def turns_of(contents: Any) -> Iterator[Turn]:
    """The conversation that `contents` carry.

    A response answers the call of its id; without ids, the first call of its name that waits.
    """
    reading = _Reading()
    for number, given in enumerate(contents if isinstance(contents, list | tuple) else ()):
        content = camel(given)
        listed = content.get("parts")
        listed = listed if isinstance(listed, list | tuple) else [listed]
        parts = [camel(part) for part in listed]
        if content.get("role") == "model":
            yield from _model_turns(parts, number, reading)
        else:
            yield from _user_turns(parts, reading)


def _user_turns(parts: list[dict[str, Any]], reading: _Reading) -> Iterator[Turn]:
    answers = [part["functionResponse"] for part in parts if part.get("functionResponse")]
    for answer in answers:
        yield _answer(camel(answer), reading)
    texts = [part["text"] for part in parts if isinstance(part.get("text"), str)]
    if texts or not answers:
        yield UserText("\n".join(text for text in texts if text))


def _model_turns(parts: list[dict[str, Any]], number: int, reading: _Reading) -> Iterator[Turn]:
    calls: list[Proposed] = []
    results: list[ToolResult] = []
    last = ""
    for part in parts:
        for kind in kinds_of(part):
            if is_call(kind):
                call = proposed(kind, part[kind], call_name(number, len(calls)))
                calls.append(call)
                if kind == "functionCall":
                    own = isinstance(camel(part[kind]).get("id"), str)
                    reading.waiting.append(_Open(call.id, call.name, own))
                else:
                    last = call.id
            elif kind in GIVEN_BACK:
                result = camel(part[kind])
                results.append(_result(str(result.get("id") or last), result, kind))
    if calls:
        yield ModelTurn(tuple(calls))
    yield from results


def _answer(answer: dict[str, Any], reading: _Reading) -> ToolResult:
    own, name = answer.get("id"), answer.get("name")
    for at, call in enumerate(reading.waiting):
        if call.id == own if own and call.own else call.name == name:
            del reading.waiting[at]
            return _result(call.id, answer, "functionResponse")
    return _result(str(own or ""), answer, "functionResponse")


def _result(call_id: str, given: dict[str, Any], kind: str) -> ToolResult:
    """What a part gives back, as text; a failure where it says so."""
    if kind == "codeExecutionResult":
        failed = given.get("outcome") not in (None, "OUTCOME_OK", 1)
        return ToolResult(call_id, str(given.get("output") or ""), failed=failed)
    value = given.get("response")
    failed = False
    if isinstance(value, Mapping):
        failed = bool(value.get("error"))
        if len(value) == 1 and next(iter(value)) in _WRAPPERS:
            value = next(iter(value.values()))
    return ToolResult(call_id, value if isinstance(value, str) else _as_json(value), failed=failed)


def _as_json(value: Any) -> str:
    try:
        return canonical_json(value)
    except (TypeError, ValueError, RecursionError):
        return str(value)
