"""Which code a profile may have run, where a program does not trust whoever wrote the profile.

A profile names Python functions, skills whose scripts run, and commands of MCP servers: loading one
is running its author's code. A program that takes profiles from others says what may be among them.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator

from ...arguments import require
from ...guards.names import glob_pattern
from ...policies.problems import Problem, either, speak
from .block import ToolsBlock
from .signature import ToolRegistrationError


def check_code(block: ToolsBlock, allowed: Collection[str] | None) -> None:
    """Refuse code that no glob of `allowed` names; None allows whatever the profile names.

    A Python function is named by its entry (`package.module:function`), a skill whose scripts run
    by its entry, an MCP server that is a program by its command line.

    Raises:
        ToolRegistrationError: with all of it at once.
    """
    if allowed is None:
        return
    if isinstance(allowed, str):  # each of its letters would be a glob, and one may be `*`
        fix = f"write [{speak(allowed)}]"
        raise ToolRegistrationError(
            Problem("allowed_code", "", "is one text", "a list of globs", fix)
        )
    require("allowed_code", allowed, Collection, "a list of globs, or None: whatever is named")
    globs = [glob_pattern(glob) for glob in allowed]
    problems = [
        Problem(
            field,
            shown,
            "this program does not let a profile run it",
            either(list(allowed)) or "nothing",
            "remove it, or have it allowed (`allowed_code`)",
        )
        for field, code, shown in _code(block)
        if not any(glob.fullmatch(code) for glob in globs)
    ]
    if problems:
        raise ToolRegistrationError(*problems)


def _code(block: ToolsBlock) -> Iterator[tuple[str, str, str]]:
    """Field, code, and the code as messages may show it: a server's arguments may hold a key."""
    for entry in block.python:
        yield "agent.tools.python", entry.strip(), speak(entry)
    for entry in block.skills if block.allow_skill_execution else ():
        yield "agent.tools.skills", entry, speak(entry)
    for server in block.mcp:
        if server.command is not None:
            line = shlex.join([server.command, *server.args])
            yield "agent.tools.mcp", line, server.label
