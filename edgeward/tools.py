"""Tools and where they come from, under the module name that DefenseAgent has for them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from langchain_core.tools import BaseTool

from .profiles.schema import AgentProfile
from .profiles.tools.registry import ToolRegistry
from .profiles.tools.signature import ToolError, ToolNotFoundError, ToolRegistrationError
from .profiles.tools.skill_files import SkillLoadError

__all__ = [
    "MCPClient",
    "SkillLoadError",
    "ToolError",
    "ToolExecutionError",
    "ToolNotFoundError",
    "ToolRegistrationError",
    "ToolRegistry",
]


class ToolExecutionError(ToolError):
    """Nothing raises this: in an agent, what a tool raises is the answer to its call.

    The name is here so that a program that catches it can be imported.
    """


class MCPClient:
    """The tools of some MCP servers, for a registry; what a profile's `tools.mcp` does of itself.

        async with MCPClient({"mcpServers": {"clock": {"command": "mcp-clock"}}}) as client:
            registry = ToolRegistry(await client.discover_tools())
            AgentConfig(profile="profile.yaml", tool_registry=registry)

    Keep it open as long as the agent. Definitions are pinned in `base_dir`, as they are for a
    profile.
    """

    def __init__(
        self, mcp_config: Mapping[str, Any] | None = None, *, base_dir: str | Path | None = None
    ) -> None:
        """`mcp_config` is `{"mcpServers": {NAME: ENTRY}}`; an entry has a profile's keys.

        Raises:
            ConfigValidationError: an entry is wrong.
        """
        servers = (mcp_config or {}).get("mcpServers") or {}
        entries = [{"name": name, **entry} for name, entry in servers.items()]
        block = {"id": "mcp", "name": "MCP", "tools": {"mcp": entries}}
        self._profile = AgentProfile.from_mapping(block, base_dir=base_dir)
        self._opened: Any = None

    async def connect(self) -> None:
        """Connect to all servers, once.

        Raises:
            McpServerError: naming each that cannot be used; then nothing stays open.
        """
        from .graphs import workers
        from .profiles.tools.mcp.source import mcp_tools

        if self._opened is None and self._profile.tools.mcp:
            self._opened = await workers.arun(mcp_tools, self._profile)

    async def discover_tools(self) -> list[BaseTool]:
        """The accepted tools of the servers. They run without a guard until an agent has them."""
        await self.connect()
        return [tool for tool, _ in self._opened.tools] if self._opened else []

    async def cleanup(self) -> None:
        """End the servers. Twice is fine."""
        from .graphs import workers

        opened, self._opened = self._opened, None
        if opened is not None:
            await workers.arun(opened.close)

    async def __aenter__(self) -> MCPClient:
        await self.connect()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.cleanup()
