"""Scripts of skills: which become tools, how they are run, and what becomes of them at the end."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from blockbuster import blockbuster_ctx
from langchain_core.tools import BaseTool

from edgeward import AgentConfig, ReActAgent, ScriptedModel
from edgeward.graphs.build import registry_for
from edgeward.policies.problems import ConfigError
from edgeward.profiles.equipment import equip
from edgeward.profiles.scripted import call
from edgeward.profiles.tools import processes
from edgeward.profiles.tools.skill_scripts import script_tools
from edgeward.profiles.tools.skills import SkillLoadError, load_skill
from tests.fakes import agent_graph, answers, ask, turn

from .skill_bundles import bundle, profile_with

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no process groups")

TELL = """
import json, os, sys
print(json.dumps({"args": sys.argv[1:], "stdin": sys.stdin.read(), "cwd": os.getcwd(),
                  "env": dict(os.environ)}))
"""
LONG = """
import time
print("begun", flush=True)
open("begun", "w").close()
time.sleep(600)
"""


def scripts(base: Path, *, limit_s: float = 60, **files: str) -> dict[str, BaseTool]:
    """The tools of a skill with these scripts (`a_py` is `scripts/a.py`)."""
    named = {f"scripts__{name.replace('_', '.')}": text for name, text in files.items()}
    bundle(base, **named)
    skill = load_skill("skills/tabular-report", base)
    return {tool.name: tool for tool, _ in script_tools(skill, limit_s=limit_s)}


async def told(tool: BaseTool, **arguments: Any) -> str:
    """What a script's tool answers."""
    return str(await tool.ainvoke(arguments))


def alive(pid: int) -> bool:
    """Whether a process runs (one that only waits to be counted does not)."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        if Path("/proc/self").exists():
            return False
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        return True
    return state != "Z"


async def gone(pid: int) -> bool:
    """Whether a process is gone within a while."""
    until = time.monotonic() + 20
    while alive(pid) and time.monotonic() < until:
        await asyncio.sleep(0.02)
    return not alive(pid)


@pytest.fixture
def over_with(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """Lets the time of scripts stand still until a file is there; then any limit is over. So a
    script gets as far as it should, however busy the machine is."""

    def set_to(file: Path) -> None:
        def monotonic() -> float:
            return time.monotonic() + 1e6 if file.exists() else 0.0

        monkeypatch.setattr(processes, "time", SimpleNamespace(monotonic=monotonic))

    return set_to


def test_D101_scripts_are_tools_only_where_the_profile_says_so(tmp_path: Path) -> None:
    """Off by default: one tool. On: one more for each script."""
    bundle(tmp_path)
    skills = ["skills/tabular-report"]
    names = [tool.name for tool, _ in equip(profile_with(tmp_path, skills=skills)).tools]
    assert names == ["tabular-report"]
    on = equip(profile_with(tmp_path, skills=skills, allow_skill_execution=True))
    registry = registry_for(on, ())
    assert list(registry) == ["tabular-report", "tabular-report__generate"]
    assert registry.metadata("tabular-report__generate")["script"] == "scripts/generate.py"
    source = "tools.skills: skills/tabular-report/scripts/generate.py"
    assert registry.source("tabular-report__generate") == source
    schema = registry.schemas()[1]["function"]["parameters"]
    assert list(schema["properties"]) == ["args", "stdin", "timeout"]
    assert schema["required"] == []


def test_D102_C46_only_files_directly_in_scripts_are_offered(tmp_path: Path) -> None:
    """No nested one, no link, no other ending, nothing hidden."""
    folder = bundle(
        tmp_path,
        scripts__a="plain",
        scripts__sub__x="echo",
        other__z="x",
    )
    for name in ("a.py", "b.sh", "c.js", "d.rb", "e.txt", ".hidden.sh", "sub/y.py"):
        (folder / "scripts" / name).write_text("")
    (folder / "f.py").write_text("")
    (folder / "scripts" / "link.sh").symlink_to("/bin/sh")
    (folder / "scripts" / "up.sh").symlink_to(folder / "scripts" / "b.sh")
    found = script_tools(load_skill("skills/tabular-report", tmp_path), limit_s=1)
    assert [file for _, file in found] == ["scripts/a.py", "scripts/b.sh", "scripts/c.js"]


def test_a_folder_of_scripts_that_is_a_link_offers_nothing(tmp_path: Path) -> None:
    """Wherever it leads."""
    folder = bundle(tmp_path, a="x")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "x.sh").write_text("echo")
    (folder / "scripts").symlink_to(tmp_path / "bin")
    assert script_tools(load_skill("skills/tabular-report", tmp_path), limit_s=1) == []


async def test_D102_arguments_input_output_errors_and_exit_code(tmp_path: Path) -> None:
    """As one text; a script that fails is a failed call with the same text."""
    tools = scripts(
        tmp_path,
        a_py="import sys\nprint(sys.argv[1:], sys.stdin.read())\nprint('oh', file=sys.stderr)",
        b_sh='echo "$1 $#"\nexit 3',
        c_py="",
    )
    text = await told(tools["tabular-report__a"], args=["x", "y z"], stdin="in é")
    assert text == "exit code: 0\nstdout:\n['x', 'y z'] in é\n\nstderr:\noh\n"
    assert await told(tools["tabular-report__b"], args=["x", "y"]) == (
        "exit code: 3\nstdout:\nx 2\n"
    )
    assert await told(tools["tabular-report__c"]) == "exit code: 0"
    graph = agent_graph(
        [turn(("tabular-report__b", {"args": ["x"]}, "c1")), "done"], tools=[*tools.values()]
    )
    for result in (graph.invoke(ask()), await graph.ainvoke(ask())):
        message = next(m for m in result["messages"] if m.type == "tool")
        assert (message.status, message.text) == ("error", "exit code: 3\nstdout:\nx 1\n")


async def test_D102_javascript_runs_where_node_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it is not, the call says so."""
    tools = scripts(tmp_path, a_js="console.log(process.argv.slice(2).join('+'))")
    here = tmp_path / "bin"
    here.mkdir()
    (here / "node").write_text('#!/bin/sh\nshift\necho "node: $*"\n')
    (here / "node").chmod(0o755)
    monkeypatch.setenv("PATH", f"{here}:/usr/bin:/bin")
    assert "node: 1 2" in await told(tools["tabular-report__a"], args=["1", "2"])
    monkeypatch.setenv("PATH", str(tmp_path))
    assert await told(tools["tabular-report__a"]) == (
        "scripts/a.js needs node, which is not installed"
    )


