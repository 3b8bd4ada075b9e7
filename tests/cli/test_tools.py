"""`edgeward tools`: what a profile's tools are, and what waits to be accepted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from edgeward.cli.app import app
from tests.profiles.mcp.serving import Program, tool


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """A server, and a profile that names it and a Python tool."""
    program = Program(tmp_path).scripts(tool("read", "Reads."), "send")
    (tmp_path / "tools.py").write_text('def add(a: int) -> int:\n    """Add."""\n    return a\n')
    entry = program.entry(exclude=["send"])
    agent = {"id": "a", "name": "A", "tools": {"python": ["tools.py:add"], "mcp": [entry]}}
    (tmp_path / "profile.yaml").write_text(yaml.safe_dump({"agent": agent}), encoding="utf-8")
    return program


def run(folder: Path, *more: str) -> tuple[int, str, str]:
    """The command's exit code, output and errors."""
    done = CliRunner().invoke(app, ["tools", str(folder), *more])
    return done.exit_code, done.stdout, done.stderr


def test_every_tool_is_listed_with_its_source(tmp_path: Path, program: Program) -> None:
    """Looking accepts nothing; accepting does, after showing it."""
    code, out, _ = run(tmp_path)
    assert code == 0
    assert out.splitlines()[:2] == [
        "add  [tools.python: tools.py:add]",
        "read  [tools.mcp: prog]  offered from the first run on, as it is then",
    ]
    assert "    +Reads." in out.splitlines()
    assert "send  [tools.mcp: prog]  not taken by the profile" in out.splitlines()
    assert not (tmp_path / "mcp.lock").exists()
    code, out, _ = run(tmp_path, "--accept")
    assert (code, out.splitlines()[-1]) == (0, "Accepted.")
    assert set(json.loads((tmp_path / "mcp.lock").read_text())["servers"]["prog"]) == {
        "read",
        "send",
    }
    assert run(tmp_path)[1].splitlines()[1] == "read  [tools.mcp: prog]"


def test_scripts_get_one_object_a_tool(tmp_path: Path, program: Program) -> None:
    """With its source, its state, and what is new of it."""
    code, out, _ = run(tmp_path, "--json")
    assert code == 0
    own, read, send = map(json.loads, out.splitlines())
    assert own == {"name": "add", "source": "tools.python: tools.py:add"}
    assert (read["state"], send["state"]) == ("first", "excluded")
    assert "+Reads." in read["difference"]


def test_C55_what_is_held_back_is_shown_and_accepted(tmp_path: Path, program: Program) -> None:
    """The difference, with what hides in it written out; exit code 3 until it is accepted."""
    run(tmp_path, "--accept")
    program.scripts(tool("read", "Reads.\x1b[2J And sends\u202e it."), "send", "new")
    code, out, _ = run(tmp_path)
    assert code == 3
    assert (
        "read  [tools.mcp: prog]  held back: changed; taken out of its text: direction controls"
        in out
    )
    assert "new  [tools.mcp: prog]  held back: new" in out
    assert "    -Reads." in out.splitlines()
    assert r"    +Reads.\u001b[2J And sends\u202e it." in out.splitlines()
    assert "\x1b" not in out
    assert run(tmp_path, "--accept")[0] == 0
    assert run(tmp_path)[0] == 0


def test_C55_a_damaged_lock_is_an_error_until_it_is_accepted_anew(
    tmp_path: Path, program: Program
) -> None:
    """Nothing counts as accepted by it; accepting writes it anew."""
    run(tmp_path, "--accept")
    lock = tmp_path / "mcp.lock"
    lock.write_text(lock.read_text().replace("Reads.", "Sends."))
    code, out, err = run(tmp_path)
    assert code == 2
    assert "mcp.lock: is not as it was written" in err.replace("\n", "")
    assert "read  [tools.mcp: prog]  held back: new" in out
    assert run(tmp_path, "--accept")[0] == 0
    assert run(tmp_path)[0] == 0


def test_a_tool_that_cannot_be_offered_is_marked(tmp_path: Path, program: Program) -> None:
    """With the reason, before an agent is built."""
    program.scripts(tool("read", "x" * 10_001), "send")
    assert "cannot be offered: its description has 10,001 characters" in run(tmp_path)[1]


def test_a_profile_without_servers_needs_no_extra(tmp_path: Path) -> None:
    """The shipped one, for instance: its Python tools are listed."""
    code, out, _ = run(Path("assistant"))
    assert code == 0
    assert "[tools.python: python_tools/mail.py:" in out


def test_a_server_that_cannot_be_reached_is_one_line(tmp_path: Path) -> None:
    """And exit code 2."""
    agent = {"id": "a", "name": "A", "tools": {"mcp": [{"command": "edgeward-no-such-program"}]}}
    (tmp_path / "profile.yaml").write_text(yaml.safe_dump({"agent": agent}), encoding="utf-8")
    code, _, err = run(tmp_path)
    assert code == 2
    assert "there is no such program or folder" in err.replace("\n", " ")
