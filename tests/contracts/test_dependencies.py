"""What the package imports is what its metadata asks for: an install without extras works."""

from __future__ import annotations

import ast
import itertools
import re
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from .tree import parsed, pyproject, shown, sources

DISTRIBUTION_OF = {
    "mem0": "mem0ai",
    "re2": "google-re2",
    "yaml": "pyyaml",
    "dotenv": "python-dotenv",
    "phonenumbers": "phonenumberslite",
    "stdnum": "python-stdnum",
    "bs4": "beautifulsoup4",
    "docx": "python-docx",
    "faiss": "faiss-cpu",
    "llama_index": "llama-index-core",
    "opentelemetry": "opentelemetry-api",
}
"""Where a distribution is called otherwise than what it is imported as."""

REACHED_THROUGH = {
    "anyio": "mcp",
    "httpx": "mcp",
    "typing_extensions": "pydantic",
    "httpx2": "openai",
    "openai": "langchain-openai",
    "anthropic": "langchain-anthropic",
    "qdrant_client": "mem0ai",
    "spacy": "presidio-analyzer",
    "psycopg_pool": "langgraph-checkpoint-postgres",
}
"""What comes with one of our dependencies, by the pin that fits it."""

ADAPTERS = frozenset(
    {
        "edgeward/pytest_plugin.py",
        "profiles/example/servers/clock.py",
        "profiles/chat_anthropic.py",
        "profiles/chat_openai.py",
        "profiles/connections.py",
        "profiles/memory/mem0_records.py",
        "profiles/openai_wire.py",
        "profiles/tools/mcp/http.py",
        "profiles/tools/mcp/stdio.py",
        "profiles/tools/mcp/websocket.py",
    }
)
"""Imported only once their provider or server is asked for (the plugin: by pytest), and so may
need it."""


def normal(name: str) -> str:
    """A distribution's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def named(requirement: str) -> str:
    """The distribution that a requirement names."""
    return normal(re.split(r"[^\w.-]", requirement)[0])


def declared(*, extras: bool) -> set[str]:
    """The distributions that the package asks for: always, and (`extras`) by some extra."""
    project = pyproject()["project"]
    asked = list(project["dependencies"])
    if extras:
        asked += itertools.chain.from_iterable(project["optional-dependencies"].values())
    return {named(requirement) for requirement in asked}


def imports(path: Path, *, everywhere: bool) -> Iterator[str]:
    """The top-level names that a file imports: when it is loaded, or (`everywhere`) ever."""
    for node in _nodes(parsed(path), everywhere=everywhere):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module.partition(".")[0]


def _nodes(tree: ast.AST, *, everywhere: bool) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        later = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for_types = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        if everywhere or not (later or for_types):
            yield node
            yield from _nodes(node, everywhere=everywhere)


def foreign(path: Path, *, everywhere: bool) -> set[str]:
    """The distributions behind a file's imports, neither the standard library's nor ours."""
    names = set(imports(path, everywhere=everywhere)) - {"edgeward", *sys.stdlib_module_names}
    return {normal(DISTRIBUTION_OF.get(name, name)) for name in names}


def test_every_import_is_of_a_declared_package() -> None:
    """Whatever a module imports comes with the package, or with one of its extras."""
    known = declared(extras=True) | {normal(name) for name in REACHED_THROUGH}
    wrong = {shown(path): foreign(path, everywhere=True) - known for path in sources()}
    assert not {name: more for name, more in wrong.items() if more}


def test_loading_a_module_needs_no_extra() -> None:
    """Only the adapters of providers are in need of an extra when they are loaded."""
    known = declared(extras=False) | {"typing-extensions"}
    wrong = {shown(path): foreign(path, everywhere=False) - known for path in sources()}
    assert {name for name, more in wrong.items() if more} <= ADAPTERS


@pytest.mark.parametrize("name", sorted(REACHED_THROUGH))
def test_what_comes_with_a_dependency_is_asked_for_by_it(name: str) -> None:
    """The package that brings it says so in its own metadata."""
    bringer = REACHED_THROUGH[name]
    try:
        asked = metadata.requires(bringer) or []
    except metadata.PackageNotFoundError:
        pytest.skip(f"{bringer} belongs to an extra that is not installed")
    assert normal(name) in {named(requirement) for requirement in asked}


def brought(name: str, found: set[str]) -> set[str]:
    """The installed distributions that come with one, itself included; no extras of its own."""
    if name in found:
        return found
    found.add(name)
    for asked in metadata.requires(name) or []:
        requirement = Requirement(asked)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            brought(normal(requirement.name), found)
    return found


def test_D140_the_whole_install_is_small() -> None:
    """Without extras: no torch and nothing of that kind, and less than 100 MB are unpacked (byte
    code, which Python writes beside it, comes on top)."""
    names: set[str] = set()
    for requirement in pyproject()["project"]["dependencies"]:
        brought(named(requirement), names)
    assert not names & {"torch", "transformers", "numpy", "pandas", "ms-agent", "modelscope"}
    unpacked = sum(
        path.stat().st_size
        for name in names
        for file in metadata.files(name) or []
        if file.suffix != ".pyc" and (path := Path(str(file.locate()))).is_file()
    )
    assert 1_000_000 < unpacked < 100_000_000
