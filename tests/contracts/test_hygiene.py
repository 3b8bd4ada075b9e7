"""House rules that no tool checks: names, docstrings, sizes, imports, swallowed errors."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from .tree import ROOMS, ROOT, files_of, parsed, shown, sources

SOURCES = sources()
TESTS = files_of("tests", "*.py")

MOST_LINES = 400
NAMELESS = frozenset({"utils", "util", "helpers", "helper", "common", "misc"})
NOT_KEPT = frozenset({".coverage", ".git"})  # in a second working tree of a clone, .git is a file
BINARY = frozenset({".pdf", ".png", ".docx", ".xlsx", ".pyc"})
ELSEWHERE = re.compile(r"(?<![\w.:/])/(?:tmp|work|root)(?:/|\b)|\.\./shared\b")
"""Places of one machine, which nothing that is shipped or read may speak of."""


def text_files() -> list[Path]:
    """Every text file of the tree that is kept."""
    folders = [*ROOMS, "tests", "docs", ".ci"]
    found = [path for folder in folders for path in files_of(folder)]
    loose = [path for path in ROOT.iterdir() if path.is_file() and path.name not in NOT_KEPT]
    return [path for path in [*found, *loose] if path.suffix not in BINARY]


def public(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    """The classes and functions of a module whose name does not begin with `_`."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    for node in tree.body:
        if isinstance(node, kinds) and not node.name.startswith("_"):
            yield node


def test_a_module_is_named_after_what_it_holds() -> None:
    """No utils, no helpers, no common: such a module grows without end."""
    paths = [path.relative_to(ROOT) for path in [*SOURCES, *TESTS]]
    assert not [p for p in paths if NAMELESS & {p.stem.lower(), *map(str.lower, p.parts[:-1])}]


def test_a_module_can_be_read_at_one_sitting() -> None:
    """At most 400 lines."""
    lines = {shown(path): len(path.read_text("utf-8").splitlines()) for path in SOURCES}
    assert not {name: count for name, count in lines.items() if count > MOST_LINES}


def test_what_is_public_says_what_it_is() -> None:
    """Modules, classes and functions of the rooms have a docstring.

    A node kind's `Spec` and `step` are what its module's docstring is about.
    """
    silent = []
    for path in SOURCES:
        tree = parsed(path)
        if tree.body and not ast.get_docstring(tree):
            silent.append(shown(path))
        told = {"Spec", "step"} if path.parent == ROOT / "nodes" else set()
        silent += [
            f"{shown(path)}:{node.lineno}: {node.name}"
            for node in public(tree)
            if node.name not in told and not ast.get_docstring(node)
        ]
    assert not silent


def test_every_test_says_its_sentence() -> None:
    """Each test function's docstring begins with a sentence, and each test file has one."""
    sentence = re.compile(r"\S.*?[.!?](\s|$)", re.DOTALL)
    silent = []
    for path in TESTS:
        tree = parsed(path)
        if not ast.get_docstring(tree):
            silent.append(shown(path))
        silent += [
            f"{shown(path)}:{node.lineno}: {node.name}"
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            and node.name.startswith("test_")
            and not sentence.match(ast.get_docstring(node) or "")
        ]
    assert not silent


def test_whoever_catches_everything_says_why() -> None:
    """`except Exception` in a room raises again, or has a reason on its line or the next."""
    silent = []
    for path in SOURCES:
        lines = path.read_text("utf-8").splitlines()
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.ExceptHandler) and _catches_everything(node):
                near = "\n".join(lines[node.lineno - 1 : node.body[0].lineno])
                reason = re.search(r"#\s*(?:noqa: [A-Z0-9, ]+ - )?(?!noqa)\w+ \w+", near)
                if not (reason or any(isinstance(inner, ast.Raise) for inner in ast.walk(node))):
                    silent.append(f"{shown(path)}:{node.lineno}")
    assert not silent


def _catches_everything(node: ast.ExceptHandler) -> bool:
    caught = ast.walk(node.type) if node.type else [ast.Name("BaseException")]
    return any(isinstance(x, ast.Name) and x.id in ("Exception", "BaseException") for x in caught)


def test_rooms_are_imported_as_parts_of_the_package() -> None:
    """`import nodes` would make a second copy of the room."""
    rooms = ROOMS.keys() - {"edgeward"}
    wrong = [
        f"{shown(path)}: {name}"
        for path in [*SOURCES, *TESTS]
        for name in _absolute_imports(path)
        if name.partition(".")[0] in rooms
    ]
    assert not wrong


def test_rooms_import_one_another_relatively() -> None:
    """So that an editor follows the folders. The door, and a bundle's tools, name the package."""
    wrong = [
        f"{shown(path)}: {name}"
        for path in SOURCES
        if path != ROOT / "edgeward" / "__init__.py" and "assistant" not in path.parts
        for name in _absolute_imports(path)
        if name.partition(".")[0] == "edgeward"
    ]
    assert not wrong


def _absolute_imports(path: Path) -> Iterator[str]:
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module or ""


def test_a_file_ends_with_a_newline() -> None:
    """One, not two; an empty file is empty."""
    wrong = []
    for path in text_files():
        data = path.read_bytes()
        if data and (not data.endswith(b"\n") or data.endswith((b"\n\n", b"\r\n\r\n"))):
            wrong.append(shown(path))
    assert not wrong


def test_no_file_speaks_of_a_machine() -> None:
    """A path of the place where a file was written means nothing elsewhere.

    Tests may: what they make up as an attack is a path like any other, but for this place's own.
    """
    here = re.compile(re.escape(str(ROOT)) + r"(?![\w.-])")
    wrong = {}
    for path in text_files():
        of_tests = path.is_relative_to(ROOT / "tests")
        found = (here if of_tests else ELSEWHERE).search(path.read_text("utf-8"))
        if found:
            wrong[shown(path)] = found[0]
    assert not wrong


def test_no_key_log_or_lock_is_kept() -> None:
    """They are made where somebody works, and are no part of the project."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("this is no clone")
    command = ["git", "ls-files", "*.key", "*.key.pub", "*.head", "*.sqlite", "*.db", "*.lock"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert not told.stdout.splitlines()
