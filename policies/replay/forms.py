"""The forms in which exports hold a conversation: each read as plain messages.

OpenAI's messages and the items of its Responses API, Anthropic's and Gemini's messages, those of
LangChain in its three spellings, and the runs of LangSmith round them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...guards.clients.anthropic import turns as anthropic
from ...guards.clients.gemini import parts
from ...guards.clients.openai import chat, items
from ...guards.python_values import as_call
from ...guards.turns import ModelTurn, Proposed, Turn, UserText
from ...guards.verdict import ToolCall
from ..problems import speak

_ROLES = {
    "user": "user",
    "human": "user",
    "HumanMessage": "user",
    "assistant": "model",
    "ai": "model",
    "AIMessage": "model",
    "tool": "tool",
    "ToolMessage": "tool",
    "function": "tool",
    "system": "",
    "developer": "",
    "SystemMessage": "",
    "remove": "",
}
"""What messages are called, and who speaks; nobody where nothing is said to the model's tools."""

_FORMS = (
    "a list of messages (OpenAI, Anthropic, LangChain), {messages: [...]}, {input: [...], output: "
    "[...]} of the Responses API, Gemini's {contents: [...]}, or a run of LangSmith with inputs "
    "and outputs"
)


@dataclass(frozen=True, slots=True)
class Message:
    """One message: who speaks (`user`, `model`, `tool`; empty for others), and what is in it."""

    speaker: str
    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""
    status: str = ""
    """`error` or `success`, where it is said."""
    record: Mapping[str, Any] | None = None
    """The record of the verdict, where a refusal of ours holds it."""


def messages_of(listed: Sequence[object], place: str) -> list[Message]:
    """Messages as they stand in a conversation, in whichever form.

    Raises:
        ValueError: one is none, and which.
    """
    if listed and all(map(_is_content, listed)):
        return [_told(turn) for turn in parts.turns_of(listed)]
    found = list[Message]()
    turns_of_items = dict[int, list[ToolCall]]()
    beside = False
    for number, given in enumerate(listed):
        turns = _vendors(given)
        if turns is None:
            found.append(message_of(given, f"{place}: messages[{number}]"))
            beside = False
            continue
        for message in map(_told, turns):
            if beside and message.calls:  # items of one response: its calls are of one turn
                turns_of_items[len(found) - 1] += message.calls
            else:
                turns_of_items[len(found)] = [*message.calls]
                found.append(message)
            beside = bool(message.calls) and _is_item(given)
    for at, calls in turns_of_items.items():
        found[at] = replace(found[at], calls=tuple(calls))
    return found


def _vendors(given: object) -> Iterator[Turn] | None:
    """What an item of OpenAI's Responses API, or a message of Anthropic's with calls or results in
    it, comes to; None for any other."""
    if not isinstance(given, Mapping):
        return None
    if _is_item(given):
        return items.turns_of_item(given)
    content = given.get("content")
    listed = content if isinstance(content, list) and not given.get("tool_calls") else []
    held = (b for b in listed if isinstance(b, Mapping))
    if given.get("role") in ("user", "assistant") and any(
        anthropic.is_named_call(block) or anthropic.is_result(block) for block in held
    ):
        return anthropic.turns_of([given])
    return None


def _is_item(given: object) -> bool:
    """Whether it is an item of the Responses API that is no message."""
    kind = given.get("type") if isinstance(given, Mapping) and "role" not in given else None
    if not isinstance(kind, str) or kind == "message":
        return False
    known = kind in items.NO_CALLS or kind in items.NAMED
    return known or kind.endswith(("_call", "_output"))


def _is_content(given: object) -> bool:
    """Whether it is a content of Gemini's."""
    return isinstance(given, Mapping) and "parts" in given and given.get("role") in _CONTENT_ROLES


_CONTENT_ROLES = (None, "user", "model", "function")  # a role that is no text is in no set


def _told(turn: Turn) -> Message:
    if isinstance(turn, UserText):
        return Message("user", turn.text)
    if isinstance(turn, ModelTurn):
        return Message("model", calls=tuple(map(_called, turn.calls)))
    return Message("tool", turn.text, call_id=turn.call_id, status="error" if turn.failed else "")


def _called(proposed: Proposed) -> ToolCall:
    return as_call(proposed.name, proposed.arguments, id=proposed.id)


