"""`edgeward run`: one task, its events, its approvals, and the way back to it."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.wire.server import Say, Wire, wire

from .conftest import HANGS_AFTER_S, Bundle, Invoke, until

__all__ = ["wire"]


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def waiting_ids(text: str) -> list[str]:
    return [call["id"] for call in lines(text)[-1]["result"]["waiting"]]


def test_a_task_is_done_and_each_step_is_shown(bundle: Bundle, invoke: Invoke) -> None:
    """Model, policy and thread, then call, verdict, result and answer, then the counts."""
    result = invoke("run", *bundle.options, 'note(text="hello") paint(name="x")')
    assert result.exit_code == 0
    for line in ("model    scripted", f"policy   {bundle.policy}", 'allow    note(text="hello")'):
        assert line in result.stdout
    assert "result   note: noted hello" in result.stdout
    assert "answer   Done:" in result.stdout
    assert "3 steps · " in result.stdout
    assert "2 allow" in result.stdout
    assert bundle.done == ["note hello"]


@pytest.mark.parametrize("task", ["", " \n"])
def test_a_blank_task_is_none(bundle: Bundle, invoke: Invoke, task: str) -> None:
    """Nobody is asked anything: one line says what to do."""
    result = invoke("run", *bundle.options, task)
    assert result.exit_code == 2
    assert "the task is blank" in result.stderr


def test_a_misspelt_model_is_not_another_one(bundle: Bundle, invoke: Invoke) -> None:
    """A scripted model that would say something else does not stand in for it."""
    result = invoke("run", *bundle.options, "task", "--model", "scripted:obediant")
    assert result.exit_code == 2
    assert result.stderr == "error: --model: no such scripted model; allowed: scripted:obedient\n"
    assert bundle.done == []


def test_a_task_typed_where_python_does_not_know_the_encoding(
    bundle: Bundle, invoke: Invoke
) -> None:
    """Bytes that came through one by one are the text that they were; no half of one gets on."""
    result = invoke("run", *bundle.options, 'note(text="h\udcc3\udca9 \udcff")')
    assert result.exit_code == 0
    assert bundle.done == ["note h\u00e9 \ufffd"]


def test_a_refused_call_is_shown_with_its_rule_and_line(bundle: Bundle, invoke: Invoke) -> None:
    """The reason, the rule, and where in the policy it stands."""
    bundle.policy.write_text("version: 2\ndefault: block\ntools:\n  wipe: block\n")
    result = invoke("run", *bundle.options, 'wipe(path="/x")')
    assert 'block    wipe(path="/x")' in result.stdout
    assert f"rule tools.wipe, {bundle.policy}:4" in result.stdout
    assert bundle.done == []


PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)


def test_an_image_goes_with_the_task(
    wire: Wire, tmp_path: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files below the profile's folders, and addresses, in their order, after the words."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-proj-TESTTESTTESTTESTTEST")
    (tmp_path / "screens").mkdir()
    shot = tmp_path / "screens" / "shot.png"
    shot.write_bytes(PNG)
    profile = tmp_path / "profile.yaml"
    model = f"{{provider: openai, model: gpt-4o-mini, base_url: '{wire.openai_url}'}}"
    profile.write_text(f"agent: {{id: a, name: A, llm: {model}, images: {{folders: [screens]}}}}\n")
    wire.script(Say("A shot."), Say("Another."))
    web = "https://pictures.example/b.png"
    given = ("--image", shot, "--image", web, "--checkpointer", "memory")
    result = invoke("run", profile, "What is it?", *given)
    assert (result.exit_code, "A shot." in result.stdout) == (0, True)
    *_, said = wire.requests[0].body["messages"]
    words, first, second = said["content"]
    assert words["text"] == "What is it?"
    assert first["image_url"]["url"].startswith("data:image/png;base64,")
    assert second["image_url"]["url"] == web
    talked = invoke("chat", profile, *given[2:], stdin="And this?\n")
    assert "Another." in talked.stdout
    assert [b["type"] for b in wire.requests[1].body["messages"][-1]["content"]] == [
        "text",
        "image_url",
    ]


def test_an_image_that_may_not_be_sent_is_refused(bundle: Bundle, invoke: Invoke) -> None:
    """Before anything runs, with what to do; and there is none without a task."""
    (bundle.folder / "key.png").write_text("-----BEGIN OPENSSH PRIVATE KEY-----")
    result = invoke("run", *bundle.options, "Look.", "--image", bundle.folder / "key.png")
    assert result.exit_code == 2
    assert "images.folders" in result.stderr
    assert "to go on" not in result.stderr
    assert invoke("run", *bundle.options, "--thread", "t", "--image", "x.png").exit_code == 2


def test_a_secret_is_never_shown(bundle: Bundle, invoke: Invoke) -> None:
    """What a tool gives away is masked in every line, in both forms of output."""
    for form in ((), ("--json",)):
        result = invoke("run", *bundle.options, 'leak(name="key")', *form)
        assert result.exit_code == 0
        assert "sk-proj-" not in result.output
        assert "[REDACTED:" in result.output


def test_a_tool_cannot_steer_the_terminal(bundle: Bundle, invoke: Invoke) -> None:
    """Control sequences and text direction come out as escapes."""
    result = invoke("run", *bundle.options, 'paint(name="x")')
    assert "\\x1b[2J" in result.stdout
    assert "\x1b" not in result.stdout
    assert "\u202e" not in result.stdout


def test_json_lines_parse_and_the_result_is_last(bundle: Bundle, invoke: Invoke) -> None:
    """Standard output holds JSON only: one object an event, then the result."""
    result = invoke("run", *bundle.options, 'note(text="hello")', "--json", "--thread", "t")
    events = lines(result.stdout)
    kinds = [event["event"] for event in events]
    assert kinds == ["calls", "verdict", "result", "answer", "end"]
    end = events[-1]["result"]
    assert end["thread"] == "t"
    assert end["stopped_reason"] == "answered"
    assert end["task"] == 'note(text="hello")'
    assert [step["kind"] for step in end["steps"]] == ["tool_call", "tool_result", "answer"]
    assert [verdict["word"] for verdict in end["verdicts"]] == ["allow"]
    assert end["usage"]["total_tokens"] > 0


def test_without_a_terminal_the_calls_wait_and_are_answered_later(
    bundle: Bundle, invoke: Invoke
) -> None:
    """Exit code 3 with the waiting calls whole; `--answers` answers them by id, all at once."""
    task = 'wipe(path="/a") wipe(path="/b") wipe(path="/c")'
    asked = invoke("run", *bundle.options, task, "--json", "--thread", "t")
    assert asked.exit_code == 3
    first, second, third = waiting_ids(asked.stdout)
    assert lines(asked.stdout)[-1]["result"]["waiting"][0]["args"] == {"path": "/a", "force": False}
    assert "--thread t" in asked.stderr
    answers = {
        first: "approve",
        second: {"decision": "edit", "args": {"path": "/edited"}},
        third: {"decision": "reject", "reason": "not that one", "by": "emma"},
    }
    file = bundle.folder / "answers.json"
    file.write_text(json.dumps(answers))
    done = invoke("run", *bundle.options, "--json", "--thread", "t", "--answers", file)
    assert done.exit_code == 0
    assert sorted(bundle.done) == ["wipe /a False", "wipe /edited False"]
    verdicts = lines(done.stdout)[-1]["result"]["verdicts"]
    assert [v["approval"]["decision"] for v in verdicts] == ["approve", "edit", "reject"]
    assert verdicts[2]["approval"]["by"] == "emma"
    assert verdicts[0]["approval"]["by"]


def test_what_waits_is_shown_whole_with_the_command_that_answers_it(
    bundle: Bundle, invoke: Invoke
) -> None:
    """A person reading a log finds arguments, rule, id, and the line to copy."""
    long = "/deep" * 60
    asked = invoke("run", *bundle.options, f'wipe(path="{long}")')
    assert asked.exit_code == 3
    assert long in asked.stdout
    assert f"rule  tools.wipe, {bundle.policy}:8" in asked.stdout
    command = shlex.split(asked.stderr.partition("to answer:")[2])
    assert command[:2] == ["edgeward", "run"]
    assert invoke(*command[1:]).exit_code == 0
    assert bundle.done == [f"wipe {long} False"]


@pytest.mark.parametrize(
    ("answers", "says"),
    [
        ("{broken", "not valid JSON"),
        ("{}", "there is no answer in it"),
        ("nowhere.json", "neither JSON nor a file"),
        ('{"ID": "perhaps"}', "'approve', 'edit' or 'reject'"),
        ('{"ID": {"decision": "edit"}}', "`args` goes with `edit`"),
        ('{"ID": {"decision": "approve", "args": {}}}', "`args` goes with `edit`"),
        ('{"ID": {"decision": "approve", "who": "me"}}', "who: Extra inputs"),
        ('{"ID": "approve", "ID": "reject"}', "same key twice"),
        ('{"ID": {"decision": "reject", "reason": 7}}', "reason: "),
        ('{"ID": 7}', "ID: "),
    ],
)
def test_answers_that_do_not_fit_leave_the_calls_waiting(
    answers: str, says: str, bundle: Bundle, invoke: Invoke
) -> None:
    """One line says what is wrong; the question stays open."""
    asked = invoke("run", *bundle.options, 'wipe(path="/a")', "--json", "--thread", "t")
    (call_id,) = waiting_ids(asked.stdout)
    given = answers.replace("ID", call_id)
    wrong = invoke("run", *bundle.options, "--thread", "t", "--answers", given)
    assert wrong.exit_code == 2
    assert says.replace("ID", call_id) in wrong.stderr
    assert "Traceback" not in wrong.output
    right = invoke(
        "run", *bundle.options, "--thread", "t", "--answers", json.dumps({call_id: "approve"})
    )
    assert right.exit_code == 0
    assert bundle.done == ["wipe /a False"]


def test_half_an_answer_is_none(bundle: Bundle, invoke: Invoke) -> None:
    """Calls that wait together are answered together; an id that nobody waits under is named."""
    asked = invoke("run", *bundle.options, 'wipe(path="/a") wipe(path="/b")', "--json", "-t", "t")
    first, second = waiting_ids(asked.stdout)
    half = invoke("run", *bundle.options, "-t", "t", "--answers", json.dumps({first: "approve"}))
    assert half.exit_code == 2
    assert second in half.stderr
    other = invoke("run", *bundle.options, "-t", "t", "--answers", '{"call_x": "approve"}')
    assert other.exit_code == 3
    assert "not used: the answers for call_x" in other.stderr
    both = json.dumps({first: "approve", second: "reject"})
    assert invoke("run", *bundle.options, "-t", "t", "--answers", both).exit_code == 0
    assert bundle.done == ["wipe /a False"]


def test_a_thread_in_memory_cannot_wait(bundle: Bundle, invoke: Invoke) -> None:
    """Where the thread ends with the process, the call is rejected rather than lost."""
    result = invoke("run", *bundle.options, 'wipe(path="/a")', "--checkpointer", "memory")
    assert result.exit_code == 0
    assert "rejected: there is no terminal" in result.stdout
    assert bundle.done == []


def test_a_thread_is_gone_on_with(bundle: Bundle, invoke: Invoke) -> None:
    """A second task on the same thread follows the first; a finished one has nothing left."""
    assert invoke("run", *bundle.options, 'note(text="one")', "--thread", "t").exit_code == 0
    assert invoke("run", *bundle.options, 'note(text="two")', "--thread", "t").exit_code == 0
    assert bundle.done == ["note one", "note two"]
    over = invoke("run", *bundle.options, "--thread", "t")
    assert (over.exit_code, "is done; give a task" in over.stderr) == (2, True)
    stray = invoke("run", *bundle.options, "--thread", "t", "--answers", '{"x": "approve"}')
    assert (stray.exit_code, "asks nothing" in stray.stderr) == (2, True)
    unknown = invoke("run", *bundle.options, "--thread", "u")
    assert (unknown.exit_code, "there is no thread u" in unknown.stderr) == (2, True)


def test_a_new_task_does_not_push_an_open_one_aside(bundle: Bundle, invoke: Invoke) -> None:
    """Calls that wait are not dropped by accident."""
    invoke("run", *bundle.options, 'wipe(path="/a")', "--thread", "t")
    result = invoke("run", *bundle.options, 'note(text="x")', "--thread", "t")
    assert (result.exit_code, "in the middle of a task" in result.stderr) == (2, True)
    assert bundle.done == []


def test_the_step_bound_ends_a_run_and_says_so(bundle: Bundle, invoke: Invoke) -> None:
    """`--max-steps` beats the profile's bound."""
    result = invoke(
        "run", *bundle.options, 'note(text="one")', "--max-steps", "1", "--strategy", "react"
    )
    assert "stopped  the bound on steps was reached" in result.stdout


