"""A way of one's own to a model: `LLM` round an adapter, and the values in which adapters speak.

    class Mine(LLMAdapter):
        async def chat(self, messages, **options):
            return LLMResponse("Hello.")

    AgentConfig(profile="profile.yaml", llm=LLM(adapter=Mine()))

These are DefenseAgent's names. Underneath is a chat model of LangChain's, as everywhere: what is
written as one needs none of this.
"""

from __future__ import annotations

import inspect
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field, SecretStr, SkipValidation, ValidationError

from ..guards.faults import without_values
from .adapter_values import (
    LLMResponse,
    Message,
    StreamChunk,
    StreamEnd,
    TextDelta,
    Tools,
    as_message,
    as_ours,
    as_theirs,
    response_of,
)
from .environment import read_env
from .failures import LLMAdapterError
from .llm import LLMBlock, LLMSettings, build_model, resolve_llm
from .portal import Portal
from .schema import AgentProfile


class LLMAdapter(ABC):
    """Asks one model. A subclass has `chat`; it may be called by any number of runs at once."""

    @abstractmethod
    async def chat(
        self,
        messages: list[Message],
        *,
        tools: Tools | None = None,
        temperature: float = 0.7,
        max_tokens: int = 1024,
        system: str | None = None,
    ) -> LLMResponse:
        """The model's answer."""


class LLM:
    """A model behind `chat` and `chat_stream`; agents use the model that is inside."""

    def __init__(self, adapter: LLMAdapter | BaseChatModel) -> None:
        """Take an adapter, or a chat model of LangChain's.

        Raises:
            LLMAdapterError: it is neither.
        """
        if not isinstance(adapter, LLMAdapter | BaseChatModel):
            raise LLMAdapterError(
                f"adapter is a {type(adapter).__name__}; it must be an LLMAdapter or a chat model"
            )
        self.adapter = adapter
        self.model = adapter if isinstance(adapter, BaseChatModel) else Adapted(adapter=adapter)
        self.secrets: dict[str, str] = {}
        """The keys by name, for masking."""

    @classmethod
    def create(
        cls, *, provider: str, model: str, api_key: str = "", base_url: str | None = None
    ) -> LLM:
        """A provider's model, with no look at the environment.

        Raises:
            LLMConfigError: a setting is missing or wrong.
        """
        key = SecretStr(api_key) if api_key else None
        block = LLMBlock(provider=provider, model=model, api_key=key, base_url=base_url)
        return cls._of(resolve_llm(block, {}))

    @classmethod
    def from_profile(
        cls,
        profile: AgentProfile | None,
        *,
        dotenv_path: str | Path | None = None,
        load_env: bool = True,
    ) -> LLM:
        """The model of a profile; what it leaves out comes from the environment.

        Raises:
            LLMConfigError: with every missing setting at once.
        """
        env = read_env(load_env=load_env, dotenv_path=dotenv_path)
        block, base_dir = (profile.llm, profile.base_dir) if profile else (LLMBlock(), None)
        return cls._of(resolve_llm(block, env, base_dir=base_dir))

    @classmethod
    def from_env(cls, dotenv_path: str | Path | None = None, *, load_env: bool = True) -> LLM:
        """The model that the environment names.

        Raises:
            LLMConfigError: with every missing setting at once.
        """
        return cls.from_profile(None, dotenv_path=dotenv_path, load_env=load_env)

    @classmethod
    def _of(cls, settings: LLMSettings) -> LLM:
        made = cls(build_model(settings))
        made.secrets = settings.secrets()
        return made

    async def chat(
        self,
        messages: Sequence[Message],
        *,
        tools: Tools | None = None,
        temperature: float | None = None,
        max_tokens: int | None = None,
        system: str | None = None,
    ) -> LLMResponse:
        """Ask once. No agent, no guard: the calls in the answer are a program's own to judge."""
        asked = _asking(self.model, tools, temperature, max_tokens)
        return response_of(await asked.ainvoke(as_theirs(messages, system)))

    async def chat_stream(
        self,
        messages: Sequence[Message],
        *,
        tools: Tools | None = None,
        temperature: float | None = None,
        max_tokens: int | None = None,
        system: str | None = None,
    ) -> AsyncIterator[StreamChunk]:
        """The text in pieces, then one end with the counts."""
        asked = _asking(self.model, tools, temperature, max_tokens)
        whole: Any = None
        async for chunk in asked.astream(as_theirs(messages, system)):
            whole = chunk if whole is None else whole + chunk
            if chunk.text:
                yield TextDelta(chunk.text)
        end = response_of(whole if whole is not None else AIMessage(""))
        said = end.stop_reason or "end_turn"
        yield StreamEnd(said, end.usage, end.raw, end.reasoning_content, end.id)


