"""What the shell makes of a command line is what command rules see."""

from __future__ import annotations

import pytest

from edgeward.guards.shell import shell_views


@pytest.mark.parametrize(
    "text",
    ["rm${IFS}-rf${IFS}/srv", 'r""m -rf /srv', "echo ok\nrm -rf /srv", "$'\\162m' -rf /srv",
     "r\\m -rf /srv", "'rm' -rf /srv", '"rm" "-rf" /srv', "{rm,-rf,/srv}", "rm$IFS-rf$IFS/srv",
     "r$@m -rf /srv", "rm \\\n-rf /srv", "rm\t-rf  /srv;", "a && rm -rf /srv", "a|rm -rf /srv",
     "$(echo rm) -rf /srv", "r`printf 'm'` -rf /srv", "x=rm y='/srv'; $x -rf ${y}; x=ls",
     "$'\\x72\\u006d' -rf /srv", "$'r\\m' -rf /srv", "rm${IFS%??}-rf /srv", "$'rm\\t-rf' /srv"],
)  # fmt: skip
def test_disguise(text: str) -> None:
    """Quotes, escapes, IFS, ANSI-C strings, braces and chains hide no command."""
    assert "rm -rf /srv" in shell_views(text)


@pytest.mark.parametrize("text", ["ls -la", "echo hello", ""])
def test_plain_command_has_no_other_view(text: str) -> None:
    """Without a sign that the shell acts on there is nothing more to see."""
    assert shell_views(text) == []


def test_lookalike_variables() -> None:
    """A longer variable name is not IFS; an escape beyond Unicode vanishes."""
    assert "echo $IFSTREAM" in shell_views('echo "$IFSTREAM"')
    assert "x" in shell_views("x$'\\U99999999'")


def test_many_commands_end() -> None:
    """Commands of one text are looked at up to a bound."""
    assert len(shell_views(";".join(f"c{i}" for i in range(5_000)))) <= 2_001
