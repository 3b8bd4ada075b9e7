"""What a local model is asked: the talk and the tools as text, and the form that a choice has."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, SystemMessage, ToolMessage

from ..guards.normalise import parse_arguments
from .calls import RawCall
from .failures import LLMProviderError
from .openai_wire import last_human
from .sent import sendable_messages

ANSWER = "answer"
"""The action that is no tool."""

RETRIES = 2
"""Rounds of tools beyond the bound whose calls all failed."""

TOOLS = "You can use these tools:\n{tools}"
CHOOSE = (
    'Reply with one JSON object: {"action": "TOOL", "arguments": {...}} to use a tool, '
    '{"action": "answer"} if none is needed.'
)
FINISH = "Answer the question now, in plain words, from the results above."
TEXT_CHARS = 160

Wire = list[dict[str, str]]


@dataclass(frozen=True, slots=True)
class Question:
    """What is sent to choose an action (empty: there is nothing to choose), and to answer."""

    choose: Wire
    answer: Wire


def question(
    messages: Sequence[BaseMessage], tools: Sequence[Mapping[str, Any]], *, rounds: int
) -> Question:
    """The talk as it is sent. After `rounds` rounds of tools there is no choice any more.

    Raises:
        LLMProviderError: it holds what is no text.
    """
    talk = sendable_messages(messages)
    turn = talk[last_human(talk) + 1 :]
    used = bool(turn)
    open_ = bool(tools) and _may_choose(turn, rounds)
    system = [message for message in talk if isinstance(message, SystemMessage)]
    told = [str(message.text) for message in system]
    if open_:
        told.append(TOOLS.format(tools="\n".join(map(_line, tools))))
    rest = [_wire(message) for message in talk if not isinstance(message, SystemMessage)]
    head: Wire = [{"role": "system", "content": "\n\n".join(told)}] if told else []
    choose = _joined([*head, *rest, _user(CHOOSE)]) if open_ else []
    return Question(choose, _joined([*head, *rest, *([_user(FINISH)] if used else [])]))


def _may_choose(turn: Sequence[BaseMessage], rounds: int) -> bool:
    done = failed = 0
    results = [m for m in turn if isinstance(m, ToolMessage)]
    for message in turn:
        if isinstance(message, AIMessage):
            ids = {call["id"] for call in [*message.tool_calls, *message.invalid_tool_calls]}
            mine = [result for result in results if result.tool_call_id in ids]
            good = any(result.status != "error" for result in mine)
            done, failed = done + good, failed + (bool(mine) and not good)
    return done < rounds and failed <= RETRIES


def _wire(message: BaseMessage) -> dict[str, str]:
    if isinstance(message.content, list):
        others = [
            b for b in message.content if isinstance(b, dict) and b.get("type") in _UNREADABLE
        ]
        if others:
            wrong = "local: this model reads text only, and the message holds an image"
            raise LLMProviderError(wrong, provider="local", status=400)
    if isinstance(message, ToolMessage):
        return _user(f"Result of {message.name or 'the tool'}:\n{message.text}")
    if not isinstance(message, AIMessage):
        return _user(message.text)
    calls = [{"action": c["name"], "arguments": c["args"]} for c in message.tool_calls]
    said = [message.text, *(json.dumps(call, ensure_ascii=False) for call in calls)]
    said += [call["args"] or "" for call in message.invalid_tool_calls]
    return {"role": "assistant", "content": "\n".join(text for text in said if text.strip())}


_UNREADABLE = frozenset({"image", "image_url", "audio", "input_audio", "video", "file"})


def _user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def _joined(wire: Wire) -> Wire:
    """No two in a row of one role: many models' templates take turns only."""
    out: Wire = []
    for message in wire:
        if out and out[-1]["role"] == message["role"]:
            content = f"{out[-1]['content']}\n\n{message['content']}"
            out[-1] = {**message, "content": content}
        elif message["content"].strip():
            out.append(message)
    return out


def _line(tool: Mapping[str, Any]) -> str:
    """A tool in one line: name, arguments, what it does."""
    function = tool["function"]
    schema = function.get("parameters") or {}
    wanted = set(schema.get("required") or ())
    given = [
        f"{name}{'' if name in wanted else '?'}: {_type(one)}"
        for name, one in (schema.get("properties") or {}).items()
    ]
    text = re.sub(r"\s+", " ", str(function.get("description") or "")).strip()
    return f"- {function['name']}({', '.join(given)}): {text[:TEXT_CHARS]}"


def _type(schema: Any) -> str:
    if not isinstance(schema, Mapping):
        return "any"
    if options := schema.get("enum"):
        return "|".join(map(str, options))
    return str(schema.get("type") or "any")


def schema_of(tools: Sequence[Mapping[str, Any]], *, or_answer: bool = True) -> dict[str, Any]:
    """The schema of one action: a tool with its arguments, or the answer."""
    definitions: dict[str, Any] = {}
    actions: list[dict[str, Any]] = []
    for number, tool in enumerate(tools):
        function = tool["function"]
        schema = dict(function.get("parameters") or {"type": "object"})
        mine = {name: schema.pop(name, None) or {} for name in ("$defs", "definitions")}
        prefix = f"t{number}_"
        for found in mine.values():
            for name, one in found.items():
                definitions[prefix + name] = _renamed(one, prefix)
        arguments = _renamed(schema, prefix)
        actions.append(_action(function["name"], arguments=arguments))
    if or_answer:
        actions.append(_action(ANSWER))
    whole: dict[str, Any] = {"anyOf": actions} if len(actions) > 1 else actions[0]
    return {**whole, "$defs": definitions} if definitions else whole


def _action(name: str, **more: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"action": {"const": name}, **more},
        "required": ["action", *more],
        "additionalProperties": False,
    }


def _renamed(schema: Any, prefix: str) -> Any:
    """The schema, its references leading to where its definitions are now."""
    if isinstance(schema, Mapping):
        out = {name: _renamed(one, prefix) for name, one in schema.items()}
        link = out.get("$ref")
        if isinstance(link, str) and link.startswith("#/"):
            out["$ref"] = f"#/$defs/{prefix}{link.rsplit('/', 1)[-1]}"
        return out
    if isinstance(schema, list):
        return [_renamed(one, prefix) for one in schema]
    return schema


def choice_of(text: str) -> RawCall | None:
    """The call that the model wrote; None where it chose to answer. What cannot be read becomes a
    call that is not, with its text: the schema holds only what could be translated, and what is
    written may be cut off."""
    action, _ = parse_arguments(text)
    name = action.get("action") if action is not None else None
    if action is None or not isinstance(name, str):
        return RawCall(name=_name_in(text), id=None, arguments=text or "?")
    if name == ANSWER:
        return None
    arguments = action.get("arguments", {})
    return RawCall(name=name, id=None, arguments=json.dumps(arguments))


_NAME = re.compile(r'\A\s*\{\s*"action"\s*:\s*"([\w-]{1,64})"')


def _name_in(text: str) -> str:
    match = _NAME.match(text)
    return match[1] if match and match[1] != ANSWER else "unknown"
