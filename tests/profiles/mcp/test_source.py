"""A profile's MCP servers: connected when the agent is built, or one clear error."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from langchain_core.tools import StructuredTool

from edgeward.extras import MissingExtra
from edgeward.profiles.tools.mcp import source
from edgeward.profiles.tools.mcp.failures import McpServerError
from edgeward.profiles.tools.mcp.source import mcp_tools
from edgeward.profiles.tools.registry import ToolRegistry

from .conftest import Opened
from .serving import Program, profile_of, served, tool


def portals() -> list[str]:
    """The threads in which sessions live."""
    return [thread.name for thread in threading.enumerate() if thread.name == "edgeward mcp"]


@pytest.mark.parametrize("transport", ["sse", "streamable_http", "websocket"])
def test_D105_each_transport_over_the_network_connects(transport: str, opened: Opened) -> None:
    """Tools are listed, called, and their errors told, through one session."""
    with served(transport) as entry:
        tools = opened(entry)
        assert {"add", "inc", "fail"} <= set(tools)
        assert tools["add"].invoke({"a": 2, "b": 3}) == "5"
        assert [tools["inc"].invoke({}) for _ in range(3)] == ["1", "2", "3"]
        assert tools["fail"].invoke({"what": "luck"}).endswith("no luck")


def test_D105_the_sdk_s_own_server_as_a_program(tmp_path: Path, opened: Opened) -> None:
    """stdio, with a server that is made with the SDK, named as a path in the profile's folder."""
    (tmp_path / "server.py").write_text(
        "from mcp.server.fastmcp import FastMCP\n"
        "server = FastMCP('adder')\n"
        "@server.tool()\n"
        "def add(a: int, b: int = 1) -> int:\n"
        "    '''Add two numbers.'''\n"
        "    return a + b\n"
        "server.run()\n",
        encoding="utf-8",
    )
    import sys

    tools = opened({"command": sys.executable, "args": ["server.py"], "timeout": 120})
    assert tools["add"].invoke({"a": 2}) == "3"
    assert tools["add"].description == "Add two numbers."


def test_D096_D112_a_tool_keeps_its_name_and_its_server_is_in_the_metadata(
    tmp_path: Path, program: Program
) -> None:
    """No prefix; the server's name stands in the registry's metadata and source."""
    found = mcp_tools(profile_of(tmp_path, program.entry()))
    try:
        registry = ToolRegistry(found.tools)
        assert list(registry) == ["inc", "get"]
        assert registry.metadata("inc") == {"server": "prog", "tool": "inc"}
        assert registry.source("inc") == "tools.mcp: prog"
    finally:
        found.close()


@pytest.mark.parametrize(
    ("rule", "left"),
    [({"include": ["get"]}, ["get"]), ({"exclude": ["get"]}, ["inc"]), ({"include": []}, [])],
)
def test_D107_include_and_exclude_choose(
    program: Program, opened: Opened, rule: dict[str, Any], left: list[str]
) -> None:
    """Each leaves what it says."""
    assert list(opened(program.entry(**rule))) == left


@pytest.mark.parametrize("key", ["include", "exclude"])
def test_a_name_that_the_server_does_not_have_is_corrected(
    program: Program, opened: Opened, key: str
) -> None:
    """A misspelt name in include or exclude is an error, and the nearest is named."""
    program.scripts("read_file", "write_file")
    with pytest.raises(
        McpServerError, match=rf"read_fiel, which {key} names; allowed: read_file, "
    ):
        opened(program.entry(**{key: ["read_fiel"]}))
    with pytest.raises(McpServerError, match=r"did you mean read_file\?"):
        opened(program.entry(**{key: ["read_fiel"]}))


def test_C19_D108_the_environment_is_small_and_a_blank_value_is_filled(
    program: Program, opened: Opened
) -> None:
    """The child sees PATH and what the profile names, and no other key of this process."""
    program.scripts("env")
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": "/home/x",
        "LC_ALL": "C.UTF-8",
        "TMPDIR": "/var/tmp",
        "OPENAI_API_KEY": "sk-not-yours",
        "GITHUB_TOKEN": "given",
        "BASH_FUNC": "() { echo; }",
    }
    entry = program.entry(env={"GITHUB_TOKEN": "", "DEBUG": "1"})
    seen = json.loads(opened(entry, environ=environ)["env"].invoke({}))
    assert (seen["GITHUB_TOKEN"], seen["DEBUG"], seen["PATH"]) == ("given", "1", environ["PATH"])
    assert (seen["HOME"], seen["LC_ALL"], seen["TMPDIR"]) == ("/home/x", "C.UTF-8", "/var/tmp")
    assert "OPENAI_API_KEY" not in seen


