"""Exported conversations as threads: messages of OpenAI, Anthropic and Gemini, runs of LangSmith.

A file holds one conversation, a JSON list of them, or one a line:

    {"messages": [{"role": "user", "content": "…"}, {"role": "assistant", "tool_calls": […]}, …]}
    {"input": [{"role": "user", "content": "…"}, {"type": "function_call", …}, …], "output": […]}
    {"run_type": "chain", "trace_id": "…", "inputs": {…}, "outputs": {"messages": […]}}

Of LangSmith's runs the one of each trace that holds the most messages is read. Where a program
wrote down each of its requests, a conversation stands there many times, each time longer: it is
read where it is longest. What was decided then is told by the results: a call with a result has
run, unless the result is a refusal of ours.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ...guards.caller import Caller
from ...guards.verdict import ToolCall
from ..schema import BLOCK_MESSAGE
from .forms import Message, messages_of, raw_messages
from .objects import objects_in
from .recorded import Old, Recorded, Returned, Said, Spoke, Step, Steps, Turn, old_of

REJECTED = "Not run: the user rejected this call"
ABANDONED = "Not run: the user went on without it."
NOT_RUN = "Not run: "
"""How answers begin that stand for a result."""


def conversations_in(path: Path, caller: Caller) -> Iterator[Steps]:
    """The conversations of a file, step by step.

    Raises:
        ValueError: it holds something else, and where. OSError: it cannot be read.
    """
    longest = dict[str, tuple[int, str]]()
    for place, found in objects_in(path):
        if trace := _trace(found):
            size = len(raw_messages(found, place))
            if size > longest.get(trace, (0, ""))[0]:
                longest[trace] = (size, place)
    begun = {
        mark for _, _, messages in _read(path, longest) for mark in list(_marks(messages))[:-1]
    }
    for place, trace, messages in _read(path, longest):
        *_, last = (b"", *_marks(messages))
        if last not in begun:
            short = place.removeprefix(f"{path}:")
            yield steps_of(messages, place=place, name=short, caller=caller, thread=trace)


def _read(
    path: Path, longest: Mapping[str, tuple[int, str]]
) -> Iterator[tuple[str, str, list[Message]]]:
    """Place, trace and messages of each conversation that counts: of a trace, the longest."""
    for place, found in objects_in(path):
        trace = _trace(found)
        if not trace or longest.get(trace, (0, ""))[1] == place:
            yield place, trace, messages_of(raw_messages(found, place), place)


def _marks(messages: Iterable[Message]) -> Iterator[bytes]:
    """After each message in which somebody speaks, the digest of all that was said until then."""
    mark = b""
    for message in messages:
        if message.speaker:
            calls = [(c.id, c.name, c.raw or c.arguments) for c in message.calls]
            told = (message.speaker, message.text, message.call_id, message.status, calls)
            text = repr(told).encode("utf-8", "backslashreplace")
            mark = hashlib.blake2b(mark + text, digest_size=16).digest()
            yield mark


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
                label = f"{call.id}#{number}" if call.id in called else call.id
                called[call.id] = call
                old = _old(answer)
                at = f"{place}: {label}"
                turn.append(
                    Recorded(f"{name}:{label}", at, call, old, caller=caller, thread=thread)
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


def _trace(found: object) -> str:
    """Of which trace a run is; empty for what is no run."""
    if not isinstance(found, Mapping) or "run_type" not in found:
        return ""
    return str(found.get("trace_id") or found.get("id") or "")
