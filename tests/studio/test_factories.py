"""C88: what `langgraph.json` names can be loaded: no key, no network, no checkpointer of ours."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from edgeward.graphs import studio
from edgeward.graphs.locked import LockedGraph
from edgeward.graphs.schema import shipped_strategies
from edgeward.policies.problems import ConfigError
from tests.studio.server import CONFIG, fenced

GRAPHS: dict[str, str] = json.loads(CONFIG.read_text(encoding="utf-8"))["graphs"]

IMPORT = """
import asyncio, json, sys
import edgeward.graphs.studio as studio

vendors = [m for m in ("openai", "anthropic", "langchain_openai", "mcp") if m in sys.modules]
factories = studio.simple, studio.react, studio.plan_and_solve
graphs = [asyncio.run(factory()) for factory in factories]
print(json.dumps([vendors, [g.name for g in graphs], [repr(g.checkpointer) for g in graphs]]))
"""


@pytest.fixture(autouse=True)
def unset(monkeypatch: pytest.MonkeyPatch) -> None:
    """The variables that choose what is served are not set."""
    for name in (studio.PROFILE_VARIABLE, studio.POLICY_VARIABLE, studio.MODEL_VARIABLE):
        monkeypatch.delenv(name, raising=False)


def factory(name: str) -> Callable[[], Awaitable[LockedGraph]]:
    """The factory of one graph of `langgraph.json`, found as the server finds it."""
    module, _, attribute = GRAPHS[name].partition(":")
    found: Callable[[], Awaitable[LockedGraph]] = getattr(
        importlib.import_module(module), attribute
    )
    return found


def test_an_empty_environment_is_enough(tmp_path: Path) -> None:
    """Without variables and network they import and build, load no SDK and leave no file."""
    work = tmp_path / "work"
    work.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", IMPORT],
        env=fenced(tmp_path),
        cwd=work,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == [[], ["simple", "react", "plan_and_solve"], ["None"] * 3]
    assert not (tmp_path / "connections.log").exists()
    assert list(work.iterdir()) == []


@pytest.mark.parametrize("name", GRAPHS)
async def test_each_gives_a_guarded_graph_without_a_checkpointer(name: str) -> None:
    """The graph is locked, and nothing of the server's own (threads, store) is attached."""
    graph = await factory(name)()
    assert isinstance(graph, LockedGraph)
    assert (graph.name, graph.checkpointer, graph.store) == (name, None, None)
    assert await factory(name)() is graph


def test_the_file_is_valid() -> None:
    """The command line of LangGraph accepts `langgraph.json` and knows all of its keys."""
    config = pytest.importorskip("langgraph_cli.config")
    assert config.validate_config_file(CONFIG)["graphs"] == GRAPHS
    assert config.get_unknown_keys(json.loads(CONFIG.read_text(encoding="utf-8"))) == []
    assert set(GRAPHS) == set(shipped_strategies())


async def test_the_environment_chooses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Profile, policy and model come from the variables; blank counts as unset."""
    profile = tmp_path / "profile.yaml"
    profile.write_text("agent: {id: other, name: Other, llm: {provider: scripted}}")
    monkeypatch.setenv(studio.PROFILE_VARIABLE, str(profile))
    monkeypatch.setenv(studio.POLICY_VARIABLE, "  ")
    monkeypatch.setenv(studio.MODEL_VARIABLE, "")
    graph = await studio.simple()
    answer = await graph.ainvoke({"messages": [("user", "hello")]})
    assert answer["messages"][-1].text == "You said: hello"
    monkeypatch.setenv(studio.MODEL_VARIABLE, studio.SCRIPTED)
    assert await studio.simple() is not graph


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        (studio.PROFILE_VARIABLE, "nobody"),
        (studio.POLICY_VARIABLE, "nothing.yaml"),
        (studio.MODEL_VARIABLE, "gpt"),
    ],
)
async def test_a_wrong_choice_is_one_clear_error(
    variable: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says what is wrong and what is allowed, when the graph is asked for and each time."""
    monkeypatch.setenv(variable, value)
    for _ in range(2):
        with pytest.raises(ConfigError):
            await studio.react()
