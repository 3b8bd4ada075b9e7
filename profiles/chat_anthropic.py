"""Anthropic over langchain-anthropic.

What is added to the package's class: a streamed call is passed on when it is whole, and broken
arguments are never mended (`calls.py`); a stream that is cut is an error; errors hold no key. The
current models take no temperature, so none is sent.
"""

from __future__ import annotations

import functools
import json
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

import anthropic
import httpx2
from langchain_anthropic import ChatAnthropic
from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult

from ..guards.normalise import parse_arguments
from .calls import CallPieces, RawCall, arguments_text, judged, whole_chunk
from .connections import async_client, client
from .failures import LLMProviderError, provider_error
from .llm import TIMEOUT_S, LLMSettings
from .sent import sendable_messages

FAULTS = (anthropic.AnthropicError, httpx2.HTTPError, TimeoutError, json.JSONDecodeError)


class AnthropicModel(ChatAnthropic):
    """`ChatAnthropic` with typed errors and whole calls."""

    @functools.cached_property
    def _client(self) -> anthropic.Client:
        http = client(self.default_request_timeout or TIMEOUT_S, self.anthropic_api_url or "")
        vendor = anthropic.Client(**self._client_params, http_client=http)
        vendor._custom_headers = self._headers()
        return vendor

    @functools.cached_property
    def _async_client(self) -> anthropic.AsyncClient:
        http = async_client(self.default_request_timeout or TIMEOUT_S, self.anthropic_api_url or "")
        vendor = anthropic.AsyncClient(**self._client_params, http_client=http)
        vendor._custom_headers = self._headers()
        return vendor

    def _headers(self) -> dict[str, str]:
        """The headers that are ours: the SDK adds those of ANTHROPIC_CUSTOM_HEADERS."""
        return dict(self._client_params.get("default_headers") or {})

    def _failed(self, error: BaseException) -> LLMProviderError:
        return provider_error(error, provider="anthropic", key=self.anthropic_api_key)

    def _get_request_payload(
        self, input_: Any, *, stop: list[str] | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        sent = sendable_messages(self._convert_input(input_).to_messages())
        messages = [_schemes_small(message) for message in sent]
        payload: dict[str, Any] = super()._get_request_payload(messages, stop=stop, **kwargs)
        named = {} if payload.get("tools") else _tools_in(messages)
        if named:
            payload |= {"tools": [*named.values()], "tool_choice": {"type": "none"}}
        return payload

    def _format_output(self, data: Any, **kwargs: Any) -> ChatResult:
        if not isinstance(getattr(data, "content", None), list):
            raise LLMProviderError("anthropic: the answer holds no content", provider="anthropic")
        odd = {n: block for n, block in enumerate(data.content) if _is_odd(block)}
        if not odd:
            result: ChatResult = super()._format_output(data, **kwargs)
            return result
        texts = {n: arguments_text(block.input) for n, block in odd.items()}
        for number, block in odd.items():
            block.input = parse_arguments(texts[number])[0] or {}
        result = super()._format_output(data, **kwargs)
        message = result.generations[0].message
        assert isinstance(message, AIMessage)
        calls = [
            RawCall(block.name, block.id, texts.get(number) or json.dumps(block.input))
            for number, block in enumerate(data.content)
            if block.type == "tool_use"
        ]
        message.tool_calls, message.invalid_tool_calls = judged(calls)
        return result

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        try:
            return super()._generate(messages, stop, run_manager, **kwargs)
        except FAULTS as error:
            raise self._failed(error) from error

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        try:
            return await super()._agenerate(messages, stop, run_manager, **kwargs)
        except FAULTS as error:
            raise self._failed(error) from error

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        answer = _Streamed()
        try:
            for part in super()._stream(messages, stop, None, **kwargs):
                for chunk in answer.feed(part):
                    if run_manager:
                        run_manager.on_llm_new_token(chunk.text, chunk=chunk)
                    yield chunk
        except FAULTS as error:
            raise self._failed(error) from error
        answer.check()

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        answer = _Streamed()
        try:
            async for part in super()._astream(messages, stop, None, **kwargs):
                for chunk in answer.feed(part):
                    if run_manager:
                        await run_manager.on_llm_new_token(chunk.text, chunk=chunk)
                    yield chunk
        except FAULTS as error:
            raise self._failed(error) from error
        answer.check()


def _is_odd(block: Any) -> bool:
    """Whether this is a call whose arguments are no object, as no server of Anthropic's sends."""
    return block.type == "tool_use" and not isinstance(block.input, dict)


def _schemes_small(message: BaseMessage) -> BaseMessage:
    """With `https:` for `HTTPS:` in the addresses of images: the package knows no other."""
    if not isinstance(message.content, list):
        return message
    content = [_scheme_small(block) for block in message.content]
    if content == message.content:
        return message
    return message.model_copy(update={"content": content})


def _scheme_small(block: Any) -> Any:
    held = block.get("image_url") if isinstance(block, dict) else None
    url = held.get("url") if isinstance(held, dict) else held
    if not isinstance(url, str):
        return block
    scheme, colon, rest = url.partition(":")
    if scheme == scheme.lower():
        return block
    return {**block, "image_url": {"url": f"{scheme.lower()}{colon}{rest}"}}


def _tools_in(messages: Sequence[BaseMessage]) -> dict[str, Any]:
    """The tools that were called in the talk: the API takes no call of a tool that is not named,
    also where none may be called any more."""
    calls = [call for m in messages if isinstance(m, AIMessage) for call in m.tool_calls]
    schema = {"type": "object", "properties": {}}
    return {call["name"]: {"name": call["name"], "input_schema": schema} for call in calls}


class _Streamed:
    """One streamed answer: its calls go on together, before the chunk that says it is over."""

    def __init__(self) -> None:
        self._pieces = CallPieces()
        self._over = False

    def feed(self, chunk: ChatGenerationChunk) -> Iterator[ChatGenerationChunk]:
        message = chunk.message
        assert isinstance(message, AIMessageChunk)
        for piece in message.tool_call_chunks:
            self._pieces.add({**piece, "arguments": piece["args"]})
        message.tool_call_chunks, message.tool_calls, message.invalid_tool_calls = [], [], []
        if message.chunk_position == "last":
            self._over = True
            calls = self._pieces.whole()
            if calls:
                yield ChatGenerationChunk(message=whole_chunk(calls))
        yield ChatGenerationChunk(message=message, generation_info=chunk.generation_info)

    def check(self) -> None:
        if not self._over:
            wrong = "anthropic: the stream ended before the answer was complete"
            raise LLMProviderError(wrong, provider="anthropic")


def build(settings: LLMSettings) -> AnthropicModel:
    """The model for these settings. Nothing of it is taken from ANTHROPIC_* variables."""
    options: dict[str, Any] = {"max_tokens": settings.max_tokens} if settings.max_tokens else {}
    return AnthropicModel(
        model_name=settings.model,
        base_url=settings.base_url.rstrip("/").removesuffix("/v1"),
        api_key=settings.api_key,
        timeout=settings.timeout_s,
        max_retries=settings.max_retries,
        **options,
    )
