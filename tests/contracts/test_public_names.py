"""The public names: one list, each name at its home, and nothing heavy before its first use."""

from __future__ import annotations

import ast
import inspect
import json
import pkgutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import get_type_hints

import pytest

import edgeward
import edgeward.guards

from .tree import ROOT, parsed

HEAVY = frozenset(
    {
        *("anthropic", "dotenv", "google", "httpx", "httpx2", "langchain", "langchain_anthropic"),
        *("langchain_core", "langchain_openai", "langgraph", "langsmith", "mem0", "openai"),
        *("opentelemetry", "rich", "typer", "yaml"),
    }
)
GUARDS = [
    info.name
    for info in pkgutil.walk_packages(edgeward.guards.__path__, "edgeward.guards.")
    if not info.name.startswith("edgeward.guards.clients.")
]
DOORS = [
    "edgeward",
    "edgeward.guards",
    "edgeward.agent",
    "edgeward.clients",
    "edgeward.config",
    "edgeward.firewall",
    "edgeward.langchain",
    "edgeward.llm",
    "edgeward.memory",
    "edgeward.ops",
    "edgeward.rag",
    "edgeward.reflection",
    "edgeward.skills",
    "edgeward.telemetry",
    "edgeward.tools",
]
"""The modules that users import from, each with its names in `__all__`."""


def loaded_by(code: str, folder: Path) -> set[str]:
    """The top-level modules that a fresh interpreter has after `code`."""
    shows = (
        "import json, sys; print(json.dumps(sorted({n.partition('.')[0] for n in sys.modules})))"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{shows}"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


def for_type_checkers() -> dict[str, str]:
    """The names that the door imports under TYPE_CHECKING, and from where."""
    (block,) = (
        node
        for node in parsed(ROOT / "edgeward" / "__init__.py").body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )
    return {
        alias.name: str(node.module)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def test_the_three_lists_agree() -> None:
    """What type checkers see, what is loaded, and what `*` gives are the same names."""
    homes = {name: f"edgeward.{home}" for name, home in edgeward._HOME_OF.items()}
    assert for_type_checkers() == homes
    assert sorted(homes) == sorted(edgeward.__all__)
    listed = [name for names in edgeward._HOMES.values() for name in names.split()]
    assert len(listed) == len(set(listed))


@pytest.mark.parametrize("name", edgeward.__all__)
def test_every_public_name_resolves(name: str) -> None:
    """Each name is there, is listed by `dir`, and says what it is."""
    value = getattr(edgeward, name)
    assert value is getattr(edgeward, name)
    assert name in dir(edgeward)
    assert (value.__doc__ or "").strip()


def test_an_unknown_name_is_an_attribute_error() -> None:
    """A misspelt name fails as in any module."""
    with pytest.raises(AttributeError, match="'edgeward' has no attribute 'ReactAgent'"):
        _ = edgeward.ReactAgent


def test_the_module_of_agents_lists_what_it_has() -> None:
    """Also what is loaded on first use; a misspelt name fails as in any module."""
    from edgeward import agent

    assert set(agent.__all__) <= set(dir(agent))
    assert all(getattr(agent, name) for name in agent.__all__)
    with pytest.raises(AttributeError, match=r"'edgeward\.agent' has no attribute 'ReactAgent'"):
        _ = agent.ReactAgent  # type: ignore[attr-defined]


def test_importing_the_package_loads_nothing_heavy(tmp_path: Path) -> None:
    """`import edgeward` costs next to nothing."""
    loaded = loaded_by("import edgeward", tmp_path)
    assert not loaded & {*HEAVY, "pydantic", "re2"}


@pytest.mark.parametrize("door", ["edgeward", "edgeward.agent"])
def test_importing_the_agents_loads_nothing_heavy(door: str, tmp_path: Path) -> None:
    """What an agent runs on is loaded when one is built."""
    names = "AgentConfig, BaseAgent, PlanAndSolveAgent, ReActAgent, SimpleAgent, create_agent"
    loaded = loaded_by(f"from {door} import {names}", tmp_path)
    assert not loaded & {*HEAVY, "asyncio", "pydantic", "re2"}


def test_the_guard_loads_nothing_heavy(tmp_path: Path) -> None:
    """Every module of `edgeward.guards` is there without YAML, LangGraph, LangChain or an SDK."""
    assert "edgeward.guards.decide" in GUARDS
    code = "\n".join(f"import {name}" for name in ["edgeward.guards", *GUARDS])
    assert not loaded_by(code, tmp_path) & HEAVY


def test_deciding_loads_no_agent(tmp_path: Path) -> None:
    """A program that wants verdicts alone reads YAML, and loads nothing of agents."""
    code = (
        "from edgeward import decide, load_policy\n"
        "from edgeward.guards.ledger import History\n"
        "from edgeward.guards.verdict import ToolCall\n"
        "assert decide(load_policy('read_only'), ToolCall('rm'), History()).word == 'block'"
    )
    loaded = loaded_by(code, tmp_path)
    assert "yaml" in loaded
    assert not loaded & (HEAVY - {"yaml"})


def annotated(home: str) -> list[tuple[str, object]]:
    """The public names of a module that have annotations, and the public methods of the classes."""
    module = import_module(home)
    found: list[tuple[str, object]] = []
    for name in module.__all__:
        value = getattr(module, name)
        if inspect.isclass(value):
            members = inspect.getmembers(value)
            found += [(f"{name}.{n}", m) for n, m in members if n[0] != "_" or n == "__init__"]
        found += [(name, value)]
    ours = ((n, m.fget if isinstance(m, property) else m) for n, m in found)
    return [
        (name, member)
        for name, member in ours
        if inspect.isclass(member) or inspect.isroutine(member)
        if getattr(member, "__module__", None) or ""
        if str(member.__module__).startswith("edgeward")
    ]


@pytest.mark.parametrize("home", DOORS)
def test_the_types_of_signatures_are_found(home: str) -> None:
    """By whatever reads annotations (a tool made of a method, a data class put into a form), with
    nothing imported but the name: none is left behind in an import for type checkers alone."""
    for name, member in annotated(home):
        if name == "FirewallMiddleware":
            continue  # its base is LangChain's, whose own annotations do not resolve
        assert isinstance(get_type_hints(member), dict), name
