"""One MCP server in the profile: what may stand there, and what it is called."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from edgeward.policies.problems import ConfigError

from .serving import profile_of

HTTP = {"transport": "streamable_http", "url": "https://mcp.example.com/x"}
WS = {"transport": "websocket", "url": "wss://mcp.example.com/x"}


def refused(folder: Path, *entries: dict[str, Any]) -> str:
    """The error that these entries are."""
    with pytest.raises(ConfigError) as caught:
        profile_of(folder, *entries)
    return str(caught.value)


@pytest.mark.parametrize("entry", [{}, {"args": ["x"]}, {"command": "x", "url": HTTP["url"]}])
def test_D106_exactly_one_of_command_and_url(tmp_path: Path, entry: dict[str, Any]) -> None:
    """Neither and both are refused at load."""
    assert "agent.tools.mcp[0]: set exactly one of command" in refused(tmp_path, entry)


def test_D107_include_and_exclude_together_are_refused(tmp_path: Path) -> None:
    """Also where both are empty lists."""
    entry = {"command": "x", "include": [], "exclude": []}
    assert "set include or exclude, not both" in refused(tmp_path, entry)


@pytest.mark.parametrize(
    ("entry", "wrong"),
    [
        ({"command": "x", "headers": {"A": "b"}}, "headers has no meaning for transport stdio"),
        ({**HTTP, "env": {"A": "b"}}, "env has no meaning for transport streamable_http"),
        ({**HTTP, "args": ["x"]}, "args has no meaning"),
        ({**HTTP, "url": "ftp://x.example"}, "url is no http or https address"),
        ({**HTTP, "url": "https://"}, "url is no http or https address"),
        ({**HTTP, "url": "https://x.example:0/"}, "url is no http or https address"),
        ({**HTTP, "url": "https://[x/"}, "url is no http or https address"),
        ({**WS, "url": "https://x.example/"}, "url is no ws or wss address"),
        ({**HTTP, "headers": {"a b": "c"}}, "is none that HTTP can carry"),
        ({**HTTP, "headers": {"a": "SECRET\r\nb: c"}}, "is none that HTTP can carry"),
        ({"command": "x", "env": {"a=b": "SECRET"}}, "is no name of a variable"),
        ({"command": "x", "env": {"a": "SECRET\0"}}, "or its value no text"),
        ({"command": "x", "name": "a\nb"}, "agent.tools.mcp[0].name"),
        ({"command": "x", "session": "call"}, "agent.tools.mcp[0].session"),
    ],
)
def test_what_would_have_no_effect_or_a_wrong_one_is_refused(
    tmp_path: Path, entry: dict[str, Any], wrong: str
) -> None:
    """At load, without the values."""
    said = refused(tmp_path, entry)
    assert wrong in said
    assert "SECRET" not in said


@pytest.mark.parametrize(
    "entry",
    [
        {**HTTP, "headers": {"Authorization": "Bearer ${MCP_API_TOKEN}"}},
        {"command": "x", "env": {"TOKEN": "${MCP_API_TOKEN}"}},
        {**HTTP, "expand_env": True, "headers": {"Authorization": "Bearer ${MCP API}"}},
    ],
)
def test_C80_a_variable_that_would_be_sent_as_text_is_refused(
    tmp_path: Path, entry: dict[str, Any]
) -> None:
    """At load, with what to do."""
    said = refused(tmp_path, entry)
    assert "${...} that" in said
    assert "set expand_env: true" in said or "names no variable" in said


@pytest.mark.parametrize(
    ("entry", "label"),
    [
        ({"command": "uvx", "args": ["mcp-server-time"]}, "uvx mcp-server-time"),
        ({"command": "npx", "args": ["-y", "@scope/server", "x"]}, "npx @scope/server"),
        ({"command": "/usr/bin/python3", "args": ["./tools/files.py"]}, "python3 files.py"),
        ({"command": "run-server"}, "run-server"),
        ({"command": "x", "args": ["--key", "sk-proj-" + "a1B2c3D4" * 6]}, None),
        (
            {**HTTP, "url": "https://user:pw@mcp.example.com:8080/s/KEY?k=KEY"},
            "mcp.example.com:8080",
        ),
        ({**HTTP, "name": "Search"}, "Search"),
    ],
)
def test_a_server_is_called_by_its_name_or_what_it_is(
    tmp_path: Path, entry: dict[str, Any], label: str | None
) -> None:
    """Without what may be a key."""
    (server,) = profile_of(tmp_path, entry).tools.mcp
    if label is not None:
        assert server.label == label
    assert not any(part in server.label for part in ("KEY", "pw", "a1B2c3D4"))


def test_two_servers_of_one_name_are_refused(tmp_path: Path) -> None:
    """What was accepted of one would count for the other."""
    said = refused(tmp_path, HTTP, {**HTTP, "url": "https://mcp.example.com/y"})
    assert "2 servers are called 'mcp.example.com'; give each a name" in said


def test_nothing_of_a_server_that_may_be_secret_is_shown(tmp_path: Path) -> None:
    """Neither its URL, nor headers, nor arguments, nor environment are in the repr."""
    first = {**HTTP, "url": "https://x.example/SECRET", "headers": {"A": "SECRET"}}
    second = {"command": "x", "args": ["SECRET"], "env": {"A": "SECRET"}}
    assert "SECRET" not in repr(profile_of(tmp_path, first, second))
