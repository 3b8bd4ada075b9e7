"""`edgeward init`: what it writes lints clean, passes its own cases, and runs."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from edgeward import AgentConfig, ReActAgent, load_strategy
from edgeward.profiles.scripted import ScriptedModel, call

from .conftest import Invoke


def test_a_policy(tmp_path: Path, invoke: Invoke) -> None:
    """With cases beside it that pass; no rule is suspicious."""
    folder = tmp_path / "new" / "place"
    result = invoke("init", "policy", folder)
    assert result.exit_code == 0, result.output
    assert f"Next:  edgeward lint {folder.as_posix()}/policy.yaml && " in result.stdout
    assert invoke("lint", folder / "policy.yaml").exit_code == 0
    tested = invoke("test", folder / "policy.yaml")
    assert tested.exit_code == 0
    assert tested.stdout == "8 of 8 cases pass; 0 rules that none would miss\n"


def test_a_profile(tmp_path: Path, invoke: Invoke) -> None:
    """With tools and a policy that fit each other; a task runs."""
    assert invoke("init", "profile", tmp_path).exit_code == 0
    linted = invoke("lint", tmp_path / "policy.yaml", tmp_path / "profile.yaml")
    assert linted.stdout == "2 files, 0 problems\n"
    model = ScriptedModel(turns=[call("add_note", text="The rent is due."), "Noted."])
    config = AgentConfig(
        profile=tmp_path / "profile.yaml", policy=tmp_path / "policy.yaml", llm=model
    )
    with ReActAgent(config) as agent:
        assert agent.run_sync("Note that the rent is due.").final_answer == "Noted."
    assert (tmp_path / "notes.txt").read_text() == "The rent is due.\n"


def test_a_strategy(tmp_path: Path, invoke: Invoke) -> None:
    """It keeps the invariants, and can be drawn."""
    assert invoke("init", "strategy", tmp_path).exit_code == 0
    assert load_strategy(tmp_path / "strategy.yaml").nodes
    assert invoke("lint", tmp_path / "strategy.yaml").exit_code == 0
    assert "critic" in invoke("graph", tmp_path / "strategy.yaml").stdout


@pytest.mark.parametrize("kind", ["policy", "profile", "strategy"])
def test_every_starter_has_the_schema_that_it_names(
    tmp_path: Path, invoke: Invoke, kind: str
) -> None:
    """So that an editor completes it at once."""
    invoke("init", kind, tmp_path)
    text = (tmp_path / f"{kind}.yaml").read_text(encoding="utf-8")
    named = text.splitlines()[0].rpartition("$schema=")[2]
    assert (tmp_path / named).is_file()


@pytest.mark.parametrize("kind", ["policy", "profile", "strategy"])
def test_what_it_says_to_do_next_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, invoke: Invoke, kind: str
) -> None:
    """Word by word, without a key, also where the folder's name has a blank in it."""
    monkeypatch.chdir(tmp_path)
    said = invoke("init", kind, "my files").stdout
    (line,) = [line for line in said.splitlines() if line.startswith("Next:  ")]
    for command in line.removeprefix("Next:  ").split(" && "):
        name, *words = shlex.split(command)
        assert name == "edgeward"
        done = invoke(*words)
        assert done.exit_code == 0, done.output
    if kind == "profile":
        assert (tmp_path / "my files" / "notes.txt").read_text() == "The rent is due.\n"
        assert "with a key:  edgeward run 'my files' \"Note" in said


def test_nothing_is_overwritten(tmp_path: Path, invoke: Invoke) -> None:
    """One file that is there stops all of it."""
    (tmp_path / "policy.yaml").write_text("mine")
    result = invoke("init", "policy", tmp_path)
    assert result.exit_code == 2
    assert "policy.yaml is there already; name another folder" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["policy.yaml"]


def test_where_much_is_there_already(tmp_path: Path, invoke: Invoke) -> None:
    """One file is named, and how many more: the line can be read."""
    invoke("init", "strategy", tmp_path)
    (line,) = invoke("init", "strategy", tmp_path).stderr.splitlines()
    assert line.endswith(": strategy.schema.json and 1 more are there already; name another folder")


def test_a_file_is_no_folder(tmp_path: Path, invoke: Invoke) -> None:
    """It is said so."""
    (tmp_path / "a").write_text("")
    result = invoke("init", "policy", tmp_path / "a")
    assert result.exit_code == 2
    assert result.stderr.endswith("a: is no folder; name another one\n")
