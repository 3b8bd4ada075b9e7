"""A chat model that plays a script: for tests, demonstrations and work without a network.

    ScriptedModel(turns=[call("add", a=1, b=2), "The sum is 3."])

Which turn is due is read off the conversation: it is the number of assistant messages in it. So
one instance serves any number of runs at once, nothing leaks from one to the next, and a resumed
run goes on where it stopped. Where each request opens a conversation of its own (a planner that
is asked, then a worker), `order="call"` plays the turns in the order of the requests instead.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field, PrivateAttr, SkipValidation

from ..arguments import require
from .calls import BROKEN

Turn = AIMessage | str | BaseException | Callable[[list[BaseMessage]], AIMessage | str]
"""A reply, an error to raise, or a function of the conversation that makes one."""


_LOCK = threading.Lock()
"""One for all scripts: a model that holds a lock of its own could not be pickled."""


class ScriptEnded(LookupError):
    """The conversation went on after the last turn."""


def call(name: str, /, call_id: str | None = None, **arguments: Any) -> AIMessage:
    """A turn that calls one tool."""
    chosen = call_id or f"call_{name}"
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": chosen}])


class ScriptedModel(BaseChatModel):
    """Plays `turns`. Without any, it repeats what the user said last."""

    turns: SkipValidation[Sequence[Turn] | None] = None
    order: Literal["conversation", "call"] = "conversation"
    bound_tools: list[dict[str, Any]] = Field(default_factory=list)
    """The schemas of `bind_tools`, on the copy that it returns."""

    _requests: list[list[BaseMessage]] = PrivateAttr(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    @property
    def requests(self) -> list[list[BaseMessage]]:
        """The conversations that this instance was asked with (bound copies share the list)."""
        return self._requests

    def bind_tools(
        self, tools: Sequence[Any], *, tool_choice: Any = None, **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """A copy that has the tools' schemas in `bound_tools`; it plays the same script."""
        copy = self.model_copy(
            update={"bound_tools": [convert_to_openai_tool(tool) for tool in tools]}
        )
        copy._requests = self._requests
        return copy

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._reply(messages))])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for piece in _pieces(self._reply(messages)):
            chunk = ChatGenerationChunk(message=piece)
            if run_manager:
                run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk

    def _reply(self, messages: list[BaseMessage]) -> AIMessage:
        with _LOCK:
            number = len(self._requests)
            self._requests.append(list(messages))
        if self.order == "conversation":
            number = sum(isinstance(message, AIMessage) for message in messages)
        turn: Any = _echo if self.turns is None else self._turn(number)
        if callable(turn):
            turn = turn(list(messages))
        if isinstance(turn, BaseException):
            raise turn
        require(
            f"turn {number + 1}", turn, AIMessage | str, "a text, a message, an error, a function"
        )
        reply = AIMessage(turn) if isinstance(turn, str) else turn.model_copy(deep=True)
        # A fresh id: replayed turns of one script are different messages.
        update: dict[str, Any] = {"id": None}
        if reply.usage_metadata is None:
            update["usage_metadata"] = _usage(messages, reply)
        return reply.model_copy(update=update)

    def _turn(self, number: int) -> Turn:
        turns = self.turns or ()
        if number >= len(turns):
            raise ScriptEnded(
                f"the script has {len(turns)} turn(s), all used; turn {number + 1} was asked for"
            )
        return turns[number]


def _echo(messages: list[BaseMessage]) -> str:
    said = next((message.text for message in reversed(messages) if message.type == "human"), "")
    return f"You said: {said}"


def _usage(messages: Sequence[BaseMessage], reply: AIMessage) -> UsageMetadata:
    """An estimate: four characters a token."""
    read = sum(len(str(message.content)) for message in messages) // 4 + 1
    calls = json.dumps([item["args"] for item in reply.tool_calls], default=str)
    written = (len(str(reply.content)) + len(calls)) // 4 + 1
    return UsageMetadata(input_tokens=read, output_tokens=written, total_tokens=read + written)


def _pieces(reply: AIMessage) -> Iterator[AIMessageChunk]:
    """The reply as a provider would stream it: text by words, arguments in two halves."""
    if isinstance(reply.content, str):
        words = reply.content.split(" ")
        for number, word in enumerate(words):
            if text := word if number == 0 else f" {word}":
                yield AIMessageChunk(content=text)
    else:
        yield AIMessageChunk(content=reply.content)
    calls = [
        (c["name"], json.dumps(c["args"], ensure_ascii=False), c["id"]) for c in reply.tool_calls
    ]
    for index, (name, text, call_id) in enumerate(calls):
        half = len(text) // 2
        first = tool_call_chunk(name=name, args=text[:half], id=call_id, index=index)
        rest = tool_call_chunk(name=None, args=text[half:], id=None, index=index)
        yield AIMessageChunk(content="", tool_call_chunks=[first])
        yield AIMessageChunk(content="", tool_call_chunks=[rest])
    for index, broken in enumerate(reply.invalid_tool_calls, start=len(calls)):
        text = BROKEN + (broken["args"] or "")
        piece = tool_call_chunk(name=broken["name"], args=text, id=broken["id"], index=index)
        yield AIMessageChunk(content="", tool_call_chunks=[piece])
    yield AIMessageChunk(
        content="",
        usage_metadata=reply.usage_metadata,
        additional_kwargs=reply.additional_kwargs,
        response_metadata=reply.response_metadata,
        chunk_position="last",
    )
