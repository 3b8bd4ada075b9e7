"""`edgeward test`: the cases beside a policy, and the rules that none of them reaches."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from .conftest import Invoke


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    """A policy with two cases, of which one fails."""
    path = tmp_path / "clerk.yaml"
    path.write_text("version: 2\ntools:\n  read: allow\n  wipe: ask\n", encoding="utf-8")
    for name, text in (
        ("allow/reading_is_free.yaml", "tool: read\n"),
        ("block/wiping_is_never_done.json", '{"tool": "wipe"}'),
    ):
        case = tmp_path / "clerk" / name
        case.parent.mkdir(parents=True, exist_ok=True)
        case.write_text(text, encoding="utf-8")
    return path


def test_what_fails_is_explained(policy: Path, invoke: Invoke) -> None:
    """With the sentence, what was expected, and what the policy says."""
    result = invoke("test", policy)
    assert result.exit_code == 1
    assert result.stdout.startswith("FAILED  block: wiping is never done\n        ask\n")
    assert "clerk.yaml:4 tools.wipe (ask): tool 'wipe' needs approval" in result.stdout
    assert result.stdout.endswith("1 of 2 cases pass; 0 rules that none would miss\n")


def test_what_passes(policy: Path, invoke: Invoke) -> None:
    """Exit code 0, and the rules that no case would miss, with their lines."""
    (policy.parent / "clerk/block/wiping_is_never_done.json").unlink()
    result = invoke("test", policy)
    assert result.exit_code == 0
    assert "clerk.yaml:4: tools.wipe: no case would miss it" in result.stdout


def test_for_scripts(policy: Path, invoke: Invoke) -> None:
    """One JSON object."""
    found = json.loads(invoke("test", policy, "--json").stdout)
    assert found["cases"] == 2
    assert [(f["case"], f["expected"], f["word"]) for f in found["failed"]] == [
        ("wiping is never done", "block", "ask")
    ]
    assert found["untested"] == []


def test_a_shipped_policy(invoke: Invoke) -> None:
    """Its cases come with the package."""
    result = invoke("test", "read_only")
    assert result.exit_code == 0
    assert re.search(r"^(\d\d+) of \1 cases pass", result.stdout, re.MULTILINE)


def test_no_cases(tmp_path: Path, invoke: Invoke) -> None:
    """Nothing that was tested is no success."""
    path = tmp_path / "x.yaml"
    path.write_text("version: 2\n")
    result = invoke("test", path)
    assert result.exit_code == 2
    assert "there are no cases beside this policy" in result.stderr


def test_rules_in_shadow_are_tested_as_if_enforced(policy: Path, invoke: Invoke) -> None:
    """And it is said that they are in shadow."""
    text = policy.read_text(encoding="utf-8").replace("wipe: ask", "wipe: block")
    policy.write_text(f"{text}mode: {{tools.wipe: shadow}}\n", encoding="utf-8")
    result = invoke("test", policy)
    assert result.exit_code == 0
    assert "in shadow, and tested as if enforced: tools.wipe\n" in result.stdout
    policy.write_text(f"{text}mode: shadow\n", encoding="utf-8")
    found = json.loads(invoke("test", policy, "--json").stdout)
    assert (found["failed"], found["in_shadow"]) == ([], "the whole policy")


def test_cases_below_a_folder_of_their_own(policy: Path, invoke: Invoke) -> None:
    """Cases may be put in order by folders: all below `allow` are expected to be allowed."""
    below = policy.parent / "clerk/allow/of_writing"
    below.mkdir()
    (below / "it_is_free.yaml").write_text("tool: write\n")
    result = invoke("test", policy)
    assert "FAILED  allow: it is free" in result.stdout
    assert "1 of 3 cases pass" in result.stdout


@pytest.mark.parametrize(
    ("stray", "said"),
    [
        ("blok/a.yaml", "did you mean block?"),
        ("deny/deep/a.json", "move its cases"),
        ("a.yaml", "move it into one"),
    ],
)
def test_a_case_whose_verdict_nobody_says(
    policy: Path, invoke: Invoke, stray: str, said: str
) -> None:
    """It is an error: where it was passed over, nobody would miss its test."""
    path = policy.parent / "clerk" / stray
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("tool: wipe\n")
    result = invoke("test", policy)
    assert result.exit_code == 2
    assert result.stderr.rstrip().endswith(said)
    assert "allowed: allow, redact, ask or block" in result.stderr


def test_what_is_no_case(policy: Path, invoke: Invoke) -> None:
    """Notes and other folders among the cases are left alone."""
    (policy.parent / "clerk/NOTES.md").write_text("tool: wipe\n")
    (policy.parent / "clerk/pictures").mkdir()
    (policy.parent / "clerk/pictures/a.svg").write_text("<svg/>")
    assert "1 of 2 cases pass" in invoke("test", policy).stdout
