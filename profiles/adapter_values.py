"""The values in which adapters speak (DefenseAgent's), and how they become LangChain's and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.messages.ai import InputTokenDetails, UsageMetadata

Role = Literal["system", "user", "assistant", "tool"]
Tools = Sequence[Mapping[str, Any]]
"""`{"name", "description", "input_schema"}` for each tool."""


@dataclass(slots=True)
class ToolCall:
    """A call that a model proposes."""

    id: str
    name: str
    arguments: dict[str, Any]


@dataclass(slots=True)
class Message:
    """One message. `content` is text, or blocks in OpenAI's form."""

    role: Role
    content: str | list[Any]
    tool_calls: list[ToolCall] = field(default_factory=list)
    tool_call_id: str | None = None
    name: str | None = None


@dataclass(slots=True)
class TokenUsage:
    """Tokens of one call of a model; those from a cache are among the prompt's."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0
    cache_read_tokens: int = 0
    cache_creation_tokens: int = 0


@dataclass(slots=True)
class LLMResponse:
    """What a model answered."""

    content: str
    tool_calls: list[ToolCall] = field(default_factory=list)
    usage: TokenUsage = field(default_factory=TokenUsage)
    stop_reason: str | None = None
    raw: dict[str, Any] = field(default_factory=dict)
    reasoning_content: str = ""
    id: str = ""


@dataclass(slots=True)
class TextDelta:
    """A piece of a streamed answer."""

    text: str


@dataclass(slots=True)
class StreamEnd:
    """How a streamed answer ended."""

    stop_reason: str
    usage: TokenUsage
    raw: dict[str, Any] = field(default_factory=dict)
    reasoning_content: str = ""
    id: str = ""


StreamChunk = TextDelta | StreamEnd


def response_of(message: BaseMessage) -> LLMResponse:
    """A chat model's message as an answer."""
    about: Mapping[str, Any] = message.response_metadata
    used: Mapping[str, Any] = getattr(message, "usage_metadata", None) or {}
    details = used.get("input_token_details") or {}
    return LLMResponse(
        message.text,
        [
            ToolCall(call["id"] or "", call["name"], call["args"])
            for call in getattr(message, "tool_calls", ())
        ],
        TokenUsage(
            used.get("input_tokens", 0),
            used.get("output_tokens", 0),
            used.get("total_tokens", 0),
            details.get("cache_read") or 0,
            details.get("cache_creation") or 0,
        ),
        about.get("finish_reason") or about.get("stop_reason"),
        dict(about),
        str(message.additional_kwargs.get("reasoning_content") or ""),
        message.id or "",
    )


def as_message(reply: LLMResponse) -> AIMessage:
    """An answer as a chat model's message; without counts where there are none."""
    used = reply.usage
    usage = UsageMetadata(
        input_tokens=used.prompt_tokens,
        output_tokens=used.completion_tokens,
        total_tokens=used.total_tokens or used.prompt_tokens + used.completion_tokens,
        input_token_details=InputTokenDetails(
            cache_read=used.cache_read_tokens, cache_creation=used.cache_creation_tokens
        ),
    )
    thought = {"reasoning_content": reply.reasoning_content} if reply.reasoning_content else {}
    return AIMessage(
        reply.content,
        tool_calls=[{"name": c.name, "args": c.arguments, "id": c.id} for c in reply.tool_calls],
        usage_metadata=usage if usage["total_tokens"] else None,
        response_metadata={"finish_reason": reply.stop_reason} if reply.stop_reason else {},
        additional_kwargs=thought,
    )


def as_ours(messages: Sequence[BaseMessage]) -> tuple[str, list[Message]]:
    """The system's words, and the other messages."""
    system: list[str] = []
    ours: list[Message] = []
    for message in messages:
        content: Any = message.content
        match message:
            case SystemMessage():
                system.append(message.text)
            case ToolMessage():
                call_id, name = message.tool_call_id, message.name
                ours.append(Message("tool", content, tool_call_id=call_id, name=name))
            case AIMessage():
                calls = [ToolCall(c["id"] or "", c["name"], c["args"]) for c in message.tool_calls]
                ours.append(Message("assistant", message.text, calls))
            case _:
                ours.append(Message("user", content))
    return "\n\n".join(system), ours


def as_theirs(messages: Sequence[Message], system: str | None) -> list[BaseMessage]:
    """The messages as LangChain has them, the system's words first."""
    theirs: list[BaseMessage] = [SystemMessage(system)] if system else []
    for one in messages:
        match one.role:
            case "system":
                theirs.append(SystemMessage(one.content))
            case "tool":
                theirs.append(
                    ToolMessage(one.content, tool_call_id=one.tool_call_id or "", name=one.name)
                )
            case "assistant":
                calls = [{"name": c.name, "args": c.arguments, "id": c.id} for c in one.tool_calls]
                theirs.append(AIMessage(one.content, tool_calls=calls))
            case _:
                theirs.append(HumanMessage(one.content))
    return theirs
