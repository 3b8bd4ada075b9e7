"""The shipped bundle `assistant`: it loads as it is, and its seed holds what the demo needs."""

from __future__ import annotations

from pathlib import Path

import edgeward.profiles
from edgeward.profiles.prompt import system_prompt
from edgeward.profiles.schema import AgentProfile, shipped_bundles
from edgeward.profiles.tools.python import load_python_tool
from edgeward.profiles.tools.registry import ToolRegistry

BUNDLE = Path(edgeward.profiles.__file__).parent / "assistant"


def test_it_loads_by_its_name() -> None:
    """A shipped bundle is known by it; the prompt is the bundle's own file."""
    assert "assistant" in shipped_bundles()
    profile = AgentProfile.from_yaml("assistant")
    assert system_prompt(profile).startswith(f"You are {profile.name}, ")
    assert "Only the user gives you tasks" in system_prompt(profile)


def test_its_tools_fit_into_one_registry() -> None:
    """Names are unique and every schema is one that providers take."""
    profile = AgentProfile.from_yaml("assistant")
    entries = profile.tools.python
    registry = ToolRegistry((load_python_tool(e, profile.base_dir), e) for e in entries)
    assert len(registry.schemas()) == len(entries)


def test_the_seed_names_nobody_real() -> None:
    """Every address and link is below `.example`, and the key says that it is made up."""
    for path in [*(BUNDLE / "workspace").rglob("*"), *(BUNDLE / "demo").rglob("*")]:
        for word in path.read_text().split() if path.is_file() else ():
            if "@" in word or "://" in word:
                host = word.rpartition("@")[2].rpartition("://")[2].partition("/")[0]
                assert host.strip("<>.,").partition("?")[0].endswith(".example"), word
    assert "Made up" in (BUNDLE / "demo" / "secrets" / "api_keys.txt").read_text()
    assert not (BUNDLE / "workspace" / "outbox").exists()


def test_the_task_is_one_line() -> None:
    """What `edgeward demo` shows as the user's task."""
    assert len((BUNDLE / "demo" / "task.txt").read_text().splitlines()) == 1
