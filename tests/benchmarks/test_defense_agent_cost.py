"""What Edgeward costs beside DefenseAgent 0.2.0: import, memory, compression, the store.

Both run the same task (so many tool calls, then an answer) by `await agent.run(task)`, of which
neither keeps anything once it is over, with a model and an embedder in their own process that cost
next to nothing. Ours has the guard, and is written down where it stops: it can ask a person.
Lines of ours alone say what a run costs on a thread that is kept (three checkpoints a call), and
without a checkpointer. CPU time, the least of several rounds in turn, of packages that are compiled
as an installed one is. What compression and memory add is the difference to runs without them in
the same process, in turn; how it grows with a run is in the lines of short ones. Nothing here
asserts a time: `pytest -m benchmark -s -n 0`.

DefenseAgent brings torch: give it an environment of its own, and name its interpreter in
`EDGEWARD_DEFENSE_AGENT_PYTHON`. Without that the present environment is looked at.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent / "beside_defense_agent"
THEIRS = os.environ.get("EDGEWARD_DEFENSE_AGENT_PYTHON") or sys.executable
SHORT = os.environ.get("EDGEWARD_BENCH") == "short"
STEPS = 20 if SHORT else 200
ROUNDS = 1 if SHORT else 3
LOOKS_S = 120
RUNS_S = 600


@pytest.fixture(scope="module")
def peer() -> str:
    """An interpreter that has DefenseAgent."""
    if not Path("/proc/self/status").exists():
        pytest.skip("memory is read from /proc, which this system does not have")
    looks = "import importlib.util as u; print(u.find_spec('DefenseAgent') is not None)"
    try:
        done = subprocess.run(
            [THEIRS, "-c", looks], capture_output=True, text=True, timeout=LOOKS_S, check=False
        )
    except OSError as error:
        pytest.skip(f"EDGEWARD_DEFENSE_AGENT_PYTHON cannot be run ({error})")
    if done.stdout.strip() != "True":
        pytest.skip(
            "DefenseAgent is not installed: python -m venv theirs && theirs/bin/pip install "
            "'defense-agent[memory]==0.2.0' (2.4 GB with a CPU build of torch), then set "
            "EDGEWARD_DEFENSE_AGENT_PYTHON=theirs/bin/python"
        )
    return THEIRS


def told(python: str, script: str, measure: str, folder: Path) -> dict[str, float]:
    """What a fresh process measured."""
    folder.mkdir()
    compiled = {**os.environ, "PYTHONPYCACHEPREFIX": str(folder.parent / "compiled")}
    compiled.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        [python, str(HERE / script), measure, str(STEPS), str(folder)],
        env=compiled,
        capture_output=True,
        text=True,
        timeout=RUNS_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    found: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def least(rounds: list[dict[str, float]]) -> dict[str, float]:
    """The least of each figure."""
    return {name: min(one[name] for one in rounds) for name in rounds[0]}


@pytest.mark.benchmark
def test_beside_defense_agent(peer: str, tmp_path: Path) -> None:
    """In one run, in turn: what each costs, and how many times as much theirs costs."""
    rounds: dict[tuple[str, str], list[dict[str, float]]] = {}
    for number in range(ROUNDS):
        for measure in ("plain", "compression", "memory"):
            for python, script in ((peer, "theirs.py"), (sys.executable, "ours.py")):
                folder = tmp_path / f"{number}_{measure}_{script}"
                found = told(python, script, measure, folder)
                rounds.setdefault((script, measure), []).append(found)
    theirs, ours = ({m: least(rounds[s, m]) for m in ("plain", "compression", "memory")}
                    for s in ("theirs.py", "ours.py"))  # fmt: skip
    print()
    bare, first, second = ours["plain"], theirs["plain"], ours["plain"]
    line("import of the package", first["import_s"] * 1e3, bare["bare_s"] * 1e3, "ms")
    line("import of the agents", first["import_s"] * 1e3, second["import_s"] * 1e3, "ms")
    first_agent = [1e3 * (side["import_s"] + side["built_s"]) for side in (first, second)]
    line("import and a first agent", *first_agent, "ms")
    line("RSS after the first", first["imported_mb"], bare["bare_mb"], "MB")
    line("RSS after the second", first["imported_mb"], second["imported_mb"], "MB")
    for measure in ("plain", "compression", "memory"):
        line(f"a step, {measure}", theirs[measure]["cpu_ms"], ours[measure]["cpu_ms"], "ms CPU")
        for way, what in (("named", "on a kept thread"), ("unkept", "no checkpointer")):
            if way == "unkept" and measure == "memory":
                continue  # a run is remembered by its thread
            print(f"  ours, {what:<24} {'':>24} ours {ours[measure][f'{way}_cpu_ms']:>9.2f} ms CPU")
        short = [side[measure]["short_cpu_ms"] for side in (theirs, ours)]
        line(f"  in a run of {STEPS // 10}", *short, "ms CPU")
    for measure in ("compression", "memory"):
        more = [side[measure]["cpu_ms"] - side[measure]["base_cpu_ms"] for side in (theirs, ours)]
        line(f"what {measure} adds to a step", *more, "ms CPU")
    line("RSS of a run with memory", theirs["memory"]["rss_mb"], ours["memory"]["rss_mb"], "MB")
    assert all(side[m]["cpu_ms"] > 0 for side in (theirs, ours) for m in side)


def line(what: str, theirs: float, ours: float, unit: str) -> None:
    """One row: theirs, ours, and the ratio."""
    ratio = f"{theirs / ours:.1f} times" if ours > 0 else "ours is within the noise"
    print(f"{what:<32} theirs {theirs:>9.2f} {unit:<6} ours {ours:>9.2f} {unit:<6} {ratio}")
