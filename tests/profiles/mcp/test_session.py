"""Sessions with a server: shared, kept, ended, started again; and calls that come to nothing."""

from __future__ import annotations

import asyncio
import copy
import gc
import json
import os
import pickle
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from langchain_core.tools import BaseTool

from edgeward.profiles.tools.mcp import session, stdio
from edgeward.profiles.tools.mcp.source import mcp_tools
from tests.wire.ports import a_port

from .conftest import Opened
from .serving import Program, profile_of, served

LOST = "whether the call was carried out is not known"


def is_alive(pid: int) -> bool:
    """Whether there is such a process that has not ended, nor does in a moment."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return False
        if state == "Z":
            return False
        time.sleep(0.05)  # a signal takes its time
    return True


def pid_of(tools: dict[str, BaseTool]) -> int:
    """The process of the program behind the tool `get`."""
    return int(json.loads(tools["get"].invoke({}))["pid"])


def test_C41_one_session_lives_as_long_as_the_agent(program: Program, opened: Opened) -> None:
    """inc, inc, get: two, from one process; from threads and loops alike."""
    tools = opened(program.entry())
    first = pid_of(tools)
    tools["inc"].invoke({})
    with ThreadPoolExecutor(1) as other:
        other.submit(tools["inc"].invoke, {}).result()
    asyncio.run(tools["inc"].ainvoke({}))
    assert json.loads(tools["get"].invoke({})) == {"count": 3, "pid": first}


def test_C41_threads_are_kept_apart_where_the_profile_says_so(
    program: Program, opened: Opened
) -> None:
    """A second thread begins at nought, in a process of its own; the first keeps its state."""
    tools = opened(program.entry(session="thread"))

    def call(name: str, thread: str) -> Any:
        config = {"configurable": {"thread_id": thread}} if thread else {}
        return json.loads(tools[name].invoke({}, config))

    assert [call("inc", "a"), call("inc", "a"), call("inc", "b")] == [1, 2, 1]
    assert (call("get", "a")["count"], call("get", "b")["count"]) == (2, 1)
    assert call("get", "a")["pid"] != call("get", "b")["pid"]
    assert (call("inc", ""), call("inc", "")) == (1, 1)  # no thread: each call is on its own


def test_sessions_of_threads_are_bounded(
    program: Program, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one that was idle longest is ended; its thread begins anew."""
    from edgeward.profiles.tools.mcp import servers

    monkeypatch.setattr(servers, "MAX_THREADS", 2)
    tools = opened(program.entry(session="thread"))

    def count(thread: str) -> str:
        config = {"configurable": {"thread_id": thread}}
        return str(tools["inc"].invoke({}, config))

    assert [count(thread) for thread in "aabac"] == ["1", "2", "1", "3", "1"]
    assert [count("a"), count("b")] == ["4", "1"]


