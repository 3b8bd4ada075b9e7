"""A model file of one's own, run in this process (`provider: local`, a GGUF file, no network).

Small models do not keep to a provider's form of tool calls. So the tools stand in the prompt, and
what the model writes to choose one is held to a schema, letter by letter: an action that is none
cannot be written, nor arguments of another shape. Where the schema says more than llama.cpp knows
(it drops such a pattern without a word), the guard's own check of the arguments comes after it.
An answer in words is written freely, in a second go, and so can be streamed. After as many rounds
of tools as `llm.local.tool_rounds` says (one: such a model does not know when to stop) it answers.
"""

from __future__ import annotations

import asyncio
import json
import queue
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from ..policies.problems import Problem
from .calls import RawCall, judged, whole_chunk
from .failures import LLMConfigError, LLMProviderError
from .llm import LLMSettings
from .local_block import LocalBlock
from .local_engine import LocalEngine
from .local_files import model_file
from .local_prompt import ANSWER, choice_of, question, schema_of
from .local_router import Router
from .openai_wire import last_human

ANSWER_TOKENS = 512
"""What is written at most where the profile does not say."""

Say = Callable[[str], None]


class LocalModel(BaseChatModel):
    """A chat model over a `LocalEngine`: its copies share the one model in memory."""

    model_name: str
    temperature: float = 0.0
    max_tokens: int | None = ANSWER_TOKENS
    timeout_s: float = 600.0
    tool_rounds: int = 1
    engine: LocalEngine
    router: Router | None = None

    @property
    def _llm_type(self) -> str:
        return "local"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"model": self.model_name, "temperature": self.temperature}

    def close(self) -> None:
        """Free the model's memory; whoever waits for an answer gets an error."""
        self.engine.close()

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """The model with these tools to choose from; `tool_choice` `any`, or a name: it has to.

        Raises:
            ValueError: a tool is called `answer`, which is how the model chooses none.
        """
        made = [convert_to_openai_tool(tool) for tool in tools]
        if any(tool["function"]["name"] == ANSWER for tool in made):
            raise ValueError(f"a local model can use no tool called {ANSWER!r}; call it otherwise")
        named = [tool for tool in made if tool["function"]["name"] == tool_choice]
        must = bool(named) or tool_choice in ("any", "required")
        return self.bind(tools=named or made, must_use=must, **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        talk = self._talk(messages, stop, kwargs)
        future = self.engine.submit(talk.run)
        try:
            return _result(future.result())
        finally:
            talk.cancel()
            future.cancel()

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        talk = self._talk(messages, stop, kwargs)
        future = self.engine.submit(talk.run)
        try:
            return _result(await asyncio.wrap_future(future))
        finally:
            talk.cancel()

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        pieces: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        talk = self._talk(messages, stop, kwargs, say=pieces.put)
        future = self.engine.submit(talk.run)
        future.add_done_callback(lambda _: pieces.put(None))
        try:
            while (text := pieces.get()) is not None:
                chunk = _chunk(AIMessageChunk(content=text))
                if run_manager:
                    run_manager.on_llm_new_token(text, chunk=chunk)
                yield chunk
            yield _last(future.result())
        finally:
            talk.cancel()
            future.cancel()

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        loop = asyncio.get_running_loop()
        pieces: asyncio.Queue[str | None] = asyncio.Queue()

        def put(text: str | None) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(pieces.put_nowait, text)

        talk = self._talk(messages, stop, kwargs, say=put)
        future = self.engine.submit(talk.run)
        future.add_done_callback(lambda _: put(None))
        try:
            while (text := await pieces.get()) is not None:
                chunk = _chunk(AIMessageChunk(content=text))
                if run_manager:
                    await run_manager.on_llm_new_token(text, chunk=chunk)
                yield chunk
            yield _last(await asyncio.wrap_future(future))
        finally:
            talk.cancel()
            future.cancel()

    def _talk(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None,
        kwargs: dict[str, Any],
        say: Say | None = None,
    ) -> _Talk:
        most = kwargs.get("max_tokens") or self.max_tokens or ANSWER_TOKENS
        options = {"temperature": self.temperature, "max_tokens": most, "stop": stop or []}
        must_use = bool(kwargs.get("must_use"))
        return _Talk(self, messages, kwargs.get("tools") or [], options, say, must_use=must_use)


class _Talk:
    """One call of the model, on the engine's thread: a choice among the tools, an answer."""

    def __init__(
        self,
        model: LocalModel,
        messages: Sequence[BaseMessage],
        tools: Sequence[dict[str, Any]],
        options: dict[str, Any],
        say: Say | None,
        *,
        must_use: bool,
    ) -> None:
        self._model, self._messages, self._tools = model, messages, tools
        self._must_use = must_use
        self._options, self._say = options, say
        self._cancelled = threading.Event()
        self._read = self._written = self._cached = 0
        self._finish = "stop"
        self._until = float("inf")

    def cancel(self) -> None:
        """Stop: what waits does not begin, what is being written ends with the next word."""
        self._cancelled.set()

    def run(self) -> AIMessage:
        self._until = time.monotonic() + self._model.timeout_s
        tools, must_use = self._routed()
        asked = question(self._messages, tools, rounds=self._model.tool_rounds)
        if asked.choose:
            schema = schema_of(tools, or_answer=not must_use)
            shape = {"type": "json_schema", "json_schema": {"name": "action", "schema": schema}}
            call = choice_of(self._written_by(asked.choose, response_format=shape))
            if call is not None:
                calls, broken = judged([call])
                return self._message(content="", tool_calls=calls, invalid_tool_calls=broken)
        return self._message(content=self._written_by(asked.answer, say=self._say))

    def _routed(self) -> tuple[Sequence[dict[str, Any]], bool]:
        """The tools to choose from, and whether one has to be used."""
        at = last_human(self._messages)
        if self._model.router is None or at < 0 or not self._tools:
            return self._tools, self._must_use
        names = [tool["function"]["name"] for tool in self._tools]
        name = self._model.router.pick(self._messages[at].text, [*names, ANSWER])
        return [tool for tool in self._tools if tool["function"]["name"] == name], True

    def _written_by(
        self, messages: list[dict[str, str]], *, say: Say | None = None, **more: Any
    ) -> str:
        """What the model writes."""
        parts: list[str] = []

        def heard(piece: dict[str, Any]) -> bool:
            if usage := piece.get("usage"):
                self._read += int(usage.get("prompt_tokens") or 0)
                self._written += int(usage.get("completion_tokens") or 0)
                about = usage.get("prompt_tokens_details") or {}
                self._cached += int(about.get("cached_tokens") or 0)
            for choice in piece.get("choices") or ():
                self._finish = choice.get("finish_reason") or self._finish
                if text := (choice.get("delta") or {}).get("content"):
                    parts.append(text)
                    if say is not None:
                        say(text)
            if time.monotonic() > self._until:
                wrong = f"local: no answer within {self._model.timeout_s:g} s"
                raise LLMProviderError(wrong, provider="local", status=408)
            return self._cancelled.is_set()

        if self._cancelled.is_set():
            raise LLMProviderError("local: cancelled", provider="local")
        request = {**self._options, **more, "messages": messages}
        self._model.engine.chat({**request, "stream_options": {"include_usage": True}}, heard)
        if self._cancelled.is_set():
            raise LLMProviderError("local: cancelled", provider="local")
        return "".join(parts)

    def _message(self, **fields: Any) -> AIMessage:
        total = self._read + self._written
        usage = UsageMetadata(
            input_tokens=self._read,
            output_tokens=self._written,
            total_tokens=total,
            input_token_details={"cache_read": self._cached},
        )
        about = {"model_name": self._model.model_name, "finish_reason": self._finish}
        return AIMessage(usage_metadata=usage, response_metadata=about, **fields)


def _raw(call: Any) -> RawCall:
    arguments = call["args"] if isinstance(call["args"], str) else json.dumps(call["args"])
    return RawCall(name=call["name"], id=call["id"], arguments=arguments)


def _result(message: AIMessage) -> ChatResult:
    return ChatResult(generations=[ChatGeneration(message=message)])


def _chunk(message: AIMessageChunk) -> ChatGenerationChunk:
    return ChatGenerationChunk(message=message)


def _last(message: AIMessage) -> ChatGenerationChunk:
    """The end of a stream: the calls, whole, and the counts. Its text was streamed before."""
    calls = [*map(_raw, message.tool_calls), *map(_raw, message.invalid_tool_calls)]
    piece = whole_chunk(calls) if calls else AIMessageChunk(content="")
    piece.usage_metadata = message.usage_metadata
    about = {**message.response_metadata}
    return ChatGenerationChunk(message=piece, generation_info=about)


def build(settings: LLMSettings) -> LocalModel:
    """The model for these settings; the file is looked at now and loaded at the first question.

    Raises:
        LLMConfigError: the file is not there or no model, or the package does not load.
    """
    try:
        import xllamacpp  # noqa: F401
    except ImportError as error:
        wrong = "the package xllamacpp cannot be loaded"
        fix = "pip install 'edgeward[local]'"
        if "libgomp" in str(error):
            fix = "it needs the system's libgomp: apt-get install -y libgomp1"
        raise LLMConfigError(Problem("profile", "llm.provider", wrong, fix=fix)) from error
    block = settings.local or LocalBlock()
    file = model_file(settings.model, block)
    engine = LocalEngine(
        str(file), context_tokens=block.context_tokens, threads=block.threads, sha256=block.sha256
    )
    router = None
    if block.examples:
        from .embedding import local_embedder

        router = Router(block.examples, embedder=local_embedder())
    return LocalModel(
        router=router,
        model_name=file.stem,
        temperature=settings.temperature or 0.0,
        max_tokens=settings.max_tokens or ANSWER_TOKENS,
        timeout_s=settings.timeout_s,
        tool_rounds=block.tool_rounds,
        engine=engine,
    )
