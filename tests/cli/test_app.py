"""The command line as a whole: help, version, speed of loading, colours, completion."""

from __future__ import annotations

import subprocess
import sys

from .conftest import Bundle, Invoke, Open

COMMANDS = ("demo", "run", "chat", "graph", "index")
HEAVY = ("langgraph", "langchain_core", "pydantic", "openai", "anthropic", "yaml")


def test_the_help_names_every_command(invoke: Invoke) -> None:
    """And a bare `edgeward` shows it."""
    text = invoke("--help").stdout
    for command in COMMANDS:
        assert f" {command} " in text
    assert " demo " in invoke().output


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
