"""What a profile equips an agent with: its tools, from every source, and what they keep open.

A source is a function that takes the profile and gives an `Equipment`; one file each, next to the
schema of its block. A library that a source needs is loaded when the profile turns the source on.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass

from langchain_core.tools import BaseTool

from .schema import AgentProfile
from .tools.python import load_python_tool
from .tools.skills import load_skill, reading_tool


@dataclass(frozen=True, slots=True)
class Equipment:
    """Tools, each with the words by which messages name its source, and how they are closed."""

    tools: tuple[tuple[BaseTool, str], ...] = ()
    closers: tuple[Callable[[], None], ...] = ()
    """Each is called once, from any thread, the last opened first."""

    def close(self) -> None:
        """Close all of it; what fails to close does not keep the rest open."""
        with ExitStack() as stack:
            for closer in self.closers:
                stack.callback(closer)


def equip(profile: AgentProfile) -> Equipment:
    """Everything that the profile's blocks ask for.

    What was opened is closed again where a later source fails.

    Raises:
        ConfigError: a source cannot be built. MissingExtra: it needs an extra.
    """
    found: list[tuple[BaseTool, str]] = []
    with ExitStack() as opened:
        for source in (_python, _skills):
            part = source(profile)
            found.extend(part.tools)
            opened.callback(part.close)
        return Equipment(tuple(found), (opened.pop_all().close,))


def _python(profile: AgentProfile) -> Equipment:
    entries = profile.tools.python
    return Equipment(
        tuple(
            (load_python_tool(entry, profile.base_dir), f"tools.python: {entry}")
            for entry in entries
        )
    )


def _skills(profile: AgentProfile) -> Equipment:
    tools: list[tuple[BaseTool, str]] = []
    for entry in profile.tools.skills:
        skill = load_skill(entry, profile.base_dir)
        tools.append((reading_tool(skill), f"tools.skills: {entry}"))
    return Equipment(tuple(tools))
