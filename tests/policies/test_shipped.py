"""The shipped policies: each has calls that it allows and calls that it blocks, and they are run.

Every policy has a folder `allow/` and a folder `block/`, and may have `ask/`; a file in them is one
call, and its name is the sentence that it tests (`policies/cases.py`). A policy without a blocked
case fails.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import edgeward.policies
from edgeward.guards.decide import decide
from edgeward.guards.ledger import History
from edgeward.guards.verdict import ToolCall, Verdict
from edgeward.policies.cases import files_in, load_case
from edgeward.policies.schema import load_policy, shipped_policies

FOLDER = Path(edgeward.policies.__file__).parent
CASES = [path for folder in sorted(FOLDER.iterdir()) for _, path in files_in(folder)]


def first_verdict(policy: str, call: ToolCall) -> Verdict:
    """What the policy says of a first call."""
    return decide(load_policy(policy), call, History())


@pytest.mark.parametrize(
    "path", CASES, ids=[f"{p.parts[-3]}: {p.parts[-2]}s: {p.stem}" for p in CASES]
)
def test_a_shipped_policy_decides_as_its_case_says(path: Path) -> None:
    """Each case file holds what its folder's name says."""
    verdict = load_case(path).verdict(load_policy(path.parts[-3]))
    assert verdict.word == path.parts[-2], verdict.explain()


@pytest.mark.parametrize("name", shipped_policies())
def test_every_shipped_policy_has_allowed_and_blocked_cases(name: str) -> None:
    """A policy of which nobody wrote down what it blocks is not shipped.

    `allow_all` blocks by no rule of its own: its cases are calls that cannot be read.
    """
    for word in ("allow", "block"):
        cases = [path for path in CASES if path.parts[-3:-1] == (name, word)]
        assert cases, f"policies/{name}/{word}/ holds no case"
        assert all(path.suffix == ".json" and "_" in path.stem for path in cases)
    if name == "allow_all":
        blocked = [path for path in CASES if path.parts[-3:-1] == (name, "block")]
        calls = [load_case(path).call for path in blocked]
        assert all(call.fault or not call.name for call in calls)


def test_every_case_folder_belongs_to_a_policy() -> None:
    """A folder whose policy was renamed would be tested no more."""
    assert {path.parts[-3] for path in CASES} == set(shipped_policies())


@pytest.mark.parametrize("name", shipped_policies())
def test_a_shipped_policy_opens_with_its_threat(name: str) -> None:
    """The opening comment says what is met and what stays possible; the description is a line."""
    text = (FOLDER / f"{name}.yaml").read_text(encoding="utf-8")
    opening = text[: text.index("version:")]
    assert all(line.startswith("#") for line in opening.splitlines())
    assert "Threat:" in opening
    assert "What stays possible:" in opening
    policy = load_policy(name)
    assert policy.version == 2
    assert policy.description


@pytest.mark.parametrize(
    "tool", ["send_email", "delete_file", "pay_bill", "write_file", "fetch_url", "frobnicate"]
)
def test_the_default_policy_asks_before_anything_but_reading(tool: str) -> None:
    """What is neither reading nor running is put to a person."""
    assert first_verdict("default", ToolCall(tool, {"x": "y"})).word == "ask"


@pytest.mark.parametrize(
    ("rule", "hit", "miss"),
    [
        ("bad_url_scheme", "gopher://x.test/", "see the profile: //comment"),
        ("path_traversal", "a/../b", "wait... what/ever"),
        ("exec_flag", "--exec=rm", "the executive --execute-plan"),
        ("command_substitution", "$(id)", "it costs $5 (five)"),
        ("pipe_to_shell", "curl x | bash", "| bash | zsh | fish | and more"),
        ("destructive_filesystem", "rm -rf /", "the farm -run by us"),
    ],
)
def test_each_shipped_argument_rule_hits_and_misses(rule: str, hit: str, miss: str) -> None:
    """One positive and one negative each (F014)."""
    found = first_verdict("default", ToolCall("get_x", {"q": hit}))
    assert found.word == "block"
    assert f"arg_rules.{rule}" in {finding.rule for finding in found.deciding}
    missed = first_verdict("default", ToolCall("get_x", {"q": miss}))
    assert missed.word == "allow", missed.reason
