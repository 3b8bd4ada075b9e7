"""OpenAI, and the providers that speak its language, over langchain-openai.

What is added to the package's class: broken tool calls are never mended (`calls.py`); a streamed
call is passed on when it is whole; thinking is kept out of the answer; the fields that only the
provider understands come back to it with the next request, and to no other; an answer without
content, or a stream that is cut, is an error; errors hold no key.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

import httpx2
import openai
from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_openai import ChatOpenAI
from pydantic import PrivateAttr, SecretStr

from .calls import judged
from .connections import async_client, client
from .failures import LLMProviderError, provider_error
from .llm import PROVIDERS, LLMSettings
from .openai_wire import (
    DELTA,
    Streamed,
    answer_fault,
    give_back,
    is_thought_of,
    kept,
    last_human,
    reasoning,
    whole_calls,
)
from .sent import sendable_messages
from .thinking import ThinkingFilter, split_thinking

FAULTS = (openai.OpenAIError, httpx2.HTTPError, TimeoutError, json.JSONDecodeError)

_REASONING = re.compile(r"(?:.*[/:])?(?:o\d|gpt-[5-9])(?:[-.:@]|\Z)", re.IGNORECASE)
_CHAT = re.compile(r"gpt-[5-9][\w.]*-chat", re.IGNORECASE)
_ABOUT_USAGE = re.compile(r"stream_options|include_usage", re.IGNORECASE)
_THINKERS = re.compile(r"(?:^|[/:_.-])(?:r1|qwq|qwen3|magistral)|think|reason", re.IGNORECASE)


def is_reasoning(model: str) -> bool:
    """Whether OpenAI's model of this name thinks first: o1, o3, o4, gpt-5 and later.

    Such a model refuses a temperature, and `max_tokens` in place of `max_completion_tokens`,
    whoever stands between.
    """
    return bool(_REASONING.match(model)) and not _CHAT.search(model)


class CompatibleModel(ChatOpenAI):
    """`ChatOpenAI` for any provider of the table."""

    provider_name: str
    official: bool = False
    """OpenAI's own service: knows the newest fields, and puts no thinking into the answer."""

    _returns_reasoning: bool = PrivateAttr(default=False)

    @property
    def _key(self) -> SecretStr:
        key = self.openai_api_key
        return key if isinstance(key, SecretStr) else SecretStr("")

    def _get_request_payload(
        self, input_: Any, *, stop: list[str] | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        back = kwargs.pop("returns_reasoning", self._returns_reasoning)
        messages = sendable_messages(self._convert_input(input_).to_messages())
        payload: dict[str, Any] = super()._get_request_payload(messages, stop=stop, **kwargs)
        if "messages" not in payload:  # the Responses API
            return payload
        give_back(
            messages,
            payload["messages"],
            provider=self.provider_name,
            model=self.model_name,
            thoughts_too=back,
        )
        theirs = self.official or is_reasoning(self.model_name)
        if not theirs and "max_completion_tokens" in payload:
            payload["max_tokens"] = payload.pop("max_completion_tokens")
        return payload

    def _create_chat_result(
        self, response: Any, generation_info: dict[str, Any] | None = None
    ) -> ChatResult:
        if isinstance(response, openai.BaseModel):
            choices = getattr(response, "choices", None) or ()
            if any(getattr(choice.message, "parsed", None) for choice in choices):
                return super()._create_chat_result(response, generation_info)
            response = response.model_dump(warnings=False)
        if wrong := answer_fault(response):
            raise LLMProviderError(f"{self.provider_name}: {wrong}", provider=self.provider_name)
        calls = [whole_calls(choice["message"]) for choice in response["choices"]]
        for choice in response["choices"]:
            choice["message"] |= {"role": "assistant", "tool_calls": None, "function_call": None}
        result = super()._create_chat_result(response, generation_info)
        for generation, raw, choice in zip(
            result.generations, calls, response["choices"], strict=True
        ):
            message = generation.message
            assert isinstance(message, AIMessage)
            message.tool_calls, message.invalid_tool_calls = judged(raw)
            thought = reasoning(choice["message"])
            if not self.official and isinstance(message.content, str):
                message.content, inline = split_thinking(message.content)
                thought = thought or inline
            message.additional_kwargs |= kept(self.provider_name, raw, thought)
        return result

    def _convert_chunk_to_generation_chunk(
        self, chunk: dict[str, Any], default_chunk_class: type, base_generation_info: Any
    ) -> ChatGenerationChunk | None:
        choices = chunk.get("choices") or []
        made = super()._convert_chunk_to_generation_chunk(
            {**chunk, "choices": [_without_calls(choice) for choice in choices]},
            default_chunk_class,
            base_generation_info,
        )
        if made is not None and choices:
            made.message.additional_kwargs[DELTA] = choices[0].get("delta") or {}
        return made

    def _failed(self, error: BaseException) -> LLMProviderError:
        return provider_error(error, provider=self.provider_name, key=self._key)

    def _other_way(
        self, error: BaseException, messages: Sequence[BaseMessage], *, streamed: bool = False
    ) -> dict[str, bool]:
        """How a refused request may be asked once more; empty where in no other way.

        Providers disagree on two things, and so do the models of one provider: whether reasoning
        is sent back, and whether token counts may be asked for in a stream.
        """
        if not isinstance(error, openai.BadRequestError | openai.UnprocessableEntityError):
            return {}
        if streamed and self.stream_usage and _ABOUT_USAGE.search(str(error)):
            return {"stream_usage": False}
        turn = messages[last_human(messages) + 1 :]
        if any(self._is_about(message) for message in turn):
            return {"returns_reasoning": not self._returns_reasoning}
        return {}

    def _is_about(self, message: BaseMessage) -> bool:
        """Whether a thought was, or could have been, sent with the message."""
        if is_thought_of(message, self.provider_name):
            return True
        calls = isinstance(message, AIMessage) and message.tool_calls
        return self._returns_reasoning and bool(calls)

    def _learned(self, way: Mapping[str, bool]) -> None:
        self._returns_reasoning = way.get("returns_reasoning", self._returns_reasoning)
        self.stream_usage = way.get("stream_usage", self.stream_usage)

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
            way = self._other_way(error, messages)
            if not way:
                raise self._failed(error) from error
            first = error
        try:
            result = super()._generate(messages, stop, run_manager, **kwargs, **way)
        except FAULTS:
            raise self._failed(first) from first
        self._learned(way)
        return result

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
            way = self._other_way(error, messages)
            if not way:
                raise self._failed(error) from error
            first = error
        try:
            result = await super()._agenerate(messages, stop, run_manager, **kwargs, **way)
        except FAULTS:
            raise self._failed(first) from first
        self._learned(way)
        return result

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        answer = self._streamed()
        for part in self._parts(messages, stop, kwargs):
            for chunk in answer.feed(part):
                if run_manager:
                    run_manager.on_llm_new_token(chunk.text, chunk=chunk)
                yield chunk
        for chunk in answer.close(must_finish=not self._use_responses_api(kwargs)):
            if run_manager:
                run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        answer = self._streamed()
        async with aclosing(self._aparts(messages, stop, kwargs)) as parts:
            async for part in parts:
                for chunk in answer.feed(part):
                    if run_manager:
                        await run_manager.on_llm_new_token(chunk.text, chunk=chunk)
                    yield chunk
        for chunk in answer.close(must_finish=not self._use_responses_api(kwargs)):
            if run_manager:
                await run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk

    def _streamed(self) -> Streamed:
        from_start = bool(_THINKERS.search(self.model_name))
        thinking = None if self.official else ThinkingFilter(from_start=from_start)
        return Streamed(self.provider_name, thinking=thinking)

    def _parts(
        self, messages: list[BaseMessage], stop: list[str] | None, kwargs: dict[str, Any]
    ) -> Iterator[ChatGenerationChunk]:
        begun = False
        try:
            for chunk in super()._stream(messages, stop, None, **kwargs):
                begun = True
                yield chunk
            return
        except FAULTS as error:
            way = {} if begun else self._other_way(error, messages, streamed=True)
            if not way:
                raise self._failed(error) from error
            first = error
        try:
            for chunk in super()._stream(messages, stop, None, **{**kwargs, **way}):
                self._learned(way)
                yield chunk
        except FAULTS:
            raise self._failed(first) from first

    async def _aparts(
        self, messages: list[BaseMessage], stop: list[str] | None, kwargs: dict[str, Any]
    ) -> AsyncGenerator[ChatGenerationChunk, None]:
        begun = False
        try:
            async for chunk in super()._astream(messages, stop, None, **kwargs):
                begun = True
                yield chunk
            return
        except FAULTS as error:
            way = {} if begun else self._other_way(error, messages, streamed=True)
            if not way:
                raise self._failed(error) from error
            first = error
        try:
            async for chunk in super()._astream(messages, stop, None, **{**kwargs, **way}):
                self._learned(way)
                yield chunk
        except FAULTS:
            raise self._failed(first) from first


def _without_calls(choice: Mapping[str, Any]) -> dict[str, Any]:
    """A choice of a stream without its calls: they are read from the delta as it came, and the
    package's own reading of it fails on what servers send that are not quite OpenAI's."""
    delta = choice.get("delta") or {}
    words = {k: v for k, v in delta.items() if k not in ("tool_calls", "function_call")}
    return {**choice, "delta": words}


def build(settings: LLMSettings) -> CompatibleModel:
    """The model for these settings. Nothing of it is taken from OPENAI_* variables."""
    row = PROVIDERS[settings.provider]
    official = settings.provider == "openai" and settings.base_url == row.base_url
    model = CompatibleModel(
        provider_name=settings.provider,
        official=official,
        model=settings.model,
        base_url=settings.base_url,
        api_key=settings.api_key,
        timeout=settings.timeout_s,
        max_retries=settings.max_retries,
        temperature=None if is_reasoning(settings.model) else settings.temperature,
        max_completion_tokens=settings.max_tokens,
        stream_usage=row.stream_usage,
        stream_chunk_timeout=settings.timeout_s,
        use_responses_api=None if official else False,
        output_version=None,
        http_client=client(settings.timeout_s, settings.base_url),
        http_async_client=async_client(settings.timeout_s, settings.base_url),
        http_socket_options=(),  # of a client of its own; it warns of proxies that ours heeds
    )
    model._returns_reasoning = row.takes_reasoning
    # The SDK reads these from the environment and would tell them to any provider.
    for vendor in (model.root_client, model.root_async_client):
        vendor._custom_headers = {}
        if not official:
            vendor.organization = vendor.project = None
    return model
