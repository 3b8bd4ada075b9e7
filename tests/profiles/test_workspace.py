"""The folder that a run works in: who chooses it, and how it comes to be."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from edgeward.profiles.workspace import VARIABLE, copy_seed, use_workspace, workspace


@pytest.fixture
def seed(tmp_path: Path) -> Path:
    folder = tmp_path / "seed"
    (folder / "inbox").mkdir(parents=True)
    (folder / "inbox" / "one.eml").write_text("hello")
    return folder


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)


def test_without_a_choice_it_lies_below_the_current_directory(seed: Path, tmp_path: Path) -> None:
    """Nothing chosen: `<name>-workspace` here, created from the seed."""
    folder = workspace("assistant", seed=seed)
    assert folder == tmp_path / "assistant-workspace"
    assert (folder / "inbox" / "one.eml").read_text() == "hello"


def test_the_environment_variable_chooses(
    seed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """EDGEWARD_WORKSPACE beats the default; a blank value counts as unset."""
    monkeypatch.setenv(VARIABLE, str(tmp_path / "deep" / "place"))
    assert workspace("assistant", seed=seed) == tmp_path / "deep" / "place"
    monkeypatch.setenv(VARIABLE, "  ")
    assert workspace("assistant", seed=seed) == tmp_path / "assistant-workspace"


def test_the_enclosing_block_beats_the_environment(
    seed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`use_workspace` holds inside its block and nowhere else."""
    monkeypatch.setenv(VARIABLE, str(tmp_path / "other"))
    with use_workspace(tmp_path / "mine") as mine:
        assert workspace("assistant", seed=seed) == mine
    assert workspace("assistant", seed=seed) == tmp_path / "other"


def test_a_folder_that_is_there_stays_as_it_is(seed: Path, tmp_path: Path) -> None:
    """The seed never overwrites what a run has left."""
    (tmp_path / "mine").mkdir()
    copy_seed(seed, to=tmp_path / "mine" / "inner")
    (tmp_path / "mine" / "inner" / "inbox" / "one.eml").write_text("changed")
    copy_seed(seed, to=tmp_path / "mine" / "inner")
    assert (tmp_path / "mine" / "inner" / "inbox" / "one.eml").read_text() == "changed"
    with use_workspace(tmp_path / "mine"):
        assert list(workspace("assistant", seed=seed).iterdir()) == [tmp_path / "mine" / "inner"]


def test_tools_that_start_side_by_side_get_one_whole_folder(seed: Path, tmp_path: Path) -> None:
    """First use by many threads at once: one folder, nothing left beside it."""
    for number in range(50):
        (seed / f"{number}.txt").write_text("x" * 100)

    def look(_: int) -> int:
        return sum(1 for _ in workspace("assistant", seed=seed).iterdir())

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(look, range(8))) == {51}
    assert sorted(p.name for p in tmp_path.iterdir()) == ["assistant-workspace", "seed"]


def test_a_missing_seed_is_an_error(tmp_path: Path) -> None:
    """Neither folder nor seed: the run fails instead of working on nothing."""
    with pytest.raises(FileNotFoundError):
        workspace("assistant", seed=tmp_path / "nowhere")
