"""The tools of a profile's MCP servers, ready to be offered, and how the servers are closed.

Servers are connected when the agent is built, all at once: a server that cannot be reached is an
error then, and not in the middle of a run. What a server says of a tool is offered only as it was
accepted. Of a server that nobody knows yet everything is accepted and written to `mcp.lock`; from
then on, what it adds or changes is held back until `edgeward tools PROFILE --accept`.
"""

from __future__ import annotations

import difflib
import logging
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from langchain_core.tools import BaseTool

from ....extras import MissingExtra
from ....policies.problems import ConfigError, Problem, speak
from ...llm import read_env
from ..schemas import tool_schema
from .definitions import Definition, offer_of
from .environment import VariableMissing
from .failures import McpServerError, one_line
from .lock import FILE, read_pins, write_pins
from .pins import HELD, ToolState, accepted_unseen, compare
from .server import McpServer
from .servers import Servers
from .tool import McpTool
from .transports import Address

if TYPE_CHECKING:
    from ...schema import AgentProfile

OVERTIME_S = 5.0
"""Seconds by which the limit on a tool exceeds its server's, whose message says more."""

_LOG = logging.getLogger("edgeward.mcp")


@dataclass(frozen=True, slots=True)
class McpTools:
    """The tools, each with its source in words; what closes them; and the state of each."""

    tools: tuple[tuple[BaseTool, str], ...]
    close: Callable[[], None]
    states: tuple[ToolState, ...]
    timeout_s: Mapping[str, float]
    """Seconds by tool, of the servers for which the profile says how long an answer may take."""
    secrets: Mapping[str, str] = field(repr=False)
    """What the servers were given and nobody else is to see, by name."""


def mcp_tools(profile: AgentProfile, *, environ: Mapping[str, str] | None = None) -> McpTools:
    """Connect to the profile's servers, and take the tools that they may offer.

    Nothing stays open where this fails.

    Raises:
        McpServerError: a server cannot be used, each with its name; or the lock file is damaged.
        MissingExtra: the extra `mcp` is not installed.
    """
    with ExitStack() as opened:
        path = lock_path(profile)
        pins = read_pins(path)  # before anything is started
        servers, listed = connected(profile, environ=environ)
        opened.callback(servers.close)
        states = [
            compare(server.label, tools, pins.get(server.label), wanted=wanted(server, tools))
            for server, tools in zip(profile.tools.mcp, listed, strict=True)
        ]
        tools = _offered(profile, servers, states)
        first = {one[0].server: accepted_unseen(one) for one in states if one and _is_first(one)}
        if first:
            write_pins(path, first)
        _tell_what_is_held(states)
        opened.pop_all()
        return McpTools(
            tuple(tools),
            servers.close,
            tuple(state for one in states for state in one),
            _timeouts(profile, tools),
            servers.secrets,
        )


def lock_path(profile: AgentProfile) -> Path:
    """Where the profile's accepted definitions are kept."""
    return profile.resolve(FILE)


def connected(
    profile: AgentProfile, *, environ: Mapping[str, str] | None = None
) -> tuple[Servers, list[dict[str, Definition]]]:
    """The profile's servers, connected, and what each says of its tools.

    Raises:
        McpServerError: naming each server that cannot be reached, and each name in `include` or
            `exclude` that a server does not have. MissingExtra: the extra is not installed.
    """
    for module in ("mcp", "langchain_mcp_adapters", "websockets"):
        if find_spec(module) is None:
            text = f"tools.mcp needs {module}; install the extra: pip install 'edgeward[mcp]'"
            raise MissingExtra(text)
    entries = profile.tools.mcp
    environ = read_env() if environ is None else environ
    problems: list[Problem] = []
    addresses = []
    for place, server in enumerate(entries):
        try:
            addresses.append(Address.of(server, base_dir=profile.base_dir, environ=environ))
        except VariableMissing as error:
            fix = "set it, or take it out of the profile"
            problems.append(problem_of(profile, place, str(error), fix=fix))
    if problems:
        raise McpServerError(*problems)
    servers = Servers(addresses)
    with ExitStack() as opened:
        opened.callback(servers.close)
        found: list[dict[str, Definition]] = []
        for place, answer in enumerate(servers.start()):
            if isinstance(answer, str):
                problems.append(problem_of(profile, place, f"cannot be used: {answer}"))
            else:
                found.append(answer)
                problems += _unknown_names(profile, place, answer)
        if problems:
            raise McpServerError(*problems)
        opened.pop_all()
    return servers, found