def test_a_plan_is_shown_as_it_is_worked_off(bundle: Bundle, invoke: Invoke) -> None:
    """plan_and_solve: the plan, then the step that is due."""
    result = invoke(
        "run", *bundle.options, 'note(text="one"), note(text="two")', "-s", "plan_and_solve"
    )
    assert result.exit_code == 0
    assert "plan     1. " in result.stdout
    assert "step     1 of 2: " in result.stdout
    assert "strategy plan_and_solve" in result.stdout


def test_ctrl_c_leaves_a_thread_that_runs_on_without_repeating_what_is_done(
    bundle: Bundle, own_home: Path
) -> None:
    """Of two calls side by side one has finished: the printed command runs only the other again."""
    command = [sys.executable, "-m", "edgeward", "run", *bundle.options]
    with subprocess.Popen(
        [*command, 'note(text="quick") slow(name="it")'],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "EDGEWARD_HOME": str(own_home)},
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if "noted quick" in line:
                break
        until(lambda: "slow it" in bundle.done, process)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=HANGS_AFTER_S)
    assert process.returncode == 130
    assert "Traceback" not in errors
    again = shlex.split(errors.partition("to go on:")[2])
    assert again[:2] == ["edgeward", "run"]
    done = subprocess.run(
        [*command[:3], *again[1:]],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 0, done.stderr
    assert "result   slow: done at last" in done.stdout
    assert sorted(bundle.done) == ["note quick", "slow it", "slow it"]


def test_for_whom_the_agent_works(bundle: Bundle, invoke: Invoke) -> None:
    """A policy that asks for the caller gets the one who was named, and nobody otherwise."""
    bundle.policy.write_text(
        "version: 2\ndefault: block\ntools:\n"
        "  note: {callers: {users: [ann], tenants: [acme], roles: [clerk]}}\n"
    )
    task = 'note(text="hello")'
    assert "block    note" in invoke("run", *bundle.options, task).stdout
    who = ("--user", "ann", "--tenant", "acme", "--role", "reader", "--role", "clerk")
    result = invoke("run", *bundle.options, *who, task)
    assert "allow    note" in result.stdout
    assert "--user ann --tenant acme --role reader --role clerk" in result.stdout


def test_a_policy_in_shadow_says_so(bundle: Bundle, invoke: Invoke) -> None:
    """One line before all else, also beside JSON; each call with what would have been."""
    bundle.policy.write_text("version: 2\nmode: shadow\ntools:\n  wipe: block\n")
    result = invoke("run", *bundle.options, 'wipe(path="/x")')
    assert result.stderr.startswith("in shadow, deciding nothing: the whole policy\n")
    assert 'allow    wipe(path="/x")\n         in shadow: block\n' in result.stdout
    # The folder's name decides where lines are broken.
    said = f"tool 'wipe' is denied (tools.wipe, {bundle.policy}:4)"
    assert said.replace(" ", "") in "".join(result.stdout.split())
    assert bundle.done == ["wipe /x False"]
    bundle.policy.write_text("version: 2\nmode: {tools.note: shadow}\ntools:\n  note: block\n")
    result = invoke("run", *bundle.options, "--json", 'note(text="hello")')
    assert result.stderr.startswith("in shadow, deciding nothing: tools.note\n")
    verdict = next(line for line in lines(result.stdout) if line["event"] == "verdict")
    assert (verdict["word"], verdict["shadow"]["word"]) == ("allow", "block")
