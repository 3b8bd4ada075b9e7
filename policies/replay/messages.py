"""Exported conversations as threads: OpenAI messages, and runs of LangSmith.

A file holds one conversation, a JSON list of them, or one a line:

    {"messages": [{"role": "user", "content": "…"}, {"role": "assistant", "tool_calls": […]}, …]}
    {"run_type": "chain", "trace_id": "…", "inputs": {…}, "outputs": {"messages": […]}}

Of LangSmith's runs the one of each trace that holds the most messages is read. What was decided
then is told by the results: a call with a result has run, unless the result is a refusal of ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...guards.caller import Caller
from ...guards.python_values import as_call
from ...guards.verdict import ToolCall
from ..schema import BLOCK_MESSAGE
from .objects import objects_in
from .recorded import Old, Recorded, Returned, Said, Spoke, Step, Steps, Turn, old_of

REJECTED = "Not run: the user rejected this call"
ABANDONED = "Not run: the user went on without it."
NOT_RUN = "Not run: "
"""How answers begin that stand for a result."""

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

_FORMS = "a list of messages, {messages: [...]}, or a run of LangSmith with inputs and outputs"


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


def conversations_in(path: Path, caller: Caller) -> Iterator[Steps]:
    """The conversations of a file, step by step.

    Raises:
        ValueError: it holds something else, and where. OSError: it cannot be read.
    """
    longest = dict[str, tuple[int, str]]()
    for place, found in objects_in(path):
        if trace := _trace(found):
            size = len(_messages(found, place))
            if size > longest.get(trace, (0, ""))[0]:
                longest[trace] = (size, place)
    for place, found in objects_in(path):
        trace = _trace(found)
        if not trace or longest.get(trace, (0, ""))[1] == place:
            messages = [
                message_of(given, f"{place}: messages[{number}]")
                for number, given in enumerate(_messages(found, place))
            ]
            short = place.removeprefix(f"{path}:")
            yield steps_of(messages, place=place, name=short, caller=caller, thread=trace)


def steps_of(
    messages: Sequence[Message], *, place: str, name: str, caller: Caller, thread: str = ""
) -> Iterator[Step]:
    """A conversation step by step. `name` tells its calls from those of others."""
    answers = _answers(messages)
    called: dict[str, ToolCall] = {}
    for number, message in enumerate(messages):
        if message.speaker == "user":
            yield Said(message.text)
        elif message.calls:
            turn = []
            for call, answer in zip(message.calls, answers[number], strict=True):
                called[call.id] = call
                old = _old(answer)
                at = f"{place}: {call.id}"
                turn.append(
                    Recorded(f"{name}:{call.id}", at, call, old, caller=caller, thread=thread)
                )
            yield Turn(tuple(turn))
        elif message.speaker == "tool" and message.call_id in called:
            old = _old(message)
            if old is not None and old.ran:
                call = called[message.call_id]
                failed = message.status == "error"
                yield Returned(call, message.text, failed, caller=caller, raw=True)


def _answers(messages: Sequence[Message]) -> dict[int, list[Message | None]]:
    """By the number of a message with calls, the first answer to each that comes after it."""
    found: dict[int, list[Message | None]] = {}
    after: dict[str, Message] = {}
    for number in reversed(range(len(messages))):
        message = messages[number]
        if message.speaker == "tool":
            after[message.call_id] = message
        elif message.calls:
            found[number] = [after.get(call.id) for call in message.calls]
    return found


def _recorded(answer: Message) -> Old | None:
    """The verdict in an answer's record. A tool, too, can put something in its place."""
    try:
        return None if answer.record is None else old_of(answer.record)
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def _old(answer: Message | None) -> Old | None:
    """What became of a call, by its answer."""
    if answer is None:
        return None
    if answer.status not in ("", "error"):
        return Old("allow")  # whatever its text says: a tool may write what a refusal does
    if answer.text.startswith(ABANDONED):
        return None
    if (old := _recorded(answer)) is not None:
        asked = old.word == "ask" and old.approval is None
        return replace(old, approval={"decision": "reject"}) if asked else old
    if answer.text.startswith(REJECTED):
        return Old("ask", approval={"decision": "reject"})
    for start, rule in ((NOT_RUN, "arguments"), (BLOCK_MESSAGE, ""), ("[Edgeward]", "")):
        if answer.text.startswith(start):
            return Old("block", (Spoke(rule, "block", "", answer.text[len(start) :].strip()),))
    return Old("allow")


def message_of(given: object, place: str) -> Message:
    """One message, in OpenAI's form or in one of LangChain's.

    Raises:
        ValueError: it is none.
    """
    data: Any = given
    if not isinstance(data, Mapping):
        raise ValueError(f"{place}: is no message, but {type(given).__name__}")
    role = data.get("role") or data.get("type")
    if data.get("type") == "constructor":  # as LangChain writes its objects
        role, data = _last(data.get("id")), _mapping(data.get("kwargs"))
    elif isinstance(data.get("data"), Mapping):  # as messages_to_dict writes them
        data = data["data"]
    speaker = _ROLES.get(str(role).removesuffix("Chunk"))
    if speaker is None:
        raise ValueError(f"{place}: role {role!r} is none of {', '.join(list(_ROLES))}")
    record = _mapping(data.get("artifact")).get("edgeward")
    return Message(
        speaker,
        _text(data.get("content")),
        tuple(_calls(data, place)) if speaker == "model" else (),
        str(data.get("tool_call_id") or ""),
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
        function = call.get("function")
        inner = function if isinstance(function, Mapping) else call
        arguments = inner.get("arguments", inner.get("args"))
        arguments = "" if arguments is None else arguments
        if not isinstance(arguments, str | Mapping):
            raise ValueError(f"{place}: tool_calls[{number}]: arguments: text, or an object")
        yield as_call(str(inner.get("name") or ""), arguments, id=str(call.get("id") or ""))


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (part if isinstance(part, str) else _part(part) for part in parts)
    return "".join(texts)


def _part(part: object) -> str:
    text = part.get("text") if isinstance(part, Mapping) else None
    return text if isinstance(text, str) else ""


def _messages(found: object, place: str) -> list[object]:
    """The messages in one object of a file.

    Raises:
        ValueError: there are none.
    """
    if isinstance(found, list):
        return found
    if isinstance(found, Mapping):
        listed = found.get("messages")
        if isinstance(listed, list):
            return _flat(listed)
        if "inputs" in found or "outputs" in found:
            return _of_run(found)
    raise ValueError(f"{place}: holds no conversation; allowed: {_FORMS}")


def _of_run(run: Mapping[str, Any]) -> list[object]:
    """The messages that a run went in with, and those that came out."""
    given, made = (_plain(run.get(name)) for name in ("inputs", "outputs"))
    before, after = _flat(given.get("messages")), _flat(made.get("messages"))
    if len(after) >= len(before) and after:
        return after
    return [*before, *(after or _replies(made))]


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
    return [made] if "role" in made else []


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
    return listed[0] if listed and isinstance(listed[0], list) else listed


def _trace(found: object) -> str:
    """Of which trace a run is; empty for what is no run."""
    if not isinstance(found, Mapping) or "run_type" not in found:
        return ""
    return str(found.get("trace_id") or found.get("id") or "")
