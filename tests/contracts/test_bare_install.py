"""A plain install is enough for an agent without the blocks that need a library of their own."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from .test_dependencies import declared, normal
from .tree import pyproject

BARE = """
import sys

NOT_THERE = frozenset({names!r})


class Without:
    def __init__(self, finder):
        self.finder = finder

    def __getattr__(self, name):
        return getattr(self.finder, name)

    def find_spec(self, name, path=None, target=None):
        absent = name.split(".")[0] in NOT_THERE
        return None if absent else self.finder.find_spec(name, path, target)


sys.meta_path[:] = map(Without, sys.meta_path)
"""

RUN = """
import asyncio
from edgeward import AgentConfig, AgentProfile, ReActAgent, ScriptedModel


async def main():
    given = {"id": "clerk", "name": "Clara", "memory": {}}
    profile = AgentProfile.from_mapping(given)
    config = AgentConfig(profile=profile, llm=ScriptedModel(turns=["Done."]), **GIVEN)
    async with ReActAgent(config) as agent:
        print((await agent.run("Say so.")).final_answer)


asyncio.run(main())
"""


def with_what_they_need(names: set[str]) -> set[str]:
    """Distributions, and all that comes with them."""
    found, waiting = set(names), [*names]
    while waiting:
        for line in metadata.requires(waiting.pop()) or ():
            asked = Requirement(line)
            name = normal(asked.name)
            if name not in found and (asked.marker is None or asked.marker.evaluate({"extra": ""})):
                found.add(name)
                waiting.append(name)
    return found


def bare(tmp_path: Path, program: str) -> subprocess.CompletedProcess[str]:
    """What a program does where nothing is installed that only an extra brings."""
    if sys.version_info < (3, 11):
        pytest.skip("Python 3.10 does not know of what distribution most modules are")
    by_extras = declared(extras=True) - with_what_they_need(declared(extras=False)) - {"edgeward"}
    modules = metadata.packages_distributions().items()
    names = sorted(m for m, dists in modules if by_extras.issuperset(map(normal, dists)))
    assert {"mem0", "onnxruntime", "langchain_openai", "faiss"} <= set(names)
    file = tmp_path / "program.py"
    file.write_text(BARE.format(names=names) + program, encoding="utf-8")
    command = [sys.executable, "-W", "default", str(file)]
    return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)


def test_D003_without_memory_an_agent_runs(tmp_path: Path) -> None:
    """The profile asks for it, the program turns it off; nothing is missed."""
    done = bare(tmp_path, RUN.replace("**GIVEN", "use_memory=False"))
    assert (done.returncode, done.stdout) == (0, "Done.\n"), done.stderr


def test_D003_with_memory_the_extra_is_named(tmp_path: Path) -> None:
    """Nothing is pretended: the agent is not built without what its profile turns on."""
    done = bare(tmp_path, RUN.replace(", **GIVEN", ""))
    assert done.returncode == 1
    assert "edgeward[memory]" in done.stderr.splitlines()[-1]


def test_D004_start_up_is_silent(tmp_path: Path) -> None:
    """Not a line on stderr, of whatever could be installed besides."""
    done = bare(tmp_path, RUN.replace("**GIVEN", "use_memory=False"))
    assert done.stderr == ""


def test_D001_python_3_9_is_refused_by_the_metadata() -> None:
    """3.10 and everything newer may install it."""
    allowed = SpecifierSet(pyproject()["project"]["requires-python"])
    assert [v for v in ("3.9.20", "3.10.0", "3.11.7", "3.12.1", "3.14.0") if v not in allowed] == [
        "3.9.20"
    ]
