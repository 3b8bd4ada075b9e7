"""A pipe that is named on the command line is read as a file is: whole, as often as is needed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from edgeward.cli.pipes import keep_pipes

POLICY = "version: 2\ntools: {read: alow}\n"


def test_a_pipe_becomes_a_file_of_the_same_name(tmp_path: Path) -> None:
    """It can be read twice; what is a file, or no path, stays as it is."""
    file = tmp_path / "file"
    file.write_text("file")
    read, write = os.pipe()
    os.write(write, b"one\ntwo\n")
    os.close(write)
    path = f"/dev/fd/{read}"
    keep_pipes([str(file), f"--policy={path}", "/dev/null", "/dev/nothing", '{"a": "b=c"}', ""])
    assert [Path(path).read_bytes() for _ in range(2)] == [b"one\ntwo\n"] * 2
    assert Path(path).is_file()
    assert file.read_text() == "file"
    os.close(read)


@pytest.mark.parametrize(
    ("command", "shown", "code"),
    [
        (["lint", "/dev/stdin"], "/dev/stdin:2: tools.read: is alow", 1),
        (["diff", "/dev/stdin", "default"], "/dev/stdin:2: tools.read: is alow", 2),
    ],
)
def test_commands_that_read_twice(command: list[str], shown: str, code: int) -> None:
    """The name that was given stands in what is said, with the line."""
    done = subprocess.run(
        [sys.executable, "-m", "edgeward", *command],
        input=POLICY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert shown in done.stdout + done.stderr
    assert done.returncode == code


def test_a_pipe_that_is_written_to_stays_a_pipe() -> None:
    """`edgeward graph react -o /dev/stdout --force -f ascii | less` shows what it writes."""
    command = ["graph", "react", "-o", "/dev/stdout", "--force", "--format", "ascii"]
    done = subprocess.run(
        [sys.executable, "-m", "edgeward", *command],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stderr, done.returncode) == ("", 0)
    assert "guard" in done.stdout
