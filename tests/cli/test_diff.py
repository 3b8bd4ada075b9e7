"""`edgeward diff`: what a new policy allows that the old one did not, with an exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Invoke

OLD = """\
version: 2
tools:
  pay: {args: {amount: {max: 500}}}
  "delete_*": ask
arg_rules:
  - {name: loop, regex: 'a+b'}
"""


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """The policy that is in force."""
    path = tmp_path / "old.yaml"
    path.write_text(OLD, encoding="utf-8")
    return path


def changed(old: Path, before: str, after: str) -> Path:
    """The same with one thing changed."""
    assert before in OLD
    path = old.with_name("new.yaml")
    path.write_text(OLD.replace(before, after), encoding="utf-8")
    return path


def test_no_looser(old: Path, invoke: Invoke) -> None:
    """Nothing is said, and the exit code is 0."""
    new = changed(old, "max: 500", "max: 400")
    result = invoke("diff", old, new)
    assert (result.exit_code, result.stdout) == (0, "0 looser, 0 not decided\n")


def test_looser(old: Path, invoke: Invoke) -> None:
    """Tool, difference, verdicts, both places, and a call."""
    new = changed(old, "max: 500", "max: 1000")
    result = invoke("diff", old, new)
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        "looser: pay: amount 500 < x \u2264 1000: block \u2192 allow"
        f" ({old}:3 tools.pay.args.amount \u2192 {new}:3 tools.pay)",
        '    pay {"amount": 750}',
        "1 looser, 0 not decided",
    ]


def test_what_is_not_decided(old: Path, invoke: Invoke) -> None:
    """It counts as looser, unless an option says otherwise."""
    new = changed(old, "a+b", "a*b")
    result = invoke("diff", old, new)
    assert result.exit_code == 1
    assert result.stdout.startswith("not decided: ")
    assert "arg_rules.loop" in result.stdout
    assert invoke("diff", old, new, "--ignore-undecided").exit_code == 0


def test_stricter(old: Path, invoke: Invoke) -> None:
    """What is no longer allowed is listed on demand, and makes no exit code."""
    new = changed(old, '"delete_*": ask', '"delete_*": block')
    result = invoke("diff", old, new, "--stricter")
    assert result.exit_code == 0
    assert "stricter: delete_*: a person is asked: ask \u2192 block" in result.stdout


def test_only_these_tools(old: Path, invoke: Invoke) -> None:
    """A tool that the agent does not have is not looked at."""
    new = changed(old, '"delete_*": ask', '"delete_*": allow')
    assert invoke("diff", old, new).exit_code == 1
    assert invoke("diff", old, new, "--tools", "pay, list_files").exit_code == 0


def test_json(old: Path, invoke: Invoke) -> None:
    """The same for scripts; its witness is a line that `edgeward check --calls` takes."""
    new = changed(old, "max: 500", "max: 1000")
    found = json.loads(invoke("diff", old, new, "--json").stdout)
    (one,) = found["looser"]
    assert (one["tool"], one["old"]["says"], one["new"]["says"]) == ("pay", "block", "allow")
    calls = old.with_name("calls.jsonl")
    calls.write_text(json.dumps(one["witness"]) + "\n", encoding="utf-8")
    assert invoke("check", old, "--calls", calls).exit_code == 1
    assert invoke("check", new, "--calls", calls).exit_code == 0


def test_a_file_that_is_wrong(old: Path, invoke: Invoke) -> None:
    """One line, exit code 2."""
    result = invoke("diff", old, old.with_name("none.yaml"))
    assert result.exit_code == 2
    assert "there is no such file" in result.stderr or "there is no such policy" in result.stderr


def test_check_reads_every_witness(tmp_path: Path, invoke: Invoke) -> None:
    """Those of limits, too: `edgeward check --calls` says of each what `diff` said of it."""
    rules = (
        "version: 2\ntools: {pay: {args: {to: known}, callers: {roles: [boss]}}, 'get_*': allow}\n"
    )
    (tmp_path / "old.yaml").write_text(
        f"{rules}limits: {{tokens: 50, run: {{calls: 3}}, caller: {{seconds: 9}}}}\n"
    )
    (tmp_path / "new.yaml").write_text(
        rules.replace("known", "any").replace("boss", "boss, clerk")
        + "limits: {tokens: 90, run: {calls: 4}}\n"
    )
    found = json.loads(
        invoke("diff", tmp_path / "old.yaml", tmp_path / "new.yaml", "--json").stdout
    )["looser"]
    shown = [one for one in found if isinstance(one["witness"], dict)]
    assert sum("used" in one["witness"] for one in shown) >= 3
    assert sum("caller" in one["witness"] for one in shown) >= 1
    calls = tmp_path / "calls.jsonl"
    calls.write_text("".join(json.dumps(one["witness"]) + "\n" for one in shown))
    for name in ("old", "new"):
        said = invoke("check", tmp_path / f"{name}.yaml", "--calls", calls, "--json").stdout
        words = [json.loads(line)["word"] for line in said.splitlines()]
        assert words == [one[name]["says"] for one in shown]
