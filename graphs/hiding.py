"""What comes into a graph: personal data is hidden, and secrets in messages and in a person's
answers are masked, before the first checkpoint is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage
from langgraph.types import Command

from ..guards.langchain.reply import OPAQUE, masked_reply
from ..guards.redact import Redactor
from ..guards.vault import Vault, mapped
from ..guards.veil import ANSWER, HELD, SEALED
from ..guards.withheld import masked_arguments

_NOT_READ = OPAQUE | {"image_url", "url", "source", "file", "audio", "input_audio", "name", "role"}
"""Fields of content blocks that hold no text for the model to read."""


def hidden_input(vault: Vault, input: Any, thread: str) -> Any:
    """The input of a graph (`admit` has read it) with placeholders, and what they stand for."""
    if isinstance(input, Command):
        return Command(resume=_sealed(vault, input.resume, thread))
    if not isinstance(input, Mapping) or "messages" not in input:
        return input
    held: dict[str, str] = {}
    messages = [_hidden(vault, message, thread, held) for message in input["messages"]]
    return {**input, "messages": messages, "vault": held}


def masked_input(redactor: Redactor, input: Any) -> Any:
    """The input of a graph (`admit` has read it) without secrets: whatever a user writes is stored,
    shown to the model, and heard by whoever listens."""
    if not isinstance(input, Mapping) or "messages" not in input:
        return input
    return {**input, "messages": [_masked(redactor, message) for message in input["messages"]]}


def _masked(redactor: Redactor, message: BaseMessage) -> BaseMessage:
    if isinstance(message, AIMessage):
        return masked_reply(message, redactor)

    def shown(text: str) -> str:
        return redactor.secrets(text)[0]

    given = {"content": message.content, "additional_kwargs": message.additional_kwargs}
    changes = {name: new for name, old in given.items() if (new := _read(old, shown)) != old}
    return message.model_copy(update=changes) if changes else message


def masked_answers(redactor: Redactor, answers: Any) -> Any:
    """A person's answers, which LangGraph stores, without the secrets in them.

    What was masked in arguments is noted (`withheld`), so that the guard can hold it against them.
    """
    if not isinstance(answers, Mapping):
        return answers
    if "decision" not in answers:
        return {key: masked_answers(redactor, value) for key, value in answers.items()}
    masked = {k: v if k == "args" else redactor.value(v) for k, v in answers.items()}
    if isinstance(masked.get("args"), Mapping):
        masked["args"], labels = masked_arguments(masked["args"], redactor)
        if labels:
            masked["withheld"] = sorted(labels)
    return masked


def _hidden(vault: Vault, message: BaseMessage, thread: str, held: dict[str, str]) -> BaseMessage:
    """The message with placeholders; what is `held` grows by what it held.

    A model's own words, which a caller hands back, may hold placeholders of this thread.
    """
    own = vault.own(message.additional_kwargs.get(HELD), thread)
    found = dict(own)

    def hidden(text: str) -> str:
        if isinstance(message, AIMessage):
            new, more = vault.hide(text, thread)
        else:
            new, more = vault.admitted(text, thread, own)
        found.update(more)
        return new

    changes: dict[str, Any] = {"content": _read(message.content, hidden)}
    beside = {k: v for k, v in message.additional_kwargs.items() if k != HELD}
    if isinstance(message, AIMessage):
        calls = [{**c, "args": mapped(c["args"], hidden)} for c in message.tool_calls]
        broken = [{**c, "args": hidden(c["args"] or "")} for c in message.invalid_tool_calls]
        changes |= {"tool_calls": calls, "invalid_tool_calls": broken}
    held.update(found)
    # Of a model's words a provider is sent what stands beside them as well.
    kept = {HELD: found} if found and not isinstance(message, AIMessage) else {}
    if kept or message.additional_kwargs:
        changes["additional_kwargs"] = {**_read(beside, hidden), **kept}
    return message.model_copy(update=changes)


def _read(value: Any, change: Callable[[str], str]) -> Any:
    """The value with the texts in it that a model reads changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {k: v if k in _NOT_READ else _read(v, change) for k, v in value.items()}
    if isinstance(value, list):
        return [_read(item, change) for item in value]
    return value


def _sealed(vault: Vault, answers: Any, thread: str) -> Any:
    """A person's answers, which LangGraph stores, with the arguments in them encrypted."""
    if not isinstance(answers, Mapping):
        return answers
    if "decision" not in answers:
        return {key: _sealed(vault, value, thread) for key, value in answers.items()}
    shown = {k: v if k == "args" else vault.hidden(v, thread) for k, v in answers.items()}
    if isinstance(shown.get("args"), Mapping):
        shown["args"] = {SEALED: vault.sealed(shown["args"], thread, ANSWER)}
    return shown
