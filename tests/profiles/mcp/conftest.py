"""A scripted server for one test, and tools of profiles that are closed when the test is over."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from langchain_core.tools import BaseTool

from edgeward import AgentProfile
from edgeward.profiles.tools.mcp.source import McpTools, mcp_tools

from .serving import Program, profile_of

Opened = Callable[..., dict[str, BaseTool]]


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """A server that is a program; `scripts` says what it does."""
    return Program(tmp_path)


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    """The tools by name, of a profile or of one with these entries."""
    found: list[McpTools] = []

    def opening(*entries: Any, environ: Mapping[str, str] | None = None) -> dict[str, BaseTool]:
        whole = entries and isinstance(entries[0], AgentProfile)
        profile = entries[0] if whole else profile_of(tmp_path, *entries)
        found.append(mcp_tools(profile, environ=environ))
        return {tool.name: tool for tool, _ in found[-1].tools}

    yield opening
    for one in found:
        one.close()
