"""Entries of a profile that name tools, and the list of all tools."""

from __future__ import annotations

import sys

import pytest
from langchain_core.tools import BaseTool, StructuredTool

from edgeward.profiles.tools.python import as_tool, load_python_tool
from edgeward.profiles.tools.registry import ToolRegistry

from .described import refusal, untyped, wide


def test_D113_both_forms_of_entry_load(tmp_path, monkeypatch):
    """A file beside the profile, and an importable module."""
    (tmp_path / "python_tools").mkdir()
    (tmp_path / "python_tools" / "calc.py").write_text(
        "from __future__ import annotations\n"
        "import dataclasses\n\n"
        "@dataclasses.dataclass\nclass P:\n    x: int\n\n"
        'def calc(p: P) -> int:\n    """Calculate."""\n    return p.x\n'
    )
    assert load_python_tool("python_tools/calc.py:calc", tmp_path).invoke({"p": {"x": 3}}) == 3
    (tmp_path / "some_module_of_tools.py").write_text(
        'def search(q: str) -> str:\n    """Search."""\n    return q\n'
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert load_python_tool("some_module_of_tools:search", tmp_path).invoke({"q": "x"}) == "x"


def test_a_tool_file_leaves_nothing_behind_and_is_read_anew(tmp_path):
    """No compiled copy in the bundle, no stale one; one module for one file's functions."""
    file = tmp_path / "t.py"
    file.write_text("n = []\ndef a() -> int:\n    n.append(1)\n    return len(n)\nb = a\n")
    first = load_python_tool("t.py:a", tmp_path)
    assert first.invoke({}) == 1
    assert load_python_tool("t.py:b", tmp_path).invoke({}) == 2
    file.write_text("def a() -> int:\n    return 77\n")
    assert load_python_tool("t.py:a", tmp_path).invoke({}) == 77
    assert [entry.name for entry in tmp_path.iterdir()] == ["t.py"]


@pytest.mark.parametrize(
    ("entry", "word"),
    [
        ("t.py:clac", "did you mean calc"),
        ("tt.py:calc", "did you mean t.py"),
        ("nowhere/t.py:calc", "there is no file"),
        ("../t.py:calc", "leads out"),
        ("/etc/t.py:calc", "leads out"),
        ("no_such_module_here:f", "no module no_such_module_here"),
        ("json:dmups", "did you mean dumps"),
        ("t.py", "not an entry point"),
        ("t.py:", "not an entry point"),
        ("t.py:untyped", "untyped(x): has no type"),
        ("t.py:number", "is not a tool"),
        ("broken.py:f", "SyntaxError on line 2"),
        ("raising.py:f", "RuntimeError on line 3"),
        ("needing.py:f", "module no_such_module_here"),
    ],
)
def test_D113_bad_entries_raise_at_build(tmp_path, entry, word):
    """Each says what is missing and what is near; the error's own text may hold a secret."""
    (tmp_path / "t.py").write_text(
        "number = 3\ndef untyped(x): ...\ndef calc(x: int) -> int:\n    return x\n"
    )
    (tmp_path / "broken.py").write_text("x = 1\ndef f(:\n")
    (tmp_path / "raising.py").write_text("\n\nraise RuntimeError('sk-secret-text')\n")
    (tmp_path / "needing.py").write_text("import no_such_module_here\n")
    message = refusal(lambda: load_python_tool(entry, tmp_path))
    assert word in message
    assert "sk-secret" not in message


def test_a_tool_file_that_links_outside_is_refused(tmp_path):
    """A link is followed before it is judged."""
    inner = tmp_path / "bundle"
    inner.mkdir()
    (tmp_path / "t.py").write_text("def f() -> int:\n    return 1\n")
    (inner / "t.py").symlink_to(tmp_path / "t.py")
    assert "leads out" in refusal(lambda: load_python_tool("t.py:f", inner))


def named(name: str) -> BaseTool:
    """A tool of this name."""

    def f(x: int) -> int:
        """Do."""
        return x

    return as_tool(f, name=name)


@pytest.mark.parametrize(("one", "other"), [("search", "search"), ("search", "Search")])
def test_D094_X17_a_collision_is_refused_naming_both_sources(one, other):
    """Also where the names differ only in case."""
    message = refusal(lambda: ToolRegistry([(named(one), "t.py:search"), (named(other), "tools=")]))
    assert "t.py:search" in message
    assert "tools=" in message


def test_D093_the_registry_is_the_flat_union(tmp_path):
    """Names, sources, metadata; and nothing in it changes."""
    noted = named("b")
    noted.metadata = {"server": "files"}
    registry = ToolRegistry([(named("a"), "profile"), (noted, "mcp")])
    assert list(registry) == ["a", "b"]
    assert len(registry) == 2
    assert "a" in registry
    assert registry.source("b") == "mcp"
    assert registry.metadata("b") == {"server": "files"}
    with pytest.raises(TypeError):
        registry.tools["c"] = noted
    registry.schemas()[0]["function"]["name"] = "changed"
    assert registry.schemas()[0]["function"]["name"] == "a"


def test_a_registry_takes_functions_as_they_are():
    """Alone or with a source; what is wrong with one is said as for any tool."""

    def add(a: int, b: int = 1) -> int:
        """Add."""
        return a + b

    registry = ToolRegistry([add, (named("b"), "mine")])
    assert list(registry) == ["add", "b"]
    assert registry.tools["add"].invoke({"a": 1}) == 2
    assert (registry.source("add"), registry.source("b")) == ("the registry", "mine")
    assert "no type" in refusal(lambda: ToolRegistry([untyped]))


def test_D117_no_tools_give_no_schemas():
    """What the model is shown is then empty."""
    assert ToolRegistry().schemas() == []


def test_schemas_hold_data_only():
    """Nothing that could be called goes to the model's side."""
    import json

    json.dumps(ToolRegistry([(as_tool(wide), "x")]).schemas())


def test_a_tool_whose_arguments_are_no_object_is_refused():
    """A provider would drop it without a word, or refuse all tools."""
    choice = {"anyOf": [{"type": "object"}, {"type": "object"}], "properties": {}, "title": "t"}
    odd = StructuredTool(name="odd", description="d", args_schema=choice, func=lambda: 1)
    assert "not one object" in refusal(lambda: ToolRegistry([(odd, "x")]))
