"""A process that is killed in the middle of a turn: what had finished is not done again (C44)."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PATIENCE_S = 60

PROCESS = """
    import asyncio, json, os, sys, time
    from pathlib import Path
    from tests.fakes import agent_graph, answers, ask, on, turn

    folder, mode, durability = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    resumed = (folder / "killed").exists()

    def pay(what: str) -> str:
        \"\"\"Pays, and writes that down.\"\"\"
        if what == "hang":
            with open(folder / "hangs", "a") as file:
                file.write(".")
            while not resumed:
                time.sleep(0.05)
        with open(folder / f"paid-{what}", "a") as file:
            file.write(".")
        return f"paid {what}"

    calls = turn(*[("pay", {"what": w}, f"c-{w}") for w in ("a", "hang", "b")])
    graph = agent_graph([calls, "done"], tools=[pay], checkpointer=folder / "t.sqlite")
    given = None if resumed else ask()
    if mode == "sync":
        result = graph.invoke(given, on(), durability=durability)
    else:
        result = asyncio.run(graph.ainvoke(given, on(), durability=durability))
    print(json.dumps([answers(result["messages"]), result["messages"][-1].text]))
"""


def start(folder: Path, mode: str, durability: str) -> subprocess.Popen[str]:
    code = [sys.executable, "-c", textwrap.dedent(PROCESS), str(folder), mode, durability]
    return subprocess.Popen(code, stdout=subprocess.PIPE, text=True, cwd=ROOT)


def wait_for(*paths: Path) -> None:
    """Wait until these files are there."""
    until = time.monotonic() + PATIENCE_S
    while not all(path.exists() for path in paths):
        assert time.monotonic() < until, f"none of {paths}"
        time.sleep(0.02)


@pytest.mark.parametrize(("mode", "durability"), [("sync", "sync"), ("async", "async")])
def test_killed_in_the_middle_of_a_turn(mode: str, durability: str, tmp_path: Path) -> None:
    """Of three parallel calls one hangs; killed and resumed, the other two have run once."""
    process = start(tmp_path, mode, durability)
    try:
        wait_for(tmp_path / "paid-a", tmp_path / "paid-b", tmp_path / "hangs")
        stored(tmp_path / "t.sqlite", 2)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
    (tmp_path / "killed").touch()
    output, _ = start(tmp_path, mode, durability).communicate(timeout=PATIENCE_S)
    found, last = json.loads(output)
    assert found == [["c-a", "paid a"], ["c-hang", "paid hang"], ["c-b", "paid b"]]
    assert last == "done"
    assert (tmp_path / "paid-a").read_text() == "."
    assert (tmp_path / "paid-b").read_text() == "."
    assert (tmp_path / "hangs").read_text() == ".."


def stored(path: Path, calls: int) -> None:
    """Wait until the answers of so many calls are in the file of threads."""
    until = time.monotonic() + PATIENCE_S
    query = "SELECT count(*) FROM writes WHERE channel='messages' AND task_path LIKE '%push%'"
    with sqlite3.connect(path, timeout=PATIENCE_S) as connection:
        while connection.execute(query).fetchone()[0] < calls:
            assert time.monotonic() < until, "the finished calls were not stored"
            time.sleep(0.02)
