"""Masking in LangChain's messages. Copies: a caller's message is never changed in place."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, TypeVar

from ..redact import Redactor
from ..results import asked, screen
from .reply import masked_reply

if TYPE_CHECKING:
    from langchain.agents.middleware.types import ModelRequest, ModelResponse
    from langchain_core.messages import BaseMessage

    from ..decide import Policy

Message = TypeVar("Message", bound="BaseMessage")
Result = TypeVar("Result")

_SAID = ("text", "content")
_PASSED = ("input", "args", "arguments")
"""Fields of a content block that hold a call's arguments."""


def masked_input(request: ModelRequest[Any], redactor: Redactor) -> ModelRequest[Any]:
    """The request with the secrets in its messages masked, past calls' arguments included."""
    messages = [_masked(m, redactor, calls=True) for m in request.messages]
    system = request.system_message
    if system is not None:
        system = _masked(system, redactor, calls=True)
    same = all(a is b for a, b in zip(messages, request.messages, strict=True))
    if same and system is request.system_message:
        return request
    return request.override(messages=messages, system_message=system)


def masked_output(response: ModelResponse[Any], redactor: Redactor) -> ModelResponse[Any]:
    """The response with its secrets masked; what stood in a call's arguments is noted there."""
    result = [
        masked_reply(m, redactor)  # type: ignore[type-var]
        if m.type == "ai"
        else _masked(m, redactor, calls=False)
        for m in response.result
    ]
    return dataclasses.replace(response, result=result)


def seen_result(result: Result, policy: Policy) -> Result:
    """What a tool gave back, with secrets masked and what reads like instructions withheld."""
    from langchain_core.messages import ToolMessage
    from langgraph.types import Command

    found: Any = result
    if isinstance(found, ToolMessage):
        return _seen(found, policy)  # type: ignore[return-value]
    if isinstance(found, Command):
        # An update is a mapping, a list of messages, or pairs of key and value.
        return dataclasses.replace(found, update=seen_result(found.update, policy))  # type: ignore[return-value]
    if type(found) is dict:
        return {key: seen_result(value, policy) for key, value in found.items()}  # type: ignore[return-value]
    if isinstance(found, list):
        return [seen_result(value, policy) for value in found]  # type: ignore[return-value]
    if type(found) is tuple:
        return tuple(seen_result(value, policy) for value in found)  # type: ignore[return-value]
    return result


def _seen(message: Message, policy: Policy) -> Message:
    def shown(text: str) -> str:
        return screen(policy, text, said=asked(policy, text)).text

    return _with_content(message, _content(message.content, shown, None))


def _masked(message: Message, redactor: Redactor, *, calls: bool) -> Message:
    def shown(text: str) -> str:
        return redactor.secrets(text)[0]

    content = _content(message.content, shown, redactor.value if calls else None)
    message = _with_content(message, content)
    return _without_secret_calls(message, redactor) if calls else message


def _content(content: Any, shown: Any, passed: Any) -> Any:
    """Message content with its texts through `shown`, its calls' arguments through `passed`."""
    if isinstance(content, str):
        return shown(content)
    return [_block(block, shown, passed) for block in content]


def _block(block: Any, shown: Any, passed: Any) -> Any:
    if isinstance(block, str):
        return shown(block)
    new = dict(block)
    for field in _SAID:
        if isinstance(block.get(field), str | list):
            new[field] = _content(block[field], shown, passed)
    for field in _PASSED if passed is not None else ():
        if field in block:
            new[field] = passed(block[field])
    return new


def _with_content(message: Message, content: Any) -> Message:
    return (
        message if content == message.content else message.model_copy(update={"content": content})
    )


def _without_secret_calls(message: Message, redactor: Redactor) -> Message:
    """A past message with the secrets in its calls' arguments masked."""
    update: dict[str, Any] = {}
    for field in ("tool_calls", "invalid_tool_calls"):
        calls = getattr(message, field, None)
        if calls:
            masked = [{**call, "args": redactor.value(call["args"])} for call in calls]
            update[field] = masked
    raw = message.additional_kwargs.get("tool_calls")
    if raw:
        update["additional_kwargs"] = {
            **message.additional_kwargs,
            "tool_calls": redactor.value(raw),
        }
    changed = any(getattr(message, field) != value for field, value in update.items())
    return message.model_copy(update=update) if changed else message
