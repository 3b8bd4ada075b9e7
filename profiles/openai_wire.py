"""What OpenAI's wire format holds, read without LangChain's mending: whole answers and streams."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGenerationChunk

from .calls import CallPieces, RawCall, arguments_text, sendable, whole_chunk
from .failures import LLMProviderError
from .thinking import ThinkingFilter

OURS = "edgeward"
"""Where a message keeps what its provider wants back: `{"provider": ..., "data": [...]}`."""

DELTA = "delta"
"""Where a chunk keeps the delta that it was made from, until `Streamed` has read it."""

UNSIGNED = {"google": {"thought_signature": "skip_thought_signature_validator"}}
"""Of a call that no model of Google's wrote: https://ai.google.dev/gemini-api/docs/thought-signatures
names this value, without which the request is refused."""

UNTHOUGHT = "No thought of this call is known."
"""DeepSeek refuses a call without a thought: https://api-docs.deepseek.com/guides/thinking_mode"""

SHORT = 9
"""Letters and digits in the ids that Mistral takes; it refuses others."""

_SIGNED = re.compile(r"gemini-(?:[3-9]|\d\d)", re.IGNORECASE)
"""Models that refuse a call without a signature."""

_STANDARD = frozenset({"id", "type", "function", "index", "custom"})


def whole_calls(message: Mapping[str, Any]) -> list[RawCall]:
    """The calls of a whole message, the older `function_call` and custom calls included."""
    calls = [_raw(call) for call in _sent(message)]
    older = message.get("function_call")
    if not calls and isinstance(older, Mapping):
        calls.append(_raw({"id": "call_0", "function": older}))
    return calls