def wanted(server: McpServer, names: Iterable[str]) -> frozenset[str]:
    """The tools that the profile takes from a server."""
    if server.include is not None:
        return frozenset(server.include)
    return frozenset(names) - frozenset(server.exclude or ())


def problem_of(
    profile: AgentProfile, place: int, wrong: str, *, fix: str = "", allowed: str = ""
) -> Problem:
    """A problem with the server at `place` of the profile's list."""
    label = profile.tools.mcp[place].label
    field = f"agent.tools.mcp[{place}]"
    return Problem(profile.source, field, f"the MCP server {label} {wrong}", allowed, fix)


def _unknown_names(
    profile: AgentProfile, place: int, listed: Mapping[str, Definition]
) -> list[Problem]:
    server = profile.tools.mcp[place]
    known = [one_line(name) for name in listed]
    problems = []
    for key in ("include", "exclude"):
        for name in getattr(server, key) or ():
            if name in listed:
                continue
            near = difflib.get_close_matches(name[:64], known[:200], n=1)
            fix = f"did you mean {near[0]}?" if near else ""
            wrong = f"has no tool {speak(name)}, which {key} names"
            allowed = ", ".join(known[:40])
            problems.append(problem_of(profile, place, wrong, allowed=allowed, fix=fix))
    return problems


def _offered(
    profile: AgentProfile, servers: Servers, states: list[list[ToolState]]
) -> list[tuple[BaseTool, str]]:
    """The tools that were accepted, or are the first ones of their server."""
    tools: list[tuple[BaseTool, str]] = []
    problems: list[Problem] = []
    for place, one in enumerate(states):
        label = profile.tools.mcp[place].label
        for state in one:
            if state.state not in ("accepted", "first") or state.now is None:
                continue
            try:
                offer = offer_of(state.now)
                tool = McpTool.of(state.now, offer, servers=servers, place=place, label=label)
                tool_schema(tool)  # what no provider takes is told here, with the server's name
            except ConfigError as error:
                problems.append(_unusable(profile, place, state, error.problems[0].wrong))
            except ValueError as error:
                problems.append(_unusable(profile, place, state, str(error)))
            else:
                tools.append((tool, f"tools.mcp: {label}"))
    if problems:
        raise McpServerError(*problems)
    return tools


def _timeouts(profile: AgentProfile, tools: Iterable[tuple[BaseTool, str]]) -> dict[str, float]:
    stated = {
        server.label: server.sse_read_timeout + OVERTIME_S
        for server in profile.tools.mcp
        if "sse_read_timeout" in server.model_fields_set
    }
    by_tool = ((tool.name, (tool.metadata or {})["server"]) for tool, _ in tools)
    return {name: stated[label] for name, label in by_tool if label in stated}


def _unusable(profile: AgentProfile, place: int, state: ToolState, why: str) -> Problem:
    wrong = f"offers a tool that cannot be used, {one_line(state.name)!r}: {why}"
    return problem_of(profile, place, wrong, fix="name it in exclude")


def _is_first(states: list[ToolState]) -> bool:
    return any(state.state == "first" for state in states)


def _tell_what_is_held(states: list[list[ToolState]]) -> None:
    held = [state for one in states for state in one if state.state in HELD]
    for state in held:
        _LOG.warning(
            "MCP server %s: the tool %r is %s and is held back; `edgeward tools` shows it",
            state.server,
            one_line(state.name),
            "new" if state.state == "new" else "not as it was accepted",
        )
