"""Every command: help with an example, JSON for scripts, errors in one line, completion.

The commands are found by themselves: a new one is held to all of it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from edgeward.cli.app import app

COMPLETE = "_EDGEWARD_COMPLETE"
ABSENT = "no-such-thing"

WITHOUT_JSON = {
    "chat": "a conversation of a person",
    "demo": "a play for a person",
    "graph": "has --format json",
    "init": "prints the names of files, one a line",
    "schema": "prints nothing but JSON",
    "show": "writes a page",
}
"""Commands that have no --json, each with the reason."""

WRONG = {
    "attack": ["--policies", ABSENT],
    "demo": ["--policy", ABSENT],
    "init": ["policy", "taken"],
    "lint": ["a-folder"],
}
"""What makes a command fail where a name of nothing would not."""

NEVER_FAILS = {"schema"}


def commands(command: Any = None, *path: str) -> Iterator[tuple[str, Any]]:
    """Each command with the words that call it."""
    command = typer.main.get_command(app) if command is None else command
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, *path, name)
    if path and not hasattr(command, "commands"):
        yield " ".join(path), command


COMMANDS = dict(commands())


def options(name: str) -> set[str]:
    """The options of a command."""
    return {word for one in COMMANDS[name].params for word in one.opts if word.startswith("-")}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to be in, with little in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    (tmp_path / "a-folder").mkdir()
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "policy.yaml").write_text("version: 2\n", encoding="utf-8")
    return tmp_path


def wrong(name: str) -> list[str]:
    """Arguments with which a command fails: names of nothing wherever it wants one."""
    if name in WRONG:
        return WRONG[name]
    required = [one for one in COMMANDS[name].params if one.required]
    made: list[str] = []
    for one in required:
        made += [ABSENT] if one.param_type_name == "argument" else [one.opts[0], ABSENT]
    return made or ["--no-such-option"]


def invoke(*words: str) -> Any:
    """The command line in this process, without a terminal."""
    return CliRunner().invoke(app, list(words))


def test_the_commands_are_found() -> None:
    """Also those of a group."""
    assert {"run", "check", "audit verify"} <= set(COMMANDS)
    assert set(WITHOUT_JSON) | set(WRONG) | NEVER_FAILS <= set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_has_an_example(name: str) -> None:
    """One that calls this command, with options that it has; in plain text off a terminal."""
    shown = invoke(*name.split(), "--help")
    assert shown.exit_code == 0
    assert "\x1b" not in shown.output
    text = " ".join(shown.output.split())
    example = re.search(r"Example: (edgeward .+)", text)
    assert example is not None
    assert example[1].startswith(f"edgeward {name}")
    epilog = COMMANDS[name].epilog.partition("\n")[0]
    used = set(re.findall(r"(?<=\s)--?[a-z][\w-]*", epilog))
    assert used <= options(name)
    first = (COMMANDS[name].help or "").strip()
    assert re.match(r"[A-Z].+[.:]", first.splitlines()[0] if first else "")


@pytest.mark.parametrize("name", COMMANDS)
def test_there_is_json_for_scripts(name: str) -> None:
    """Or a reason why not."""
    assert ("--json" in options(name)) is (name not in WITHOUT_JSON)


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in NEVER_FAILS])
def test_an_error_is_told_in_lines(name: str) -> None:
    """On stderr, one line for each problem, without colours and traceback; nothing on stdout."""
    assert "--debug" in options(name)
    more = ["--json"] if "--json" in options(name) else []
    done = invoke(*name.split(), *wrong(name), *more)
    assert done.exit_code == 2, done.output
    lines = done.stderr.splitlines()
    assert lines
    assert all(line.startswith("error: ") for line in lines)
    assert "\x1b" not in done.stderr
    assert "Traceback" not in done.stderr
    assert not done.stdout.strip() or json.loads(done.stdout) is not None


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in NEVER_FAILS])
def test_debug_shows_where_it_comes_from(name: str) -> None:
    """The error itself comes out, with its traceback."""
    done = invoke(*name.split(), *wrong(name), "--debug")
    assert done.exception is not None
    assert not isinstance(done.exception, SystemExit), done.output


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_a_command_line_that_cannot_be_read_is_told_in_one_line(name: str) -> None:
    """With what to do about it."""
    done = invoke(*name.split(), "--no-such-option")
    (line,) = done.stderr.splitlines()
    path = f"edgeward {name}".strip()
    assert line.startswith(f"error: {path}: No such option: --no-such-option")
    assert line.endswith(f"`{path} --help` says what it takes")
    assert done.exit_code == 2


def test_a_choice_that_is_none_is_told_with_those_that_are() -> None:
    """In the user's words, without the name of an exception."""
    (line,) = invoke("schema", "polcy").stderr.splitlines()
    assert "'polcy' is not one of 'policy', 'profile', 'strategy'" in line
    assert "Value error" not in line


def real(*words: str, home: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """The command as a process of its own, with a home of its own."""
    program = "from edgeward.cli.app import app; app(prog_name='edgeward')"
    return subprocess.run(
        [sys.executable, "-c", program, *words],
        env={**os.environ, "HOME": str(home), "TERM": "dumb", **env},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize(
    ("shell", "says"),
    [("bash", "complete -o default -F _edgeward_completion"), ("zsh", "#compdef edgeward")],
)
def test_a_shell_gets_its_script(tmp_path: Path, shell: str, says: str) -> None:
    """On standard output; nothing is written into the user's home."""
    home = tmp_path / "home"
    home.mkdir()
    done = real(home=home, **{COMPLETE: f"source_{shell}"})
    assert done.returncode == 0, done.stderr
    assert says in done.stdout
    assert not list(home.rglob("*"))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("edgeward che", {"check"}),
        ("edgeward check fin", {"finance"}),
        ("edgeward graph ref", {"reflexion"}),
        ("edgeward run exa", {"example"}),
        ("edgeward run example --policy allow", {"allow_all"}),
        ("edgeward run example --strategy plan_and_s", {"plan_and_solve"}),
        ("edgeward audit ver", {"verify"}),
        ("edgeward run example --che", {"--checkpointer"}),
    ],
)
def test_a_shell_completes(tmp_path: Path, line: str, expected: set[str]) -> None:
    """Commands, options, and the names of what is shipped."""
    words = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1)}
    bash = real(home=tmp_path, **{COMPLETE: "complete_bash"}, **words)
    assert set(bash.stdout.split()) == expected
    zsh = real(home=tmp_path, **{COMPLETE: "complete_zsh"}, _TYPER_COMPLETE_ARGS=line)
    assert all(name in zsh.stdout for name in expected)


def test_off_a_terminal_no_bar_is_drawn(tmp_path: Path) -> None:
    """Long work writes to stderr what went wrong, and nothing else."""
    done = real("test", "default", home=tmp_path)
    assert done.returncode == 0, done.stdout
    assert done.stderr == ""
