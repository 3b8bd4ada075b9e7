"""How long each tool may take, where the profile says so.

    tools:
      timeout_s: {search: 20, "web_*": 10, build_site: 900}

A tool's own limit takes the place of the `timeout_s` of the strategy's tool node, be it shorter or
longer: the strategy says what holds for tools that nobody knows more about.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ...guards.names import glob_pattern
from ...policies.problems import Problem, did_you_mean, either, speak
from .signature import ToolRegistrationError


def tool_timeouts(
    stated: Mapping[str, float],
    own: Mapping[str, float],
    names: Collection[str],
    *,
    complete: bool = True,
) -> dict[str, float]:
    """Seconds by tool, for the tools that have a limit of their own.

    `stated` is what the profile says, by name or glob: a name comes before a glob, and of several
    globs the shortest time holds. `own` is what a tool's source says, where the profile says
    nothing. `complete` is false where tools may be missing from `names` for now.

    Raises:
        ToolRegistrationError: the profile names a tool that there is not.
    """
    globs = {key: glob_pattern(key) for key in stated if "*" in key or "?" in key}
    found: dict[str, float] = {}
    for name in names:
        matching = [stated[key] for key, glob in globs.items() if glob.fullmatch(name)]
        if name in stated:
            found[name] = stated[name]
        elif matching:
            found[name] = min(matching)
        elif name in own:
            found[name] = own[name]
    unknown = [key for key in stated if key not in globs and key not in names]
    if unknown and complete:
        raise ToolRegistrationError(*(_unknown(key, names) for key in unknown))
    return found


def _unknown(name: str, names: Collection[str]) -> Problem:
    where, wrong = "agent.tools.timeout_s", "there is no tool of this name"
    fix = did_you_mean(name, names) or "remove it"
    return Problem(where, speak(name), wrong, either(sorted(names), limit=10), fix)
