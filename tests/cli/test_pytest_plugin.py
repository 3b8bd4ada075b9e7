"""The pytest plugin: a user's own pytest runs the cases beside their policies."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CONFIG = "[tool.pytest.ini_options]\nedgeward_policies = ['policies/*.yaml']\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a policy and two cases, of which one fails."""
    (tmp_path / "pyproject.toml").write_text(CONFIG)
    for name, text in (
        ("policies/clerk.yaml", "version: 2\ntools:\n  read: allow\n"),
        ("policies/clerk/allow/reading_is_free.yaml", "tool: read\n"),
        ("policies/clerk/allow/writing_is_free.yaml", "tool: write\n"),
        ("elsewhere/other.yaml", "not: a policy\n"),
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def run(project: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Pytest as a user runs it."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
    )


def test_each_case_is_a_test(project: Path) -> None:
    """Named by its folder and file; what fails says what the policy said."""
    done = run(project, "-v")
    assert "policies/clerk.yaml::allow::reading_is_free PASSED" in done.stdout
    assert "policies/clerk.yaml::allow::writing_is_free FAILED" in done.stdout
    assert "expected allow, got block" in done.stdout
    assert "tool 'write' is not on the allowlist" in done.stdout
    assert "1 failed, 1 passed" in done.stdout


def test_a_policy_that_cannot_be_loaded_is_an_error(project: Path) -> None:
    """With the file's line; it does not pass for want of cases."""
    (project / "policies/clerk.yaml").write_text("version: 2\ntols: {}\n")
    done = run(project)
    assert done.returncode != 0
    assert "clerk.yaml:2: tols: unknown key" in done.stdout


def test_a_setting_that_names_no_file_is_an_error(project: Path) -> None:
    """It does not pass for want of policies."""
    (project / "pyproject.toml").write_text(CONFIG.replace("policies/*", "policy/*"))
    done = run(project)
    assert done.returncode == 4
    assert "edgeward_policies: policy/*.yaml names no file" in done.stderr


def test_policies_and_cases_in_folders_of_folders(project: Path) -> None:
    """`**` is any folder; a case below `allow/` is expected to be allowed, however deep."""
    (project / "pyproject.toml").write_text(CONFIG.replace("policies/*", "**/clerk"))
    below = project / "policies/clerk/allow/more"
    below.mkdir()
    (below / "listing_is_free.yaml").write_text("tool: list\n")
    done = run(project, "-v")
    assert "policies/clerk.yaml::allow::more/listing_is_free FAILED" in done.stdout
    assert "expected allow, got block" in done.stdout
    assert "2 failed, 1 passed" in done.stdout


def test_without_the_setting_nothing_is_collected(project: Path) -> None:
    """And nothing of Edgeward's is loaded but the plugin."""
    (project / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    (project / "test_x.py").write_text(
        "import sys\ndef test_x():\n    assert 'edgeward.guards' not in sys.modules\n"
    )
    assert "1 passed" in run(project).stdout


def test_rules_in_shadow_are_tested_as_if_enforced(project: Path) -> None:
    """A policy that is tried out keeps its tests."""
    policy = project / "policies/clerk.yaml"
    policy.write_text(f"{policy.read_text()}mode: shadow\n", encoding="utf-8")
    assert "1 failed, 1 passed" in run(project).stdout


@pytest.mark.parametrize("workers", ["0", "1"])
def test_cases_are_run_wherever_other_tests_lie(project: Path, workers: str) -> None:
    """`testpaths` says where a project's own tests are, and no case is left out for it; whoever
    names files on the command line gets those."""
    (project / "pyproject.toml").write_text(CONFIG + "testpaths = ['tests']\n")
    (project / "tests").mkdir()
    (project / "tests" / "test_own.py").write_text("def test_own(): pass\n")
    assert "1 failed, 2 passed" in run(project, "-n", workers).stdout
    assert "1 passed" in run(project, "-n", workers, "tests").stdout
    (project / "pyproject.toml").write_text(CONFIG + "testpaths = ['tests', 'policies']\n")
    assert "1 failed, 2 passed" in run(project, "-n", workers).stdout