def message_of(given: object, place: str) -> Message:
    """One message, in OpenAI's form or in one of LangChain's.

    Raises:
        ValueError: it is none.
    """
    data: Any = given
    if isinstance(given, str):  # as LangChain takes what somebody says, and to whom it belongs
        data = {"role": "user", "content": given}
    elif _is_pair(given):
        data = {"role": data[0], "content": data[1]}
    if not isinstance(data, Mapping):
        raise ValueError(f"{place}: is no message, but {type(given).__name__}")
    role = data.get("role") or data.get("type")
    if data.get("type") == "constructor":  # as LangChain writes its objects
        role, data = _last(data.get("id")), _mapping(data.get("kwargs"))
    elif isinstance(data.get("data"), Mapping):  # as messages_to_dict writes them
        data = data["data"]
    speaker = _ROLES.get(str(role).removesuffix("Chunk"))
    if speaker is None:
        raise ValueError(f"{place}: role {speak(str(role))} is none of {', '.join(list(_ROLES))}")
    if speaker == "user" and "content" not in data:
        raise ValueError(f"{place}: has no content; allowed: {_FORMS}")
    record = _mapping(data.get("artifact")).get("edgeward")
    return Message(
        speaker,
        _text(data.get("content")),
        tuple(_calls(data, place)) if speaker == "model" else (),
        str(data.get("tool_call_id") or data.get("name") or ""),
        str(data.get("status") or ""),
        record if isinstance(record, Mapping) else None,
    )


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _last(value: object) -> object:
    return value[-1] if isinstance(value, list) and value else ""


def _calls(data: Mapping[str, Any], place: str) -> Iterator[ToolCall]:
    more = _mapping(data.get("additional_kwargs"))
    listed = data.get("tool_calls") or more.get("tool_calls") or []
    if not isinstance(listed, list):
        raise ValueError(f"{place}: tool_calls: is no list")
    for number, call in enumerate(listed):
        if not isinstance(call, Mapping):
            raise ValueError(f"{place}: tool_calls[{number}]: is no call")
        made = chat.proposed(call) if {"function", "custom"} & call.keys() else _plain_call(call)
        if not isinstance(made.arguments, str | Mapping):
            raise ValueError(f"{place}: tool_calls[{number}]: arguments: text, or an object")
        yield _called(made)
    old = data.get("function_call") or more.get("function_call")
    if old is not None and not listed:
        yield _called(chat.old_call(old))  # it has no id: its answer names the function


def _plain_call(call: Mapping[str, Any]) -> Proposed:
    """A call as LangChain writes it."""
    arguments = call.get("arguments", call.get("args"))
    found = "" if arguments is None else arguments
    return Proposed(str(call.get("name") or ""), found, str(call.get("id") or ""))


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (part if isinstance(part, str) else _part(part) for part in parts)
    return "".join(texts)


def _part(part: object) -> str:
    text = part.get("text") if isinstance(part, Mapping) else None
    return text if isinstance(text, str) else ""


def raw_messages(found: object, place: str) -> list[object]:
    """The messages in one object of a file.

    Raises:
        ValueError: there are none.
    """
    if isinstance(found, list):
        return found
    if isinstance(found, Mapping):
        for name in ("messages", "contents"):
            if isinstance(found.get(name), list):
                return _flat(found[name])
        if "inputs" in found or "outputs" in found:
            return _of_run(found.get("inputs"), found.get("outputs"))
        if "input" in found or "output" in found:
            return _of_run(found, found)
    raise ValueError(f"{place}: holds no conversation; allowed: {_FORMS}")


def _of_run(inputs: object, outputs: object) -> list[object]:
    """The messages that a run went in with, and those that came out."""
    given, made = _plain(inputs), _plain(outputs)
    before, after = _flat(given.get("messages")), _flat(made.get("messages"))
    if len(after) >= len(before) and after:
        return after
    replies = after or _replies(made)
    asked = given.get("input")
    if isinstance(asked, str) and replies:
        asked = [{"role": "user", "content": asked}]
    return [*(before or _sure(asked)), *replies]


def _replies(made: Mapping[str, Any]) -> list[object]:
    """What a model answered, as LangChain and OpenAI's client keep it."""
    for name in ("generations", "choices"):
        listed = made.get(name)
        while isinstance(listed, list) and listed:
            listed = listed[0]
        if isinstance(listed, Mapping) and isinstance(listed.get("message"), Mapping):
            return [listed["message"]]
    found = made.get("message") or made.get("output")
    if isinstance(found, Mapping):
        return [found]
    return [made] if "role" in made else _sure(found)


def _sure(listed: object) -> list[object]:
    """Messages and items of the Responses API; nothing where a list may hold anything else."""
    found = listed if isinstance(listed, list) else []
    known = (
        isinstance(m, Mapping) and (str(m.get("role")) in _ROLES or _is_item(m)) for m in found
    )
    return found if all(known) else []


def _plain(value: object) -> Mapping[str, Any]:
    """A mapping; LangGraph's wrapper `output` taken off."""
    if not isinstance(value, Mapping):
        return {}
    inner = value.get("output") or value.get("input")
    if "messages" not in value and isinstance(inner, Mapping) and "messages" in inner:
        return inner
    return value


def _flat(listed: object) -> list[object]:
    """Messages; a batch of one is the one in it."""
    if not isinstance(listed, list):
        return []
    batch = bool(listed) and isinstance(listed[0], list) and not _is_pair(listed[0])
    return listed[0] if batch else listed


def _is_pair(given: object) -> bool:
    """Whether it is a message as `("user", "Hi.")`."""
    return isinstance(given, list) and len(given) == 2 and all(isinstance(x, str) for x in given)
