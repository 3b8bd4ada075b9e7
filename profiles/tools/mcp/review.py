"""What waits to be accepted of a profile's MCP servers, and accepting it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ...schema import AgentProfile
from .lock import LockDamaged, Pins, read_pins, write_pins
from .pins import HELD, ToolState, acceptable, compare
from .source import connected, lock_path, wanted


@dataclass(frozen=True, slots=True)
class McpReview:
    """The state of every tool of a profile's servers when they were asked.

    `damaged` says what is wrong with the lock file, if anything; then nothing counts as accepted.
    """

    states: tuple[ToolState, ...]
    damaged: str
    _path: Path = field(repr=False)
    _pins: Pins = field(repr=False)

    @property
    def held(self) -> tuple[ToolState, ...]:
        """The tools that are not offered until they are accepted."""
        return tuple(state for state in self.states if state.state in HELD)

    def accept(self) -> None:
        """Write down what the servers said when they were asked as what may be offered.

        Raises:
            McpServerError: the lock file cannot be written.
        """
        write_pins(self._path, self._pins)


def review_mcp(
    profile: str | Path | AgentProfile, *, environ: Mapping[str, str] | None = None
) -> McpReview:
    """Ask a profile's MCP servers for their tools, and hold them against what was accepted.

    The servers are started and ended again; nothing is written until `accept`.

    Raises:
        ConfigError: the profile is wrong, or a server cannot be used. MissingExtra: the extra
            `mcp` is not installed.
    """
    loaded = AgentProfile.of(profile)
    path, damaged = lock_path(loaded), ""
    known: Pins = {}
    if not loaded.tools.mcp:
        return McpReview((), "", path, {})
    try:
        known = read_pins(path)
    except LockDamaged as error:
        damaged = str(error)
    servers, listed = connected(loaded, environ=environ)
    servers.close()
    states: list[ToolState] = []
    pins: Pins = {}
    for server, tools in zip(loaded.tools.mcp, listed, strict=True):
        accepted = {} if damaged else known.get(server.label)
        one = compare(server.label, tools, accepted, wanted=wanted(server, tools))
        pins[server.label] = acceptable(one)
        states += one
    return McpReview(tuple(states), damaged, path, pins)
