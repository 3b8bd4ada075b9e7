"""`edgeward attack`: the replay on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from edgeward.cli.app import app

KEYS = {"utility", "utility_unattended", "questions", "attack_success", "harm", "autonomy"}


def ran(*arguments: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of `edgeward attack`."""
    done = CliRunner().invoke(app, ["attack", *arguments])
    return done.exit_code, done.stdout, done.stderr


def test_the_figures_as_json() -> None:
    """Each suite and all of them, with the figures that a policy is measured by."""
    code, out, _ = ran("--suites", "banking", "--no-goals", "--json")
    assert code == 0
    found = json.loads(out)
    assert list(found) == ["banking", "all"]
    assert set(found["all"]) >= KEYS
    assert found["banking"]["utility"] == found["banking"]["tasks"] == 16
    assert found["banking"]["attack_success"] == found["banking"]["harm"] == 0.0


def test_a_policy_of_ones_own(tmp_path: Path) -> None:
    """A folder with a policy a suite: what asks before every effect does little by itself."""
    rules = 'version: 2\ndefault: ask\ntools: {"get_*": allow, read_file: allow}\n'
    (tmp_path / "banking.yaml").write_text(rules)
    code, out, _ = ran("--suites", "banking", "--no-goals", "--policies", str(tmp_path))
    assert code == 0
    rows = {line.split()[0]: line.split()[1:] for line in out.splitlines() if line.split()}
    assert rows["utility"] == ["16/16", "16/16"]
    assert rows["autonomy"][0] == "0.0"
    assert rows["attack_success"][0] == "0.0"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("--suites", "bank"), "--suites: no suite bank; banking, slack, travel, workspace"),
        (("--suites", ","), "--suites: no suite named; banking"),
        (("--suites", "slack", "--policies", "nowhere"), "nowhere/slack.yaml: there is no such"),
    ],
)
def test_what_is_wrong_is_said(arguments: tuple[str, ...], line: str) -> None:
    """One line, and the exit code for what can be put right."""
    code, out, err = ran(*arguments)
    assert (code, out) == (2, "")
    assert line in err
