"""Models, under the module name that DefenseAgent has for them."""

from __future__ import annotations

from ..profiles.adapter import LLM, LLMAdapter
from ..profiles.adapter_values import (
    LLMResponse,
    Message,
    StreamChunk,
    StreamEnd,
    TextDelta,
    TokenUsage,
    ToolCall,
)
from ..profiles.failures import LLMAdapterError, LLMConfigError, LLMError, LLMProviderError

__all__ = [
    "LLM",
    "LLMAdapter",
    "LLMAdapterError",
    "LLMConfigError",
    "LLMError",
    "LLMProviderError",
    "LLMResponse",
    "Message",
    "StreamChunk",
    "StreamEnd",
    "TextDelta",
    "TokenUsage",
    "ToolCall",
]
