"""Errors: one line a problem on stderr, the right exit code, no traceback, no secret."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import typer
from pydantic import BaseModel, ValidationError

from edgeward.cli.failures import exit_code, lines_of, reported
from tests.wire.server import Fail, Wire, wire

from .conftest import Bundle, Invoke

__all__ = ["wire"]

KEY = "sk-abcdefghijklmnopqrstuvwxyz0123456789"


def test_a_bad_profile_is_one_line_a_problem(bundle: Bundle, invoke: Invoke) -> None:
    """Every problem at once, each with its place."""
    bundle.profile.write_text(
        "agent:\n  id: x\n  nmae: y\n  cognitive: {max_steps_per_cycle: -1}\n"
    )
    result = invoke("run", *bundle.options, "task")
    assert result.exit_code == 2
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert len(lines) == 3
    assert all(line.startswith("error: ") for line in lines)
    assert "profile.yaml:3" in result.stderr
    assert "Traceback" not in result.stderr


def test_debug_shows_the_traceback(bundle: Bundle, invoke: Invoke) -> None:
    """The error comes through as it is."""
    result = invoke("run", bundle.folder / "nowhere.yaml", "task", "--debug")
    assert result.exit_code == 1
    assert isinstance(result.exception, ValueError)


@pytest.mark.skipif(sys.platform == "win32", reason="such a folder cannot be deleted")
def test_a_folder_that_is_gone_is_said_to_be(bundle: Bundle, tmp_path: Path) -> None:
    """The program was started in a folder that somebody has deleted since."""
    started = "import os, sys; os.rmdir(os.getcwd()); from edgeward.cli.app import app; app()"
    (tmp_path / "gone").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", started, "run", bundle.profile, "task"],
        cwd=tmp_path / "gone",
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: the current folder is gone; change to one that exists\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["run", "assistant"], "give a task, or --thread"),
        (["run", "nowhere.yaml", "task"], "nowhere.yaml"),
        (["run", "assistant", "task", "--model", "opnai:x"], "did you mean openai?"),
        (["run", "assistant", "task", "--checkpointer", "nope"], "memory, sqlite"),
        (["run", "assistant", "task", "--strategy", "recat"], "recat"),
        (["chat", "nowhere"], "nowhere"),
        (["graph", "nowhere.yaml"], "nowhere.yaml"),
    ],
)
def test_what_the_user_can_put_right_is_exit_code_2(
    arguments: list[str], says: str, invoke: Invoke
) -> None:
    """One line that says what is wrong."""
    model = [] if "--model" in arguments or arguments[0] == "graph" else ["-m", "scripted:obedient"]
    result = invoke(*arguments, *model)
    assert result.exit_code == 2
    assert says in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_provider_that_refuses_is_one_line_and_exit_code_1(
    wire: Wire, bundle: Bundle, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the key, even where the provider repeats it; the thread can be gone on with."""
    wire.script(Fail(401, f"the key {KEY} is not known"))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", wire.openai_url)
    options = [str(bundle.profile), "--policy", str(bundle.policy), "--model", "openai:m"]
    result = invoke("run", *options, "task")
    assert result.exit_code == 1
    error = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    assert len(error) == 1
    assert "401" in error[0]
    assert KEY not in result.output
    assert "the run broke off; to go on:  edgeward run" in result.stderr


def test_an_unexpected_error_is_one_line() -> None:
    """Its type and its first line; control characters are shown as escapes."""
    with pytest.raises(typer.Exit) as stopped, reported(debug=False):
        raise RuntimeError("a\x1b[2J\nmore")
    assert stopped.value.exit_code == 1
    assert lines_of(RuntimeError("one\ntwo")) == ["RuntimeError: one"]
    assert lines_of(KeyError()) == ["KeyError: "]
    assert lines_of(ValueError()) == ["ValueError"]


def test_a_validation_error_is_told_without_its_values() -> None:
    """What did not fit may have been a secret."""

    class Settings(BaseModel):
        port: int

    with pytest.raises(ValidationError) as caught:
        Settings(port=KEY)  # type: ignore[arg-type]
    (line,) = lines_of(caught.value)
    assert line.startswith("port: ")
    assert KEY not in line
    assert exit_code(caught.value) == 2


def test_a_file_that_is_no_database_is_one_line(
    tmp_path: Path, bundle: Bundle, invoke: Invoke
) -> None:
    """A wrong path for the checkpointer does not end in a traceback."""
    file = tmp_path / "bad.sqlite"
    file.write_text("this is no database, however long one looks at it")
    result = invoke("run", *bundle.options, "task", "--checkpointer", file)
    assert result.exit_code != 0
    assert "not a database" in result.stderr


@pytest.mark.parametrize(
    ("missing", "command", "extra"),
    [
        ("agentdojo.task_suite.load_suites", ["attack", "--suites", "banking"], "attacks"),
        (
            "langgraph.checkpoint.postgres",
            ["run", "assistant", "task", "-m", "scripted", "--checkpointer", "postgresql://h/d"],
            "postgres",
        ),
    ],
)
def test_a_missing_extra_is_told_with_its_command(
    missing: str, command: list[str], extra: str, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And without the name of Python's exception."""
    monkeypatch.setitem(sys.modules, missing, None)
    result = invoke(*command)
    assert result.exit_code == 2
    assert f"pip install 'edgeward[{extra}]'" in result.stderr
    assert "Error:" not in result.stderr


def test_what_a_library_logs_steers_no_terminal() -> None:
    """Its line quotes what it was given: a file, or what a server sent."""
    code = (
        "import logging\n"
        "from edgeward.cli.failures import reported\n"
        "with reported(debug=False):\n"
        f"    logging.getLogger('library').warning('found %s', '\\x1b[2J {KEY}\\nmore')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "found \\x1b[2J [REDACTED:openai_key]\nmore\n"


def test_a_path_that_can_be_none_is_wrong_and_no_fault(invoke: Invoke) -> None:
    """One that is too long for the system: the user can put it right."""
    for command in (["lint"], ["audit", "verify"], ["show"], ["report"]):
        result = invoke(*command, "x" * 5_000)
        assert result.exit_code == 2, result.output
        (line,) = result.stderr.splitlines()
        assert line.startswith("error: ")