def test_a_tool_can_be_copied_and_not_pickled(program: Program, opened: Opened) -> None:
    """A copy has the same session; a pickle would have none, and says so."""
    tools = opened(program.entry())
    twin = copy.deepcopy(tools["inc"])
    assert (tools["inc"].invoke({}), twin.invoke({})) == ("1", "2")
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(tools["inc"])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_process_that_was_forked_off_hangs_on_nothing(program: Program, opened: Opened) -> None:
    """Its calls say that the connection is another's; the parent's goes on."""
    tools = opened(program.entry())
    pid = os.fork()
    if pid == 0:
        said = tools["inc"].invoke({})
        os._exit(0 if "connected in another process" in said else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert tools["inc"].invoke({}) == "1"


def test_two_agents_share_nothing(program: Program, opened: Opened) -> None:
    """Each has its own process; closing one leaves the other."""
    found = mcp_tools(profile_of(program_folder(program), program.entry()))
    mine = {tool.name: tool for tool, _ in found.tools}
    theirs = opened(program.entry())
    mine["inc"].invoke({})
    assert theirs["inc"].invoke({}) == "1"
    found.close()
    assert theirs["inc"].invoke({}) == "2"


def program_folder(program: Program) -> Path:
    """The folder of the test."""
    return Path(program.entry()["args"][1]).parent


@pytest.mark.parametrize(("how", "cause"), [("die", "exit code 3"), ("kill", "SIGKILL")])
def test_C32_a_server_that_dies_is_told_at_once_and_started_again(
    program: Program, opened: Opened, how: str, cause: str
) -> None:
    """The call is not repeated; the next one has a new process; both are tool results."""
    program.scripts("inc", "get", how)
    tools = opened(program.entry())
    first = pid_of(tools)
    message = tools[how].invoke({"type": "tool_call", "id": "c", "name": how, "args": {}})
    assert message.status == "error"
    assert message.content.startswith("MCP server prog: it ")
    assert cause in message.content
    assert message.content.endswith(LOST)
    assert pid_of(tools) != first
    assert tools["inc"].invoke({}) == "1"


def test_C32_the_other_calls_and_servers_go_on(
    tmp_path: Path, program: Program, opened: Opened
) -> None:
    """What waits at the dead server fails with it; another server notices nothing."""
    program.scripts("hang", "hanging", "die")
    other = Program(tmp_path, "other")
    tools = opened(program.entry(), other.entry())
    tools["inc"].invoke({})

    async def both() -> list[Any]:
        waiting = asyncio.ensure_future(tools["hang"].ainvoke({}))
        while int(await tools["hanging"].ainvoke({})) < 1:
            await asyncio.sleep(0.05)
        return await asyncio.gather(waiting, tools["die"].ainvoke({}), tools["inc"].ainvoke({}))

    hung, died, counted = asyncio.run(both())
    assert "exit code 3" in hung
    assert "exit code 3" in died
    assert counted == "2"


def test_C32_starts_are_bounded_and_paused(
    program: Program, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that dies on every call is started a few times, then left alone for long."""
    program.scripts("inc", "die")
    tools = opened(program.entry())
    assert LOST in tools["die"].invoke({})
    said = tools["die"].invoke({})
    assert LOST in said  # the first new start comes at once
    while LOST in said:  # a busy machine may have slept through a pause; the next one is longer
        said = tools["die"].invoke({})
    assert "it is tried again in" in said
    monkeypatch.setattr(session, "PAUSES_S", (0.0, 0.0))
    program.scripts("inc", "die", exits=5)
    while "it is tried again in" in (said := tools["die"].invoke({})):
        time.sleep(0.1)
    assert "exit code 5" in said
    said = tools["inc"].invoke({})
    assert said.startswith("MCP server prog: it ended with exit code 5; it is tried again in ")
    assert 200 < float(said.split(" in ")[1].split()[0]) <= 300


@pytest.mark.parametrize("transport", ["sse", "streamable_http", "websocket"])
def test_C32_a_server_over_the_network_that_goes_and_comes_back(
    tmp_path: Path, opened: Opened, transport: str
) -> None:
    """Gone between two calls: an error at once; back on its port: a new session."""
    with a_port() as port:
        with served(transport, port=port) as entry:
            tools = opened(entry)
            assert tools["inc"].invoke({}) == "1"
        said = tools["inc"].invoke({})
        assert said.startswith("MCP server demo: ")
        assert "does not answer within" not in said  # it was told, and waited for nothing
        with served(transport, port=port):
            while "tried again" in (said := tools["inc"].invoke({})):
                time.sleep(0.1)
            assert said == "1"


def test_a_server_that_never_answers_costs_its_time_and_is_told(
    program: Program, opened: Opened
) -> None:
    """The call is given up, the server hears of it, and the session lives on."""
    program.scripts("inc", "hang", "cancelled")
    tools = opened(program.entry(sse_read_timeout=3))  # for what is answered, too
    tools["inc"].invoke({})
    assert "it does not answer within 3 s" in tools["hang"].invoke({})
    assert len(json.loads(tools["cancelled"].invoke({}))) == 1
    assert tools["inc"].invoke({}) == "2"


def test_a_caller_that_is_cancelled_cancels_the_request(program: Program, opened: Opened) -> None:
    """The right one of several that are under way."""
    program.scripts("hang", "hanging", "cancelled")
    tools = opened(program.entry())

    async def main() -> list[int]:
        calls = [asyncio.ensure_future(tools["hang"].ainvoke({})) for _ in range(3)]
        while int(await tools["hanging"].ainvoke({})) < 3:
            await asyncio.sleep(0.05)
        calls[1].cancel()
        with pytest.raises(asyncio.CancelledError):
            await calls[1]
        while len(seen := json.loads(await tools["cancelled"].ainvoke({}))) < 1:
            await asyncio.sleep(0.05)
        calls[0].cancel()
        calls[2].cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        while len(seen := json.loads(await tools["cancelled"].ainvoke({}))) < 3:
            await asyncio.sleep(0.05)
        return list(seen)

    middle, *others = asyncio.run(main())
    assert min(others) < middle < max(others)


def test_calls_run_side_by_side(program: Program, opened: Opened) -> None:
    """A hanging call keeps no other waiting."""
    program.scripts("hang", "inc")
    tools = opened(program.entry())

    async def main() -> list[str]:
        hanging = asyncio.ensure_future(tools["hang"].ainvoke({}))
        counted = await asyncio.gather(*(tools["inc"].ainvoke({}) for _ in range(8)))
        hanging.cancel()
        return sorted(counted)

    assert asyncio.run(main()) == [str(n) for n in range(1, 9)]


def test_closing_ends_the_program_its_children_and_the_thread(
    tmp_path: Path, program: Program
) -> None:
    """Once, from another thread; what is called after that says so."""
    program.scripts("get", "child")
    found = mcp_tools(profile_of(tmp_path, program.entry()))
    tools = {tool.name: tool for tool, _ in found.tools}
    pid, child = pid_of(tools), json.loads(tools["child"].invoke({}))["pid"]
    with ThreadPoolExecutor(2) as threads:
        for done in [threads.submit(found.close) for _ in range(2)]:
            done.result()
    found.close()
    assert not is_alive(pid)
    assert not is_alive(child)
    assert "edgeward mcp" not in [thread.name for thread in threading.enumerate()]
    assert tools["get"].invoke({}) == "MCP server prog: the agent was closed"


def test_a_program_that_does_not_want_to_end_is_ended(
    tmp_path: Path, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ignores the end of its input, and SIGTERM."""
    monkeypatch.setattr(stdio, "GRACE_S", 0.3)
    program.scripts("get", stays=True)
    found = mcp_tools(profile_of(tmp_path, program.entry()))
    pid = pid_of({tool.name: tool for tool, _ in found.tools})
    found.close()
    assert not is_alive(pid)


def test_a_call_that_waits_while_the_agent_is_closed_comes_back(
    tmp_path: Path, program: Program
) -> None:
    """With an error, not never."""
    program.scripts("hang", "inc")
    found = mcp_tools(profile_of(tmp_path, program.entry()))
    tools = {tool.name: tool for tool, _ in found.tools}
    with ThreadPoolExecutor(1) as threads:
        hanging = threads.submit(tools["hang"].invoke, {})
        tools["inc"].invoke({})
        found.close()
        assert hanging.result(30).startswith("MCP server prog: the ")


def test_a_child_that_holds_the_output_hides_no_death(program: Program, opened: Opened) -> None:
    """The program ends, its child keeps the pipe: the call fails all the same."""
    program.scripts("child", "die")
    tools = opened(program.entry())
    child = json.loads(tools["child"].invoke({}))["pid"]
    assert "exit code 3" in tools["die"].invoke({})
    assert not is_alive(child)


EXIT = """
import sys
from edgeward import AgentProfile, ScriptedModel, build_graph
profile = AgentProfile.from_mapping(
    {{"id": "a", "name": "A", "tools": {{"mcp": [{entry!r}]}}}}, base_dir={folder!r}
)
graph = build_graph("react", profile=profile, model=ScriptedModel(), policy="allow_all")
print(graph.name, flush=True)
{how}
"""


@pytest.mark.parametrize("how", ["", "raise KeyError('x')"])
def test_nothing_is_left_running_when_the_program_ends(
    tmp_path: Path, program: Program, how: str
) -> None:
    """However it ends, without `close`; and it ends by itself."""
    program.scripts("get", complains="hello")
    pids = tmp_path / "pids"
    wrapper = tmp_path / "wrapper.py"
    wrapper.write_text(
        f"import os, runpy, sys\nopen({str(pids)!r}, 'a').write(f'{{os.getpid()}} ')\n"
        f"sys.argv = sys.argv[1:]\nrunpy.run_path(sys.argv[0], run_name='__main__')\n",
        encoding="utf-8",
    )
    entry = program.entry()
    entry["args"] = [str(wrapper), *entry["args"]]
    code = EXIT.format(entry=entry, folder=str(tmp_path), how=how)
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        check=False,
    )
    assert done.stdout.strip() == "react", done.stderr
    (pid,) = map(int, pids.read_text().split())
    assert not is_alive(pid)
    assert "hello" not in done.stderr


def test_what_is_forgotten_is_closed(tmp_path: Path, program: Program) -> None:
    """A graph that nobody refers to any more ends its servers."""
    from edgeward import ScriptedModel, build_graph

    program.scripts("get")
    graph = build_graph(
        "react", profile=profile_of(tmp_path, program.entry()), model=ScriptedModel()
    )
    assert "edgeward mcp" in [thread.name for thread in threading.enumerate()]
    del graph
    gc.collect()
    until = time.monotonic() + 30
    while time.monotonic() < until:
        if "edgeward mcp" not in [thread.name for thread in threading.enumerate()]:
            break
        time.sleep(0.05)
    assert "edgeward mcp" not in [thread.name for thread in threading.enumerate()]
