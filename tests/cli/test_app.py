"""The command line as a whole: help, version, speed of loading, colours, completion."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import Bundle, Invoke, Open

COMMANDS = ("demo", "run", "chat", "graph", "index")
HEAVY = ("langgraph", "langchain_core", "pydantic", "openai", "anthropic", "yaml")


def test_the_help_names_every_command(invoke: Invoke) -> None:
    """And a bare `edgeward` shows it, once."""
    text = invoke("--help").stdout
    for command in COMMANDS:
        assert f" {command} " in text
    bare = invoke().output
    assert " demo " in bare
    assert bare.count(" Usage: ") == 1


def test_the_version_is_shown(invoke: Invoke) -> None:
    """As the package's metadata have it."""
    assert invoke("--version").stdout.startswith("edgeward ")


def test_the_help_loads_nothing_heavy() -> None:
    """`edgeward --help` answers at once: no graph library, no model library, no YAML."""
    code = (
        "import sys\nfrom edgeward.cli.app import app\n"
        "try:\n    app(['--help'])\nexcept SystemExit:\n    pass\n"
        f"print('HEAVY', [m for m in {HEAVY!r} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.rstrip().endswith("HEAVY []")


def test_a_pipe_gets_no_colours_and_a_terminal_does(bundle: Bundle, terminal: Open) -> None:
    """Unless NO_COLOR is set."""
    command = ["run", *bundle.options, 'note(text="x")']
    coloured = terminal(command, TERM="xterm-256color", NO_COLOR="")
    plain = terminal(command, TERM="xterm-256color", NO_COLOR="1")
    assert (coloured.end(), plain.end()) == (0, 0)
    assert "\x1b[32m" in coloured.text
    assert "\x1b[32m" not in plain.text


def test_long_work_shows_how_far_it_is(terminal: Open) -> None:
    """On a terminal, and the bar is gone when it is done."""
    shown = terminal(["test", "default"], TERM="xterm-256color", COLUMNS="80")
    shown.end()
    assert "rules" in shown.text.partition("cases pass")[0]
    assert "\x1b[2K" in shown.text


def test_a_comparison_gives_a_sign_of_life(terminal: Open) -> None:
    """Nobody knows how long it takes; on a terminal it is said what is being done."""
    shown = terminal(["diff", "default", "read_only"], TERM="xterm-256color", COLUMNS="80")
    shown.end()
    assert "comparing the policies" in shown.text.partition("not decided")[0]


@pytest.mark.parametrize("closed", ["0<&-", "1>&-", "2>&-"])
def test_a_stream_that_is_closed_is_an_empty_one(closed: str, tmp_path: Path) -> None:
    """Services and cron start commands so: nobody is asked, nothing is shown, and all goes on."""
    command = f'{sys.executable} -m edgeward run "$@" {closed}'
    bundle = Bundle(tmp_path)
    done = subprocess.run(
        ["sh", "-c", command, "sh", *bundle.options, 'note(text="x")'],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert bundle.done == ["note x"]
    assert ("noted x" in done.stdout) == (closed != "1>&-")


def test_ctrl_c_before_a_command_begins_is_quiet() -> None:
    """As later: no traceback, and the exit code of what was stopped."""
    code = (
        "import sys\n"
        "class Stopping:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'edgeward.cli.app':\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Stopping())\n"
        "from edgeward.cli import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_completion_that_cannot_be_installed_is_one_line(tmp_path: Path) -> None:
    """Where the home folder cannot be written to: no option ends in a traceback."""
    home = tmp_path / "home"
    home.write_text("no folder")
    env = {"HOME": str(home), "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "edgeward", "--install-completion", "bash"],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: {home}")
    assert done.stderr.count("\n") == 1
