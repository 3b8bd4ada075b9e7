"""Profiles and their blocks, under the module and class names that DefenseAgent has for them."""

from __future__ import annotations

from .policies.problems import (
    ConfigError,
    ConfigFileMissing,
    ConfigParseError,
    ConfigValidationError,
)
from .policies.problems import ConfigFileMissing as ConfigFileNotFoundError
from .profiles.blocks import CognitiveBlock as CognitiveConfig
from .profiles.llm import LLMBlock as LLMConfig
from .profiles.memory.block import MemoryBlock as MemoryConfig
from .profiles.prompt import PromptBlock as PromptConfig
from .profiles.rag.block import RagBlock as RAGConfig
from .profiles.schema import AgentProfile
from .profiles.tools.block import ToolsBlock as ToolsConfig
from .profiles.tools.mcp.server import McpServer as MCPServerConfig

__all__ = [
    "AgentProfile",
    "CognitiveConfig",
    "ConfigError",
    "ConfigFileMissing",
    "ConfigFileNotFoundError",
    "ConfigParseError",
    "ConfigValidationError",
    "LLMConfig",
    "MCPServerConfig",
    "MemoryConfig",
    "PromptConfig",
    "RAGConfig",
    "ToolsConfig",
]
