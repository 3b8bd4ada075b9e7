"""A second model that is asked where the first is not to be had.

That is: no answer (after the retries), an answer without content, 402, 408, 409, 429, 5xx. A
request that was refused as such (400, 401, 403, 404, 422) is not asked again elsewhere: what is
wrong with it would stay hidden. Nor is a stream of which something was passed on already.
The second model's replies say so in `response_metadata["fallback"]`, and are counted at its price.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from .failures import LLMProviderError

PASSING = frozenset({402, 408, 409, 425, 429})
"""Statuses below 500 that say nothing against the request itself."""

MARK = "fallback"


def name_of(model: BaseChatModel) -> str:
    """How a chat model is called by its provider; what it is, where it has no name."""
    names = (getattr(model, attribute, None) for attribute in ("model_name", "model"))
    return next((name for name in names if isinstance(name, str) and name), model._llm_type)


class FallbackModel(BaseChatModel):
    """`first`, and `second` where that is not to be had."""

    first: BaseChatModel
    second: BaseChatModel
    max_tokens: int | None = None
    """What the first may write at most; None: what it does by itself."""

    def model_post_init(self, context: Any, /) -> None:
        super().model_post_init(context)
        self.max_tokens = self.max_tokens or getattr(self.first, "max_tokens", None)

    @property
    def model_name(self) -> str:
        """The first model's name."""
        return name_of(self.first)

    @property
    def _llm_type(self) -> str:
        return self.first._llm_type

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"first": self.first._identifying_params, MARK: self.second._identifying_params}

    def close(self) -> None:
        """Close what the models keep open."""
        for model in (self.first, self.second):
            close = getattr(model, "close", None)
            if callable(close):
                close()

    def bind_tools(
        self, tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool], **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Each model is given the tools in its own format, when it is asked."""
        made = [tool if isinstance(tool, dict) else convert_to_openai_tool(tool) for tool in tools]
        return self.bind(tools=made, tool_options=kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        try:
            return self.first._generate(messages, stop, run_manager, **_for(self.first, kwargs))
        except LLMProviderError as error:
            if not _passes(error):
                raise
            try:
                options = _for(self.second, kwargs)
                result = self.second._generate(messages, stop, run_manager, **options)
            except LLMProviderError as again:
                raise _both(error, again) from again
            return self._marked(result, error)

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        try:
            options = _for(self.first, kwargs)
            return await self.first._agenerate(messages, stop, run_manager, **options)
        except LLMProviderError as error:
            if not _passes(error):
                raise
            try:
                options = _for(self.second, kwargs)
                result = await self.second._agenerate(messages, stop, run_manager, **options)
            except LLMProviderError as again:
                raise _both(error, again) from again
            return self._marked(result, error)

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        held: list[ChatGenerationChunk] = []
        begun = False
        try:
            for chunk in self.first._stream(
                messages, stop, run_manager, **_for(self.first, kwargs)
            ):
                held.append(chunk)
                if begun or _says(chunk):
                    begun = True
                    yield from _taken(held)
            yield from held
        except LLMProviderError as error:
            if begun or not _passes(error):
                raise
            options = _for(self.second, kwargs)
            mark = self._mark(error)
            try:
                for chunk in self.second._stream(messages, stop, run_manager, **options):
                    chunk.message.response_metadata |= _taken_mark(mark)
                    yield chunk
            except LLMProviderError as again:
                raise _both(error, again) from again

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        held: list[ChatGenerationChunk] = []
        begun = False
        try:
            first: Any = self.first._astream(
                messages, stop, run_manager, **_for(self.first, kwargs)
            )
            async with aclosing(first):
                async for chunk in first:
                    held.append(chunk)
                    if begun or _says(chunk):
                        begun = True
                        for one in _taken(held):
                            yield one
            for one in held:
                yield one
        except LLMProviderError as error:
            if begun or not _passes(error):
                raise
            second: Any = self.second._astream(
                messages, stop, run_manager, **_for(self.second, kwargs)
            )
            mark = self._mark(error)
            try:
                async with aclosing(second):
                    async for chunk in second:
                        chunk.message.response_metadata |= _taken_mark(mark)
                        yield chunk
            except LLMProviderError as again:
                raise _both(error, again) from again

    def _mark(self, error: LLMProviderError) -> dict[str, Any]:
        reason = f"{error.provider} answered {error.status}" if error.status else error.provider
        return {MARK: {"model": name_of(self.second), "instead_of": self.model_name, "for": reason}}

    def _marked(self, result: ChatResult, error: LLMProviderError) -> ChatResult:
        for generation in result.generations:
            generation.message.response_metadata |= self._mark(error)
        return result


def _for(model: BaseChatModel, kwargs: dict[str, Any]) -> dict[str, Any]:
    """The options as this model takes them."""
    options = dict(kwargs)
    tools, about = options.pop("tools", None), options.pop("tool_options", {})
    if not tools:
        return options
    bound: Any = model.bind_tools(tools, **about)
    return {**getattr(bound, "kwargs", {}), **options}


def _passes(error: LLMProviderError) -> bool:
    return error.status is None or error.status >= 500 or error.status in PASSING


def _both(first: LLMProviderError, second: LLMProviderError) -> LLMProviderError:
    text = f"{first}; and the fallback: {second}"
    return LLMProviderError(text, provider=second.provider, status=second.status)


def _says(chunk: ChatGenerationChunk) -> bool:
    message: Any = chunk.message
    return bool(message.content or message.tool_call_chunks or message.additional_kwargs)


def _taken(held: list[Any]) -> list[Any]:
    taken = list(held)
    held.clear()
    return taken


def _taken_mark(mark: dict[str, Any]) -> dict[str, Any]:
    """The mark, once: pieces of a stream are added up."""
    taken = dict(mark)
    mark.clear()
    return taken