async def test_C19_C46_no_shell_no_keys_the_skills_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Arguments arrive as they are; the environment is small; no file has to be executable."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-proj-TESTTESTTESTTESTTEST")
    monkeypatch.setenv("GITHUB_TOKEN", "ghp_TEST")
    monkeypatch.setenv("PYTHONPATH", "elsewhere")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    tools = scripts(tmp_path, tell_py=TELL, tell2_sh='printf "%s\\n" "$@"; pwd; env')
    hostile = ["; touch pwn", "$(id)", "`id`", "-c", "", "*", "a\nb", "../../x.py"]
    answer = await told(tools["tabular-report__tell"], args=hostile)
    found = json.loads(answer.partition("stdout:\n")[2])
    assert found["args"] == hostile
    assert found["cwd"] == str(tmp_path / "skills" / "tabular-report")
    assert {"PATH", "LC_ALL"} <= found["env"].keys()
    assert not {"OPENAI_API_KEY", "GITHUB_TOKEN", "PYTHONPATH"} & found["env"].keys()
    shell = await told(tools["tabular-report__tell2"], args=hostile[:3])
    assert shell.startswith("exit code: 0\nstdout:\n; touch pwn\n$(id)\n`id`\n")
    assert "TEST" not in shell
    assert not (tmp_path / "skills" / "tabular-report" / "pwn").exists()
    skill = tmp_path / "skills" / "tabular-report"
    assert not os.access(skill / "scripts" / "tell.py", os.X_OK)
    assert not list(skill.glob("**/__pycache__"))


async def test_D103_a_sleeping_script_is_ended_and_reported(
    tmp_path: Path, over_with: Callable[[Path], None]
) -> None:
    """At the profile's limit, or earlier where the call asks for it; what it wrote is kept."""
    begun = tmp_path / "skills" / "tabular-report" / "begun"
    over_with(begun)
    tools = scripts(tmp_path, limit_s=2, a_py=LONG)
    for asked, limit_s in (({}, 2), ({"timeout": 1}, 1), ({"timeout": 10_000}, 2)):
        text = await told(tools["tabular-report__a"], **asked)
        assert text == f"ended after {limit_s} s: it had not finished\nstdout:\nbegun\n"
        begun.unlink()