class Adapted(BaseChatModel):
    """An adapter as a chat model of LangChain's."""

    adapter: SkipValidation[LLMAdapter]
    offered: list[dict[str, Any]] = Field(default_factory=list)
    """The tools of `bind_tools`, on the copy that it returns."""

    @property
    def _llm_type(self) -> str:
        return "adapter"

    def bind_tools(
        self, tools: Sequence[Any], *, tool_choice: Any = None, **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """A copy that hands these tools to the adapter."""
        found = [convert_to_openai_tool(tool)["function"] for tool in tools]
        offered = [
            {
                "name": one["name"],
                "description": one.get("description", ""),
                "input_schema": one.get("parameters") or {"type": "object", "properties": {}},
            }
            for one in found
        ]
        return self.model_copy(update={"offered": offered})

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        system, ours = as_ours(messages)
        options = {n: v for n, v in kwargs.items() if n in ("temperature", "max_tokens")}
        asked: Any = self.adapter.chat(
            ours, tools=self.offered or None, system=system or None, **options
        )
        name = type(self.adapter).__name__
        if not inspect.isawaitable(asked):
            raise LLMAdapterError(f"{name}.chat is a plain function; write it with `async def`")
        reply = await asked
        if not isinstance(reply, LLMResponse):
            kind = type(reply).__name__
            raise LLMAdapterError(f"{name}.chat gave a {kind}; it must give an LLMResponse")
        fault = ""
        try:
            return ChatResult(generations=[ChatGeneration(message=as_message(reply))])
        except ValidationError as error:
            # Without the values, which may be secret.
            fault = "; ".join(without_values(error))
        except (TypeError, AttributeError):
            fault = "its tool_calls or usage are none"
        raise LLMAdapterError(f"{name}.chat gave a wrong LLMResponse: {fault}")

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        portal = _portal()
        if portal.is_here:
            raise RuntimeError("an adapter's chat may not wait for a model; it must await it")
        asked = portal.submit(self._agenerate(messages, stop, **kwargs))
        try:
            return asked.result()
        finally:
            asked.cancel()  # somebody interrupts the run


_starting = threading.Lock()


def _portal() -> Portal:
    """The one loop for programs without one: a client that an adapter keeps belongs to its loop."""
    with _starting:
        return _portal_of(os.getpid())


@cache
def _portal_of(process: int) -> Portal:
    """A process that was forked off has none of its parent's threads."""
    return Portal(f"edgeward adapters {process}")


def _asking(
    model: BaseChatModel, tools: Tools | None, temperature: float | None, max_tokens: int | None
) -> Runnable[LanguageModelInput, AIMessage]:
    options = {"temperature": temperature, "max_tokens": max_tokens}
    given = {name: value for name, value in options.items() if value is not None}
    if not tools:
        return model.bind(**given)
    functions = [
        {
            "type": "function",
            "function": {
                "name": tool["name"],
                "description": tool.get("description", ""),
                "parameters": tool.get("input_schema") or {"type": "object", "properties": {}},
            },
        }
        for tool in tools
    ]
    return model.bind_tools(functions).bind(**given)