def _sent(part: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [call for call in part.get("tool_calls") or [] if isinstance(call, Mapping)]


def _raw(call: Mapping[str, Any]) -> RawCall:
    custom, call_id = call.get("custom"), call.get("id")
    inner: Any = call.get("function") or custom
    if not isinstance(inner, Mapping):
        inner = {}
    name = inner.get("name")
    # A custom call's input is free text: no arguments that could be judged.
    text = inner.get("arguments") if custom is None else f"free text: {inner.get('input')}"
    return RawCall(
        name=name if isinstance(name, str) else "",
        id=call_id if call_id and isinstance(call_id, str) else None,
        arguments=arguments_text(text),
        extra={key: value for key, value in call.items() if key not in _STANDARD},
    )


def reasoning(part: Mapping[str, Any]) -> str:
    """The thinking that a message or a delta carries beside its content."""
    for key in ("reasoning_content", "reasoning"):
        if isinstance(part.get(key), str) and part[key]:
            return str(part[key])
    return ""


def kept(provider: str, calls: Sequence[RawCall], thought: str = "") -> dict[str, Any]:
    """What a message keeps for its provider, as `additional_kwargs`."""
    out: dict[str, Any] = {}
    if thought:
        out["reasoning_content"] = thought
    if thought or any(call.extra for call in calls):
        out[OURS] = {"provider": provider, "data": [call.extra for call in calls]}
    return out


def is_thought_of(message: BaseMessage, provider: str) -> bool:
    """Whether `message` is this provider's, and keeps its reasoning."""
    ours = message.additional_kwargs.get(OURS)
    same = isinstance(ours, Mapping) and ours.get("provider") == provider
    return same and bool(message.additional_kwargs.get("reasoning_content"))


def give_back(
    messages: Sequence[BaseMessage],
    wires: Sequence[dict[str, Any]],
    *,
    provider: str,
    model: str,
    thoughts_too: bool,
) -> None:
    """Put into `wires`, which stand for `messages` in a request, what their provider wants back.

    A call that its model did not write (another's, or one that a node proposed) has nothing to give
    back: in its place stands what says so, where the request would be refused without it.
    """
    turn = last_human(messages)
    signed = provider == "google" and bool(_SIGNED.search(model))
    for position, (message, wire) in enumerate(zip(messages, wires, strict=True)):
        if not isinstance(message, AIMessage):
            continue
        calls = wire.get("tool_calls") or []
        _fill(calls, _extras(message, provider))
        if signed and calls and not any("extra_content" in call for call in calls):
            calls[0]["extra_content"] = UNSIGNED
        if thoughts_too and position > turn and is_thought_of(message, provider):
            wire["reasoning_content"] = message.additional_kwargs["reasoning_content"]
        elif thoughts_too and position > turn and calls:
            wire["reasoning_content"] = UNTHOUGHT
    if provider == "mistral":
        _shorten_ids(wires)


def _extras(message: AIMessage, provider: str) -> Sequence[Mapping[str, Any]]:
    ours = message.additional_kwargs.get(OURS)
    same = isinstance(ours, Mapping) and ours.get("provider") == provider
    return ours.get("data") or [] if isinstance(ours, Mapping) and same else []


def _fill(calls: Sequence[dict[str, Any]], extras: Sequence[Mapping[str, Any]]) -> None:
    """Put the extra fields back. Arguments that are no JSON object are emptied: a server that
    parses them would fail."""
    for number, call in enumerate(calls):
        function = call["function"]
        function["arguments"] = sendable(function.get("arguments"))
        if number < len(extras):
            call.update(extras[number])


def _shorten_ids(wires: Sequence[dict[str, Any]]) -> None:
    """Give calls ids that Mistral takes, the same to a call and its answer."""
    for wire in wires:
        for call in wire.get("tool_calls") or []:
            call["id"] = _short(call["id"])
        if "tool_call_id" in wire:
            wire["tool_call_id"] = _short(wire["tool_call_id"])


def _short(call_id: str) -> str:
    if len(call_id) == SHORT and call_id.isascii() and call_id.isalnum():
        return call_id
    return hashlib.sha256(call_id.encode("utf-8", "replace")).hexdigest()[:SHORT]


def last_human(messages: Sequence[BaseMessage]) -> int:
    """Where the current turn began; -1 where nobody has asked anything."""
    spoken = (n for n in range(len(messages) - 1, -1, -1) if isinstance(messages[n], HumanMessage))
    return next(spoken, -1)


def answer_fault(response: object) -> str:
    """Why a whole answer is none; empty where it is one."""
    if not isinstance(response, dict):
        return "the answer is not JSON"
    if response.get("error"):
        return "the answer holds an error"
    choices = response.get("choices")
    if not isinstance(choices, list) or not choices:
        return "the answer holds no choices"
    whole = all(isinstance(choice.get("message"), dict) for choice in choices)
    return "" if whole else "the answer holds no message"


class Streamed:
    """One streamed answer: text goes on at once, calls when they are whole."""

    def __init__(self, provider: str, *, thinking: ThinkingFilter | None) -> None:
        self._provider = provider
        self._filter = thinking
        self._pieces = CallPieces()
        self._thought = False
        self._finished = False

    def feed(self, chunk: ChatGenerationChunk) -> Iterator[ChatGenerationChunk]:
        """What of `chunk` may be passed on now."""
        message = chunk.message
        assert isinstance(message, AIMessageChunk)
        delta = message.additional_kwargs.pop(DELTA, None)
        self._collect(message, delta)
        message.tool_call_chunks, message.tool_calls, message.invalid_tool_calls = [], [], []
        message.additional_kwargs.pop("function_call", None)
        refused = (delta or {}).get("refusal")
        if refused and isinstance(refused, str) and isinstance(message.content, str):
            message.content += refused
        thought = reasoning(delta or {})
        if self._filter and isinstance(message.content, str):
            message.content, inline = self._filter.feed(message.content)
            thought += inline
        if thought:
            self._thought = True
            message.additional_kwargs["reasoning_content"] = thought
        if (chunk.generation_info or {}).get("finish_reason"):
            self._finished = True
        yield ChatGenerationChunk(message=message, generation_info=chunk.generation_info)

    def _collect(self, message: AIMessageChunk, delta: Mapping[str, Any] | None) -> None:
        if delta is None:  # the Responses API: LangChain's own pieces
            for piece in message.tool_call_chunks:
                self._pieces.add({**piece, "arguments": piece["args"]})
            return
        for call in _sent(delta):
            index = call.get("index")
            self._pieces.add(
                {"index": index if isinstance(index, int) else None, **asdict(_raw(call))}
            )
        older = delta.get("function_call")
        if isinstance(older, Mapping):
            known = _raw({"id": "call_0", "function": older})
            self._pieces.add({"index": 0, **asdict(known)})

    def close(self, *, must_finish: bool) -> Iterator[ChatGenerationChunk]:
        """The rest: text held back, the whole calls, what the provider wants back.

        Raises:
            LLMProviderError: the stream ended without saying that the answer is complete.
        """
        if must_finish and not self._finished:
            wrong = f"{self._provider}: the stream ended before the answer was complete"
            raise LLMProviderError(wrong, provider=self._provider)
        text, thought = self._filter.close() if self._filter else ("", "")
        self._thought = self._thought or bool(thought)
        if text or thought:
            extra = {"reasoning_content": thought} if thought else {}
            yield _chunk(AIMessageChunk(content=text, additional_kwargs=extra))
        calls = self._pieces.whole()
        if calls:
            yield _chunk(whole_chunk(calls))
        ours = kept(self._provider, calls, "thought" if self._thought else "").get(OURS)
        if ours:
            yield _chunk(AIMessageChunk(content="", additional_kwargs={OURS: ours}))


def _chunk(message: AIMessageChunk) -> ChatGenerationChunk:
    return ChatGenerationChunk(message=message)