@pytest.mark.parametrize("way", ["sync", "async"])
async def test_D103_the_profiles_limit_is_longer_than_the_strategys(
    tmp_path: Path, way: str
) -> None:
    """A script may take its 300 seconds, also in a strategy that gives tools less."""
    bundle(tmp_path, scripts__a="", **{"scripts__slow.sh": "sleep 0.3; echo done"})
    (tmp_path / "quick.yaml").write_text(
        "strategy: quick\nstart: act\n"
        "nodes: {act: act, guard: guard, tool: {kind: tool, timeout_s: 0.01}}\n"
        "edges: {act.call: guard, act.answer: end, act.limit: end, guard.allow: tool,"
        " guard.block: act, tool.done: act}\n"
    )
    profile = profile_with(tmp_path, skills=["skills/tabular-report"], allow_skill_execution=True)
    calls = turn(("tabular-report__slow", {}, "c1"))
    graph = agent_graph([calls, "ok"], profile=profile, strategy=tmp_path / "quick.yaml")
    result = graph.invoke(ask()) if way == "sync" else await graph.ainvoke(ask())
    assert answers(result["messages"]) == [("c1", "exit code: 0\nstdout:\ndone\n")]


CHILDREN = """
sleep 600 & echo $! > one
(setsid sleep 600 > /dev/null 2>&1 & echo $! > two)
nohup sleep 600 > /dev/null 2>&1 & echo $! > three
echo $$ > new; mv new main
"""


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="finds strays by /proc")
@pytest.mark.parametrize("end", ["exit 0", "sleep 600"])
async def test_D103_everything_that_a_script_started_ends_with_it(
    tmp_path: Path, end: str, over_with: Callable[[Path], None]
) -> None:
    """Whether it ends by itself or is ended; also what left its process group."""
    folder = tmp_path / "skills" / "tabular-report"
    if end != "exit 0":
        over_with(folder / "main")
    tools = scripts(tmp_path, a_sh=CHILDREN + end)
    text = await told(tools["tabular-report__a"])
    assert text.startswith("exit code: 0" if end == "exit 0" else "ended after 60 s")
    for name in ("main", "one", "two", "three"):
        assert await gone(int((folder / name).read_text()))


async def test_what_hides_from_us_and_writes_for_ever_holds_nothing_up(tmp_path: Path) -> None:
    """A child in a session and an environment of its own is not found; nobody waits for it."""
    drip = "echo > up; while echo x; do sleep 0.01; done"
    wait = "while [ ! -e up ]; do sleep 0.01; done"
    tools = scripts(tmp_path, a_sh=f"env -i setsid sh -c '{drip}' 2> /dev/null &\n{wait}")
    assert (await told(tools["tabular-report__a"])).startswith("exit code: 0\nstdout:\n")


@pytest.mark.parametrize("way", ["cancelled", "time of the tool", "time of the tool, sync"])
async def test_a_run_that_ends_takes_its_scripts_along(tmp_path: Path, way: str) -> None:
    """A run that is cancelled, and a call that is given up."""
    bundle(tmp_path, **{"scripts__a.sh": "echo $$ > pid.new; mv pid.new pid; sleep 600"})
    more: dict[str, object] = {} if way == "cancelled" else {"timeout_s": {"*__a": 3}}
    skills = ["skills/tabular-report"]
    profile = profile_with(tmp_path, skills=skills, allow_skill_execution=True, **more)
    graph = agent_graph([turn(("tabular-report__a", {}, "c1")), "ok"], profile=profile)
    pid = tmp_path / "skills" / "tabular-report" / "pid"
    if way == "cancelled":
        task = asyncio.create_task(graph.ainvoke(ask()))
        while not pid.exists():
            await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    else:
        sync = way.endswith("sync")
        result = await (asyncio.to_thread(graph.invoke, ask()) if sync else graph.ainvoke(ask()))
        told = "tabular-report__a did not finish within 3 s"
        assert answers(result["messages"]) == [("c1", told)]
    assert await gone(int(pid.read_text()))


async def test_output_is_bounded(tmp_path: Path) -> None:
    """The beginning and the end are kept; one that writes without end is ended."""
    tools = scripts(
        tmp_path,
        a_py="print('begin' + 'x' * 300_000 + 'end')",
        b_sh="yes",
        c_py="import sys\nsys.stdout.buffer.write(b'\\xff\\x00a')",
    )
    text = await told(tools["tabular-report__a"])
    assert text.startswith("exit code: 0\nstdout:\nbeginxxx")
    assert text.endswith("xxxend\n")
    assert "\n[left out here: 220009 bytes]\n" in text
    assert len(text) < 81_000
    assert (await told(tools["tabular-report__b"])).startswith("ended: it wrote too much")
    assert await told(tools["tabular-report__c"]) == "exit code: 0\nstdout:\n\ufffd\0a"


