"""`edgeward check`: one decision explained, or many, with an exit code for scripts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Invoke

POLICY = """\
version: 2
tools:
  read: allow
  note: redact
  wipe: ask
  send: {args: {to: known}}
  close: {callers: {roles: [clerk]}}
"""
KEY = "sk-proj-" + "Ab1" * 16


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    """A small policy in a file."""
    path = tmp_path / "clerk.yaml"
    path.write_text(POLICY, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("tool", "args", "code", "begins"),
    [
        ("read", "{}", 0, "allow: no rule objects"),
        ("wipe", "{}", 3, "ask\n"),
        ("rm", "{}", 1, "block\n"),
        ("read", "{", 1, "block\n"),
        ("send", '{"to": "a@x.example"}', 1, "block\n"),
    ],
)
def test_the_verdict_and_its_exit_code(
    policy: Path, invoke: Invoke, tool: str, args: str, code: int, begins: str
) -> None:
    """0 allow or redact, 1 block, 3 ask."""
    result = invoke("check", policy, "--tool", tool, "--args", args)
    assert (result.exit_code, result.stdout.startswith(begins)) == (code, True), result.output


def test_each_rule_with_its_line_value_and_origin(
    policy: Path, tmp_path: Path, invoke: Invoke
) -> None:
    """And what would have been allowed."""
    history = tmp_path / "history.yaml"
    history.write_text("- {user: Reply to the mail.}\n- {tool: read, result: from a@x.example}\n")
    result = invoke(
        "check", policy, "--tool", "send", "--args", '{"to": "a@x.example"}', "--history", history
    )
    assert "clerk.yaml:6 tools.send.args.to (block): argument 'to'" in result.stdout
    assert '"a@x.example" from tool read (call_1)' in result.stdout
    assert "; allowed: " in result.stdout


def test_the_caller(policy: Path, invoke: Invoke) -> None:
    """Who asks is said on the command line."""
    assert invoke("check", policy, "--tool", "close").exit_code == 1
    assert invoke("check", policy, "--tool", "close", "--role", "clerk").exit_code == 0


def test_many_calls(policy: Path, tmp_path: Path, invoke: Invoke) -> None:
    """One a line, each with its place; the exit code is the strictest's."""
    calls = tmp_path / "calls.jsonl"
    calls.write_text(
        '{"tool": "read"}\n\n{"tool": "wipe"}\n{"tool": "read", "arguments": {"a": 1}}\n'
    )
    result = invoke("check", policy, "--calls", calls)
    assert result.exit_code == 3
    lines = [line for line in result.stdout.splitlines() if not line.startswith(" ")]
    assert [line.rpartition(".jsonl:")[2] for line in lines] == [
        "1: read: allow: no rule objects",
        "3: wipe: ask",
        "4: read: allow: no rule objects",
    ]
    calls.write_text('{"tool": "read"}\n{"tol": "read"}\n')
    result = invoke("check", policy, "--calls", calls)
    assert result.exit_code == 2
    assert "calls.jsonl:2: tol: unknown key" in result.stderr


def test_for_scripts(policy: Path, invoke: Invoke) -> None:
    """One JSON object a call, without a secret in it."""
    result = invoke("check", policy, "--tool", "send", "--args", json.dumps({"to": KEY}), "--json")
    found = json.loads(result.stdout)
    assert (found["tool"], found["word"]) == ("send", "block")
    assert any(rule.get("where", "").endswith("clerk.yaml:6") for rule in found["rules"])
    assert KEY not in result.output


@pytest.mark.parametrize(
    "given",
    [
        (),
        ("--tool", "read", "--calls", "x.jsonl"),
        ("--calls", "x.jsonl", "--args", '{"a": 1}'),
        ("--calls", "missing.jsonl"),
        ("--tool", "read", "--history", "missing.yaml"),
    ],
)
def test_what_is_wrong(policy: Path, invoke: Invoke, given: tuple[str, ...]) -> None:
    """One line, exit code 2."""
    result = invoke("check", policy, *given)
    assert result.exit_code == 2
    assert result.stderr.startswith("error: ")
    assert "Traceback" not in result.output


def test_control_characters_stay_off_the_terminal(policy: Path, invoke: Invoke) -> None:
    """A name or value cannot steer it."""
    result = invoke("check", policy, "--tool", "send", "--args", '{"to": "\\u001b[2Ja@x.example"}')
    assert "\x1b" not in result.stdout


def test_for_scripts_they_are_escapes_of_json(policy: Path, invoke: Invoke) -> None:
    """Also those beyond ASCII, which steer some terminals, and halves of characters, which nobody
    can write."""
    name = "send\x9b31m\u202e\ud800"
    found = invoke("check", policy, "--tool", name, "--args", '{"a": "\\ud800"}', "--json")
    assert found.stdout.isascii()
    assert json.loads(found.stdout)["tool"] == name


def test_both_verdicts_where_rules_are_in_shadow(policy: Path, invoke: Invoke) -> None:
    """What happens, with its exit code, and what would."""
    policy.write_text(f"{POLICY}mode: {{tools.wipe: shadow, default: shadow}}\n", encoding="utf-8")
    result = invoke("check", policy, "--tool", "rm")
    assert result.exit_code == 0
    assert result.stdout.startswith("allow; in shadow: block\n")
    assert "clerk.yaml:2 default (in shadow: block): tool 'rm' is not on" in result.stdout
    found = json.loads(invoke("check", policy, "--tool", "wipe", "--json").stdout)
    assert (found["word"], found["shadow"]["word"]) == ("allow", "ask")
    assert [said["rule"] for said in found["shadow"]["rules"]] == ["tools.wipe"]


def test_calls_that_are_no_text(tmp_path: Path, invoke: Invoke) -> None:
    """One line, with the place."""
    calls = tmp_path / "calls.jsonl"
    calls.write_bytes(b'{"tool": "a"}\n{"tool": "\xff"}\n')
    result = invoke("check", "default", "--calls", calls)
    assert result.exit_code == 2
    assert result.stderr == f"error: {calls}:2: is not UTF-8; save the file as UTF-8\n"


def test_a_file_without_a_call_is_no_answer(policy: Path, tmp_path: Path, invoke: Invoke) -> None:
    """A step of a pipeline that made no calls must not look as if all were allowed."""
    calls = tmp_path / "calls.jsonl"
    calls.write_text("\n\n")
    result = invoke("check", str(policy), "--calls", str(calls))
    assert result.exit_code == 2
    assert result.stderr == f"error: {calls}: holds no call; allowed: one a line, as JSON\n"
