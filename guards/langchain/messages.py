"""Masking in LangChain's messages. Copies: a caller's message is never changed in place."""

from __future__ import annotations

import asyncio
import dataclasses
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from ..redact import Redactor
from ..results import answered, asked, screen
from ..turns import known_by
from .content import shown_throughout
from .own_ids import with_own_ids
from .reply import masked_reply

if TYPE_CHECKING:
    from langchain.agents.middleware.types import ModelRequest, ModelResponse
    from langchain_core.messages import BaseMessage, ToolMessage

    from ..decide import Policy
    from ..ledger import Ledger

Message = TypeVar("Message", bound="BaseMessage")
Result = TypeVar("Result")

RECORD = "edgeward"
"""In the artifact of a refusal: the record of its verdict."""

_SAID = ("text", "content")
_PASSED = ("input", "args", "arguments")
"""Fields of a content block that hold a call's arguments."""


class Messages:
    """What goes to a model and what it writes, under one policy."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._screened = _Screened(policy)

    def inbound(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        """The request with the secrets in its messages masked, past calls' arguments included, and
        tools' results screened, whoever put them there."""
        messages = [self._inbound(message) for message in request.messages]
        system = request.system_message
        if system is not None:
            system = self._inbound(system)
        same = all(a is b for a, b in zip(messages, request.messages, strict=True))
        if same and system is request.system_message:
            return request
        return request.override(messages=messages, system_message=system)

    def outbound(
        self, response: ModelResponse[Any], ledger: Ledger, thread: Sequence[BaseMessage]
    ) -> ModelResponse[Any]:
        """The response with its secrets masked, and images and links that carry data out as words;
        what stood in a call's arguments is noted there. Its ids are none that the thread has."""
        redactor = self._policy.redactor

        def shown(text: str) -> str:
            masked = redactor.secrets(text)[0]
            return answered(self._policy, masked, private=ledger.private)[0]

        result = [
            masked_reply(m, redactor) if m.type == "ai" else m  # type: ignore[type-var]
            for m in response.result
        ]
        result = [_with_content(m, _content(m.content, shown, None)) for m in result]
        return dataclasses.replace(response, result=[*with_own_ids(result, thread)])

    def _inbound(self, message: Message) -> Message:
        redactor = self._policy.redactor
        if message.type == "tool":
            return _with_content(
                message, shown_throughout(message.content, self._screened, redactor)
            )
        content = _content(message.content, lambda text: redactor.secrets(text)[0], redactor.value)
        return _without_secret_calls(_with_content(message, content), redactor)


class _Screened:
    """Screens texts of tools, each once: a conversation is read again for every model call. Longer
    ones are known by their digest, and what stays as it is is not kept."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._known: OrderedDict[str | bytes, str | None] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, text: str) -> str:
        key = known_by(text)
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return text if (made := self._known[key]) is None else made
        made = _screened(self._policy, text)
        with self._lock:
            self._known[key] = None if made == text else made
            if len(self._known) > _MOST_KNOWN:
                self._known.popitem(last=False)
        return made


_MOST_KNOWN = 1_024


def _screened(policy: Policy, text: str) -> str:
    return screen(policy, text, said=asked(policy, text)).text


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


def seen_output(result: Any, policy: Policy) -> Any:
    """What a tool gave back to whoever ran it: a text, or content in blocks (as MCP tools give it),
    as well; other values are the program's."""
    if isinstance(result, str) or is_content(result):
        return shown_throughout(result, partial(_screened, policy), policy.redactor)
    return seen_result(result, policy)


def is_content(value: object) -> bool:
    """Whether it is a message's content in blocks, one of which is a text."""
    blocks = value if type(value) is list else []
    typed = all(type(b) is dict and isinstance(b.get("type"), str) for b in blocks)
    return typed and any(b["type"] == "text" and isinstance(b.get("text"), str) for b in blocks)


async def in_its_time(see: Callable[[Any, Policy], Any], result: Any, policy: Policy) -> Any:
    """`see(result, policy)`; beside other tasks where detectors may take a while."""
    if policy.results.detectors:
        return await asyncio.to_thread(see, result, policy)
    return see(result, policy)


def _seen(message: ToolMessage, policy: Policy) -> ToolMessage:
    artifact = message.artifact
    # With a record of a verdict in it, it would pass for a call that was refused here.
    if isinstance(artifact, Mapping) and RECORD in artifact:
        artifact = {name: value for name, value in artifact.items() if name != RECORD}
        message = message.model_copy(update={"artifact": artifact})
    screened = partial(_screened, policy)
    return _with_content(message, shown_throughout(message.content, screened, policy.redactor))


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