@pytest.mark.parametrize(
    "arguments",
    [
        {"args": ["x" * 10_001]},
        {"args": ["x"] * 101},
        {"stdin": "x" * 1_000_001},
        {"timeout": 0},
        {"args": "x"},
        {"cwd": "/"},
        {"env": {"A": "b"}},
    ],
)
def test_what_a_model_may_give_a_script_is_bounded(
    tmp_path: Path, arguments: dict[str, Any]
) -> None:
    """Refused before anything runs."""
    tools = scripts(tmp_path, a_sh="echo ran > ran")
    calls = turn(("tabular-report__a", arguments, "c1"))
    graph = agent_graph([calls, "done"], tools=[*tools.values()])
    ((_, text),) = answers(graph.invoke(ask())["messages"])
    assert text.startswith("Not run: ")
    assert not (tmp_path / "skills" / "tabular-report" / "ran").exists()


async def test_an_argument_that_no_system_takes_is_a_failed_call(tmp_path: Path) -> None:
    """A NUL character."""
    tools = scripts(tmp_path, a_sh="echo")
    calls = turn(("tabular-report__a", {"args": ["a\0b"]}, "c1"))
    graph = agent_graph([calls, "done"], tools=[*tools.values()])
    ((_, text),) = answers((await graph.ainvoke(ask()))["messages"])
    assert "null byte" in text


async def test_a_script_that_has_changed_is_not_run(tmp_path: Path) -> None:
    """Another script may have written over it; also one that became a link, or is gone."""
    tools = scripts(tmp_path, a_sh="echo a", b_sh="echo b > ran")
    file = tmp_path / "skills" / "tabular-report" / "scripts" / "a.sh"
    file.write_text("echo b > ran")
    refused = "scripts/a.sh has changed since the skill was loaded: not run"
    assert await told(tools["tabular-report__a"]) == refused
    file.unlink()
    assert await told(tools["tabular-report__a"]) == refused
    file.symlink_to(file.with_name("b.sh"))
    assert await told(tools["tabular-report__a"]) == refused
    assert not (file.parents[1] / "ran").exists()


@pytest.mark.parametrize(
    ("file", "text", "words"),
    [
        ("a b.sh", "", "makes no tool name"),
        ("x" * 60 + ".sh", "", "makes no tool name"),
        ("clean.sh", "echo\nrm -rf /\n", "scripts/clean.sh:2: the script deletes the system"),
        ("big.py", "#" * 1_000_001, "is too big"),
    ],
)
def test_D104_a_script_that_may_not_be_offered_is_refused_at_load(
    tmp_path: Path, file: str, text: str, words: str
) -> None:
    """With its name and line."""
    bundle(tmp_path, **{f"scripts__{file}": text})
    with pytest.raises(SkillLoadError) as caught:
        script_tools(load_skill("skills/tabular-report", tmp_path), limit_s=1)
    assert words in str(caught.value)


def test_D094_two_scripts_of_one_name_are_refused(tmp_path: Path) -> None:
    """`make.py` and `make.sh`: the message names both files."""
    bundle(tmp_path, **{"scripts__make.py": "", "scripts__make.sh": ""})
    profile = profile_with(tmp_path, skills=["skills/tabular-report"], allow_skill_execution=True)
    with pytest.raises(ConfigError) as caught:
        registry_for(equip(profile), ())
    assert "scripts/make.py and " in str(caught.value)
    assert "scripts/make.sh" in str(caught.value)


async def test_a_script_does_not_block_the_event_loop(tmp_path: Path) -> None:
    """Neither looking at its file, nor starting it, nor ending it."""
    tools = scripts(tmp_path, a_sh="echo done", b_sh="sleep 600")
    with blockbuster_ctx():
        assert await told(tools["tabular-report__a"]) == "exit code: 0\nstdout:\ndone\n"
        ended = await told(tools["tabular-report__b"], timeout=1)
        assert ended.startswith("ended after 1 s")
        task = asyncio.create_task(told(tools["tabular-report__b"]))
        await asyncio.sleep(0.3)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_a_script_runs_only_where_the_policy_says_so(tmp_path: Path) -> None:
    """It is a tool as any other: what the policy does not name does not run."""
    bundle(tmp_path, **{"scripts__a.sh": "echo ran > ran"})
    profile = profile_with(tmp_path, skills=["skills/tabular-report"], allow_skill_execution=True)
    model = ScriptedModel(turns=[call("tabular-report__a"), "no"])
    policy = {"version": 2, "default": "block", "tools": {"tabular-report": "allow"}}
    async with ReActAgent(AgentConfig(profile=profile, policy=policy, llm=model)) as agent:
        result = await agent.run("go")
    assert [record["word"] for record in result.verdicts] == ["block"]
    assert not (tmp_path / "skills" / "tabular-report" / "ran").exists()