@pytest.mark.parametrize("value", [None, "", "  "])
def test_C19_a_named_variable_that_is_missing_is_an_error(
    program: Program, opened: Opened, value: str | None
) -> None:
    """It is named, with the server; nothing is started."""
    environ = {"PATH": os.environ["PATH"]} | ({} if value is None else {"GITHUB_TOKEN": value})
    entry = program.entry(env={"GITHUB_TOKEN": ""})
    with pytest.raises(
        McpServerError, match="MCP server prog wants the variable GITHUB_TOKEN, which is not set"
    ):
        opened(entry, environ=environ)
    assert portals() == []


def test_a_key_of_the_env_file_fills_a_blank_value(
    tmp_path: Path, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`.env` of the current folder counts as environment, as it does for the model's key."""
    from edgeward.profiles.equipment import equip

    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EDGEWARD_TEST_TOKEN", raising=False)
    (tmp_path / ".env").write_text("EDGEWARD_TEST_TOKEN=from-the-file\n", encoding="utf-8")
    program.scripts("env")
    entry = program.entry(env={"EDGEWARD_TEST_TOKEN": ""})
    found = equip(profile_of(tmp_path, entry))
    try:
        seen = json.loads(found.tools[0][0].invoke({}))
        assert seen["EDGEWARD_TEST_TOKEN"] == "from-the-file"
    finally:
        found.close()


def test_D110_args_and_folder_are_passed_on(
    tmp_path: Path, program: Program, opened: Opened
) -> None:
    """`cwd` is relative to the profile's folder, which is the default."""
    program.scripts("place")
    (tmp_path / "below").mkdir()
    entry = program.entry(args=["a b", "--c"], cwd="below")
    there = json.loads(opened(entry)["place"].invoke({}))
    assert there == {"cwd": str(tmp_path / "below"), "args": ["a b", "--c"]}
    program.name = "again"
    assert json.loads(opened(program.entry())["place"].invoke({}))["cwd"] == str(tmp_path)


def test_D109_C80_headers_arrive_as_they_are_or_filled(opened: Opened) -> None:
    """Nothing in them is changed but `${NAME}`, and that only where `expand_env` says so."""
    with served("streamable_http") as entry:
        plain = {"X-Plain": "$HOME %7B {x} $${"}
        filled = {"Authorization": "Bearer ${MCP_API_TOKEN}"}
        first = opened({**entry, "headers": plain})
        assert json.loads(first["headers"].invoke({}))["x-plain"] == "$HOME %7B {x} $${"
        second = opened(
            {**entry, "headers": filled, "expand_env": True}, environ={"MCP_API_TOKEN": "t0ken"}
        )
        assert json.loads(second["headers"].invoke({}))["authorization"] == "Bearer t0ken"


def test_D109_headers_reach_a_websocket_too(opened: Opened) -> None:
    """With the request that opens it; what is filled in is among the agent's secrets."""
    from .serving import Served, app_of, demo_server

    seen: list[dict[str, str]] = []
    inner = app_of(demo_server(), "websocket")

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "websocket":
            seen.append({k.decode(): v.decode() for k, v in scope["headers"]})
        await inner(scope, receive, send)

    running = Served(app)
    try:
        url = f"ws://127.0.0.1:{running.port}/ws"
        headers = {"Authorization": "Bearer ${T}"}
        entry = {"transport": "websocket", "url": url, "headers": headers, "expand_env": True}
        assert opened(entry, environ={"T": "t0ken"})["inc"].invoke({}) == "1"
    finally:
        running.stop()
    assert seen[0]["authorization"] == "Bearer t0ken"


@pytest.mark.parametrize("environ", [{}, {"MCP_API_TOKEN": ""}])
def test_C80_a_variable_of_a_header_that_is_not_set_is_named(
    opened: Opened, environ: dict[str, str]
) -> None:
    """Unset and empty are the same error, before anything is sent."""
    entry = {
        "transport": "sse",
        "url": "http://127.0.0.1:9/sse",
        "headers": {"Authorization": "Bearer ${MCP_API_TOKEN}"},
        "expand_env": True,
    }
    with pytest.raises(McpServerError, match="wants the variable MCP_API_TOKEN, which is not set"):
        opened(entry, environ=environ)


@pytest.mark.parametrize(
    ("entry", "cause"),
    [
        ({"command": "edgeward-no-such-program"}, "there is no such program or folder"),
        ({"transport": "sse", "url": "http://127.0.0.1:9/s?key=SECRET"}, "it cannot be reached"),
        (
            {"transport": "streamable_http", "url": "http://u:SECRET@127.0.0.1:9/SECRET"},
            "it cannot be reached",
        ),
        ({"transport": "websocket", "url": "ws://127.0.0.1:9/SECRET"}, "it cannot be reached"),
    ],
)
def test_a_server_that_cannot_be_reached_is_one_clear_error(
    opened: Opened, entry: dict[str, Any], cause: str
) -> None:
    """It names the server and the cause, and nothing that the URL may hold."""
    with pytest.raises(McpServerError) as caught:
        opened({"name": "far", **entry})
    (problem,) = caught.value.problems
    assert f"agent.tools.mcp[0]: the MCP server far cannot be used: {cause}" in str(problem)
    assert "SECRET" not in str(problem)
    assert portals() == []


def test_all_servers_that_fail_are_told_and_the_others_are_ended(
    tmp_path: Path, program: Program, opened: Opened
) -> None:
    """Two of three fail: two problems, and the third is left running nowhere."""
    program.scripts("env", complains="started")
    silent = Program(tmp_path, "silent").scripts(silent=True)
    ends = Program(tmp_path, "ends").scripts(exits=7)
    entries = [program.entry(), silent.entry(timeout=0.5), ends.entry()]
    with pytest.raises(McpServerError) as caught:
        opened(*entries)
    told = [str(problem) for problem in caught.value.problems]
    assert "silent cannot be used: it does not answer within 0.5 s" in told[0]
    assert "ends cannot be used: it ended with exit code 7" in told[1]
    assert portals() == []
    assert not (tmp_path / "mcp.lock").exists()


def test_a_set_up_that_failed_is_not_skipped_the_second_time(
    program: Program, opened: Opened
) -> None:
    """The same error again; and tools as soon as the server is there."""
    program.scripts("inc", exits=1)
    for _ in range(2):
        with pytest.raises(McpServerError, match="prog cannot be used"):
            opened(program.entry())
    program.scripts("inc")
    assert opened(program.entry())["inc"].invoke({}) == "1"


def test_a_program_that_prints_to_its_output_is_understood(
    program: Program, opened: Opened, caplog: pytest.LogCaptureFixture, capfd: Any
) -> None:
    """Lines that are no message are passed over; nothing of them, nor of stderr, is shown."""
    program.scripts("inc", prints=["Starting ...", "{}", "\x1b[2J"], complains="\x1b[31mready")
    assert opened(program.entry())["inc"].invoke({}) == "1"
    assert caplog.text == ""
    assert capfd.readouterr() == ("", "")


def test_a_program_that_begins_with_a_byte_order_mark_is_understood(
    program: Program, opened: Opened
) -> None:
    """What some shells of Windows put before the first line is none of the message."""
    program.scripts("inc", begins="\ufeff")
    assert opened(program.entry())["inc"].invoke({}) == "1"


KEY = "sk-proj-" + "Ab1" * 10
FUTURE = {
    "protocolVersion": "2999-01-01",
    "capabilities": {},
    "serverInfo": {"name": "p", "version": "1"},
}
WRONG = [
    ({"hello": {"result": FUTURE}}, "it speaks another version of the protocol: .*2999-01-01"),
    ({"hello": {"error": {"code": 1, "message": f"bad key {KEY}"}}}, "it says: bad key .REDACTED"),
    ({"hello": {"error": {"code": 1, "message": "bad key 1234"}}}, r"it says: bad key \*\*\*"),
    ({"hello": {"error": {"code": 1, "message": "bad " * 70 + KEY}}}, r"bad \[REDA\S*$"),
    ({"tools": [{"name": "inc"}]}, r"the protocol does not have: tools\.0\.inputSchema"),
]


@pytest.mark.parametrize(("script", "cause"), WRONG)
def test_a_server_that_cannot_be_used_says_why(
    program: Program, opened: Opened, script: dict[str, Any], cause: str
) -> None:
    """Its version, its own words without keys, or where its answer is not the protocol's."""
    program.scripts(*script.get("tools", []), **{k: v for k, v in script.items() if k != "tools"})
    with pytest.raises(McpServerError, match=cause):
        opened(program.entry(env={"API_KEY": "1234"}))


def test_X17_D094_a_second_server_s_tool_of_a_taken_name_is_refused(
    tmp_path: Path, program: Program
) -> None:
    """Both sources are named, and nothing is skipped."""
    other = Program(tmp_path, "other").scripts("get")
    found = mcp_tools(profile_of(tmp_path, program.entry(), other.entry()))
    try:
        with pytest.raises(ValueError, match=r"tools\.mcp: prog and tools\.mcp: other"):
            ToolRegistry(found.tools)
    finally:
        found.close()


def test_two_tools_of_one_name_in_one_server_are_refused(program: Program, opened: Opened) -> None:
    """A list that says one name twice could show one tool and run another."""
    program.scripts("inc", "inc")
    with pytest.raises(McpServerError, match="it lists two tools called 'inc'"):
        opened(program.entry())


@pytest.mark.parametrize("twin", ["send_emai1", "send_emaiI", "sendEmail", "send-email"])
def test_a_name_that_looks_like_another_source_s_is_refused(
    tmp_path: Path, program: Program, twin: str
) -> None:
    """A person who reads the list, or a model, would take one for the other: a server's, or a
    function of the program's own. Within one source, or without a server, names may be so near."""
    program.scripts("send_email", "send_emai2", "send_ernail")
    other = Program(tmp_path, "other").scripts(twin)
    found = mcp_tools(profile_of(tmp_path, program.entry(), other.entry()))
    try:
        (mine, _), *_, (theirs, source_of_theirs) = found.tools
        with pytest.raises(ValueError, match=r"looks like send_email from tools\.mcp: prog"):
            ToolRegistry(found.tools)
        own = StructuredTool.from_function(lambda: "", name="sendEmail_", description="Own.")
        for tools in ([(theirs, source_of_theirs), own], [own, (theirs, source_of_theirs)]):
            with pytest.raises(ValueError, match="looks like"):
                ToolRegistry(tools)
        assert len(ToolRegistry([(mine, "tools.mcp: a"), (theirs, "tools.mcp: a")])) == 2
        other_own = StructuredTool.from_function(lambda: "", name="send_email", description="Own.")
        assert len(ToolRegistry([own, (other_own, "elsewhere")])) == 2
    finally:
        found.close()


@pytest.mark.parametrize(
    ("name", "offered"), [("files.read", "files_read"), ("repo/issue.get", "repo_issue_get")]
)
def test_dots_and_slashes_in_a_name_become_underscores(
    program: Program, opened: Opened, name: str, offered: str
) -> None:
    """Providers take neither; the server is asked by its own name."""
    program.scripts(name, results={name: {"content": [{"type": "text", "text": "ran"}]}})
    tools = opened(program.entry())
    assert list(tools) == [offered]
    assert tools[offered].metadata == {"server": "prog", "tool": name}
    assert tools[offered].invoke({}) == "ran"


@pytest.mark.parametrize(
    "bad",
    [
        tool("has space"),
        tool("x" * 65),
        tool("ge\u200bt"),
        tool("g\u0435t"),
        tool("get", "x" * 10_001),
        tool("get", schema={"type": "object", "properties": {"a": {"$ref": "https://x.example/"}}}),
        tool("get", schema={"type": "string"}),
        tool("get", schema={"anyOf": [{"type": "object"}]}),
    ],
)
def test_a_tool_that_no_provider_takes_is_an_error_that_names_it(
    program: Program, opened: Opened, bad: dict[str, Any]
) -> None:
    """With the server's name and the way out; with that, the rest works."""
    program.scripts("inc", bad)
    with pytest.raises(McpServerError, match="MCP server prog offers a tool that cannot be used"):
        opened(program.entry())
    assert list(opened(program.entry(exclude=[bad["name"]]))) == ["inc"]


def test_the_extra_is_named_where_it_is_missing(
    program: Program, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A profile with servers says what to install; one without needs nothing."""
    monkeypatch.setattr(source, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"pip install 'edgeward\[mcp\]'"):
        opened(program.entry())


def test_a_last_line_that_is_cut_short_at_its_beginning_tells_no_half_of_a_key(
    program: Program, opened: Opened
) -> None:
    """A key that the cut goes through has no form any more by which it would be masked."""
    key = "sk-proj-" + "A1b2C3d4" * 4
    line = f"no access with {key}" + " at all" * 567  # 3,969 characters follow the key
    program.scripts("inc", complains=line, exits=3)
    with pytest.raises(McpServerError) as caught:
        opened(program.entry())
    assert "it ended with exit code 3 (at all at all" in str(caught.value)
    assert "A1b2C3d4" not in str(caught.value)
