"""The profile's `tools` block: where the agent's tools come from, how they are run and shown."""

from __future__ import annotations

import re
from collections import Counter
from typing import Annotated

from pydantic import Field, field_validator

from ...policies.yaml_file import Flag
from ..blocks import Block, Text
from .mcp.server import McpServer

_ENTRY = re.compile(r"[^:\s][^:]*:[A-Za-z_][A-Za-z0-9_.]*\Z")


class ToolsBlock(Block):
    """Where the agent's tools come from."""

    skills: list[Text] = Field(default=[])
    mcp: list[McpServer] = Field(default=[])
    python: list[Text] = Field(
        default=[],
        json_schema_extra={"items": {"type": "string", "pattern": rf"^\s*{_ENTRY.pattern}"}},
    )
    allow_skill_execution: Flag = False
    skill_execution_timeout: int = Field(default=300, ge=1)
    """Seconds that a skill's script may run."""
    timeout_s: dict[Text, Annotated[float, Field(gt=0)]] = Field(default={})
    """Seconds that a call may take, by tool or glob; other tools have the strategy's limit."""
    index_above: int | None = Field(default=None, ge=0)
    """With more tools than that, the model sees a list and asks for those it needs."""

    @field_validator("python")
    @classmethod
    def _entry_points(cls, entries: list[str]) -> list[str]:
        for entry in entries:
            if not _ENTRY.match(entry):
                raise ValueError(
                    "an entry has not the form of `folder/file.py:function` or"
                    " `package.module:function`"
                )
        return entries

    @field_validator("mcp")
    @classmethod
    def _told_apart(cls, servers: list[McpServer]) -> list[McpServer]:
        labels = Counter(server.label for server in servers)
        for label, times in labels.items():
            if times > 1:
                raise ValueError(f"{times} servers are called {label!r}; give each a name")
        return servers
