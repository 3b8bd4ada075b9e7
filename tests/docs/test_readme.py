"""README is short, its commands are the ones that are run, and what it names is there."""

from __future__ import annotations

import ast
import re
import shlex
import subprocess
from importlib import import_module
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import edgeward
from edgeward.cli.app import app
from edgeward.graphs.schema import load_strategy

from .blocks import DOCUMENTS, ROOT, blocks_of, marked_commands

README = ROOT / "README.md"
TEXT = README.read_text(encoding="utf-8")
MOST_LINES = 150
INVARIANT = re.compile(r"^\| (I\d+) \| (.+) \|$", re.MULTILINE)
EXTRAS = re.compile(r"\(extra `(\w+)`\)")
PATHLIKE = re.compile(r"`([\w.-]+(?:/[\w.<>-]+)+/?|[\w-]+\.(?:json|md|toml))`")


def test_readme_is_short() -> None:
    """At most 150 lines."""
    assert len(TEXT.splitlines()) <= MOST_LINES


def test_the_two_commands_are_marked() -> None:
    """One line each shows the demo and runs the tests, from a clone."""
    commands = marked_commands(README)
    assert commands == {
        "demo": "pip install . && edgeward demo",
        "test": "pip install '.[test]' && pytest",
    }


def test_the_call_that_the_demo_refuses_is_shown_as_it_prints_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Word by word, from its beginning; a terminal may break other lines."""
    monkeypatch.setenv("COLUMNS", "80")
    printed = CliRunner().invoke(app, ["demo", "--dir", str(tmp_path / "demo")]).stdout
    (shown,) = (block.text for block in blocks_of(README) if block.text.startswith("block "))
    first, words = shown.splitlines()[0], shown.split()
    assert first in printed.splitlines()
    assert printed[printed.index(first) :].split()[: len(words)] == words


@pytest.mark.parametrize("name", ["demo", "test"])
def test_ci_runs_the_marked_command(name: str) -> None:
    """`.ci/run` takes the line out of README instead of having one of its own."""
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    found = re.search(r"^line\(\) \{ (.*); \}$", script, re.MULTILINE)
    assert found, "`.ci/run` has no function `line`"
    assert f'"$(line {name})"' in script
    done = subprocess.run(
        ["bash", "-c", f"{found[0]}\nline {name}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == marked_commands(README)[name]


def test_the_picture_is_the_shipped_strategy() -> None:
    """Every edge of `react` is in the picture, under its outcome, and no other."""
    (picture,) = (block for block in blocks_of(README) if block.language == "mermaid")
    edges = re.findall(r"^  (\w+) --(?: (\w+) --)?> (\w+)(?:\[\w+\])?$", picture.text, re.MULTILINE)
    assert len(edges) == len(picture.text.splitlines()) - 1
    react = load_strategy("react")
    drawn = {(node, outcome): target for node, outcome, target in edges}
    assert drawn.pop(("start", "")) == react.start
    assert drawn == {edge: "stop" if to == "end" else to for edge, to in react.edges.items()}


def test_the_commands_are_there_with_their_options() -> None:
    """Every command and option that README shows is one of the command line."""
    shown = [line for block in blocks_of(README) for line in block.text.splitlines()]
    shown += re.findall(r"`(edgeward [^`]+)`", TEXT)
    commands = get_command(app).commands
    seen = set()
    for line in shown:
        found = re.search(r"(?:^|&& )edgeward (\w+)(.*)", line.partition("#")[0])
        if found:
            options = {o for p in commands[found[1]].params for o in (*p.opts, *p.secondary_opts)}
            assert set(re.findall(r"--[\w-]+", found[2])) <= options, line
            seen.add(found[1])
    assert seen == {"attack", "check", "demo", "graph", "replay", "run"}
    demo = {option for param in commands["demo"].params for option in param.opts}
    assert {"--policy", "--model", "--task"} <= demo


def test_what_is_named_in_backticks_exists() -> None:
    """A file that README, CONTRIBUTING or docs name is in the tree, or is a pattern of one."""
    missing = [
        f"{document.name}: {name}"
        for document in DOCUMENTS
        for name in PATHLIKE.findall(document.read_text(encoding="utf-8"))
        if not _exists(name)
    ]
    assert not missing


def _exists(name: str) -> bool:
    return any(ROOT.glob(re.sub(r"<\w+>", "*", name.rstrip("/"))))


def test_the_names_of_the_doors_are_public() -> None:
    """Classes that README names can be imported from `edgeward`, and so can `build_graph`."""
    doors = TEXT.partition("## Doors")[2].partition("\n## ")[0]
    names = set(re.findall(r"`([A-Z]\w+|build_graph)`", doors))
    assert {"AgentConfig", "ReActAgent", "build_graph"} <= names <= set(edgeward.__all__)
    for name in EXTRAS.findall(TEXT):
        assert f"\n{name} = [" in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_the_table_of_invariants_is_the_suite() -> None:
    """Each row begins with the sentence that its test file in `tests/invariants/` begins with."""
    rows = dict(INVARIANT.findall(TEXT))
    files = (ROOT / "tests" / "invariants").glob("test_*.py")
    assert rows.keys() == {file.stem.removeprefix("test_").upper() for file in files}
    wrong = []
    for number, row in rows.items():
        file = ROOT / "tests" / "invariants" / f"test_{number.lower()}.py"
        doc = ast.get_docstring(ast.parse(file.read_text("utf-8"))) if file.is_file() else None
        sentence = re.split(r"\.(?:\s|$)", doc or f"{number}: (no docstring)")[0]
        if not _plain(f"{number}: {row}").startswith(_plain(sentence)):
            wrong.append(f"{file.name}: {sentence}")
    assert not wrong


def _plain(text: str) -> str:
    """Words without their layout: markup, line breaks, the last full stop."""
    return " ".join(text.replace("`", "").split()).rstrip(".").lower()


def test_markers_of_the_suite_are_explained() -> None:
    """The runs of the suite that README shows are of markers that exist."""
    markers = re.findall(r"pytest -m (\w+)", TEXT)
    declared = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert set(markers) == {"slow", "benchmark"}
    assert all(f'  "{marker}: ' in declared for marker in markers)


def test_the_entry_points_for_outsiders_are_the_real_ones() -> None:
    """The groups that README names are those that are looked up."""
    assert "`edgeward.nodes`" in TEXT
    assert "`edgeward.rules`" in TEXT
    assert import_module("edgeward.nodes").ENTRY_POINTS == "edgeward.nodes"


def test_the_check_command_holds_everything() -> None:
    """CONTRIBUTING's one command formats, lints, and runs the slow tests, too."""
    block = next(b for b in blocks_of(ROOT / "CONTRIBUTING.md") if b.language == "bash")
    steps = [shlex.split(step) for step in block.text.strip().split(" && ")]
    assert steps == [
        ["ruff", "format", "--check", "."],
        ["ruff", "check", "."],
        ["pytest", "-m", "not benchmark"],
    ]
