"""`edgeward replay`: what comes out otherwise, the exit codes, and what is said of the rest."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langgraph.types import Command

from edgeward import Caller, Firewall, ReceiptLog, build_graph, load_policy
from edgeward.guards.python_values import as_call
from edgeward.profiles.scripted import ScriptedModel

from ..fakes import Recorder, turn
from ..guards.secret_examples import EXAMPLES
from .conftest import Invoke

SECRET = EXAMPLES["openai_key"].whole[0]
OLD = """\
version: 2
receipts: history
tools:
  find: allow
  send: {args: {to: known}, otherwise: ask}
  rm: block
trust:
  - {tool: find, fields: [email]}
"""
NEW = OLD.replace("[email]", "[cc]").replace("rm: block", "rm: allow")
ANN = '[{"email": "ann@corp.example", "cc": "bob@corp.example"}]'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two policies, and the working folder."""
    (tmp_path / "old.yaml").write_text(OLD, encoding="utf-8")
    (tmp_path / "new.yaml").write_text(NEW, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def recorded(log: str, policy: str = "old.yaml", **more: Any) -> None:
    """One thread in a log: a look-up, two mails, and a file that is to go."""
    loaded = load_policy(policy, receipts=ReceiptLog(log, **more))
    firewall = Firewall(loaded, thread="monday", caller=Caller("ann"))
    firewall.said("Send Ann the figures.")
    call = as_call("find", {"name": "Ann"}, id="c1")
    firewall.decide(call)
    firewall.observe(call, ANN)
    firewall.check("send", {"to": "ann@corp.example"}, id="c2")
    firewall.check("send", {"to": "bob@corp.example"}, id="c3")
    firewall.check("rm", {"path": "\x1b[31ma"}, id="c4")


def flips(result: Any) -> list[tuple[str, str]]:
    """The flips of a run with `--json`, in their order."""
    return [(flip["pair"], flip["tool"]) for flip in json.loads(result.stdout)["flips"]]


@pytest.mark.parametrize("log", ["r.jsonl", "r.sqlite"])
def test_flips_are_listed_with_their_rules_the_worst_first(
    folder: Path, invoke: Invoke, log: str
) -> None:
    """Each with the call, the record, and what was said on both sides; the exit code is 1."""
    recorded(log)
    assert (
        invoke("replay", log, "--policy", "old.yaml").stdout == "4 calls decided again: 0 flips\n"
    )
    result = invoke("replay", log, "--policy", "new.yaml")
    lines = result.stdout.splitlines()
    assert result.exit_code == 1
    assert lines[0] == 'block -> allow rm {"path":"\\u001b[31ma"}'
    assert "(record 3, thread monday, " in lines[1]
    assert lines[2:4] == [
        "    then: old.yaml:6 tools.rm: tool 'rm' is denied",
        "    now: no rule objects",
    ]
    assert [line.split(" {")[0] for line in lines[4::4]][:2] == [
        "ask -> allow send",
        "allow -> ask send",
    ]
    assert lines[10] == "    then: no rule objects"
    assert lines[11].startswith(
        "    now: new.yaml:5 tools.send.args.to: argument 'to' of tool 'send'"
    )
    assert lines[12] == "4 calls decided again: 3 flips, 2 of them looser"


def test_flips_that_are_meant_are_named(folder: Path, invoke: Invoke) -> None:
    """By their pair, all that tighten together, or one call by its name."""
    recorded("r.jsonl")
    command = ["replay", "r.jsonl", "--policy", "new.yaml"]
    allowed = ["--allow-flips", "ask:allow", "--allow-flips", "tighter"]
    assert invoke(*command, *allowed).exit_code == 1
    assert "ask -> allow (meant) send" in invoke(*command, *allowed).stdout
    found = json.loads(invoke(*command, "--json").stdout)["flips"]
    assert invoke(*command, *allowed, "--allow-flips", found[0]["name"]).exit_code == 0
    assert invoke(*command, *allowed, "--allow-flips", "block:allow").exit_code == 0
    slip = invoke(*command, *allowed, "--allow-flips", "block:allow", "--allow-flips", "tightr")
    assert (slip.exit_code, "note: --allow-flips tightr: no call of that" in slip.stderr) == (
        0,
        True,
    )
    wrong = invoke(*command, "--allow-flips", "block:alow")
    assert (wrong.exit_code, "flips: block:allow, ask:allow," in wrong.stderr) == (2, True)


@pytest.mark.parametrize("level", ["fingerprint", "arguments"])
def test_what_a_log_does_not_hold_is_counted_and_never_called_the_same(
    folder: Path, invoke: Invoke, level: str
) -> None:
    """Receipts of the lower levels; where nothing is left the exit code is 2."""
    (folder / "less.yaml").write_text(OLD.replace("history", level), encoding="utf-8")
    recorded("r.jsonl", "less.yaml")
    result = invoke("replay", "r.jsonl", "--policy", "old.yaml")
    assert result.exit_code == 2
    assert "0 calls decided again: 0 flips\n4 calls not decided: its receipt does not hold" in (
        result.stdout
    )
    assert "(record 0, record 1, record 2, record 3)" in result.stdout
    assert "nothing could be replayed" in result.stderr
    recorded("r.jsonl")
    mixed = invoke("replay", "r.jsonl", "--policy", "old.yaml")
    assert mixed.exit_code == 0
    assert mixed.stdout.startswith("4 calls decided again: 0 flips\n4 calls not decided: ")


def test_a_log_that_was_changed_is_refused(folder: Path, invoke: Invoke) -> None:
    """Unless it is wanted all the same; one without a key is said to be unchecked."""
    recorded("r.jsonl")
    log = folder / "r.jsonl"
    shutil.copy(log, "copy.jsonl")
    log.write_bytes(log.read_bytes().replace(b'"word":"block"', b'"word":"allow"'))
    result = invoke("replay", "r.jsonl", "--policy", "old.yaml")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "r.jsonl: record 3: changed or inserted" in result.stderr
    result = invoke("replay", "r.jsonl", "--policy", "old.yaml", "--unverified")
    assert result.exit_code == 1
    assert "allow -> block rm" in result.stdout
    assert "r.jsonl: not as it was written: record 3" in result.stdout
    result = invoke("replay", "copy.jsonl", "--policy", "old.yaml")
    assert (result.exit_code, "copy.jsonl: not checked: no key" in result.stdout) == (0, True)
    result = invoke("replay", "copy.jsonl", "--policy", "old.yaml", "--key", "r.jsonl.key.pub")
    assert result.exit_code == 2, "its head is not there"


def test_a_thread_of_a_checkpoint_database_is_replayed(folder: Path, invoke: Invoke) -> None:
    """Its messages and records are enough; a person's answer is shown."""
    (folder / "old.yaml").write_text(OLD.replace("to: known", "what: known"), encoding="utf-8")
    free = NEW.replace("{args: {to: known}, otherwise: ask}", "allow")
    (folder / "new.yaml").write_text(free, encoding="utf-8")
    ran = Recorder()
    graph = build_graph(
        "react",
        policy="old.yaml",
        model=ScriptedModel(
            turns=[
                turn(("send", {"what": "x"}, "c1"), ("rm", {}, "c2")),
                "done",
            ]
        ),
        tools=[ran.tool(name) for name in ("find", "send", "rm")],
        checkpointer=folder / "threads.sqlite",
    )
    thread: Any = {"configurable": {"thread_id": "monday"}}
    graph.invoke({"messages": [("user", "Mail it to ann@corp.example.")]}, thread)
    waits = invoke("replay", "threads.sqlite", "--policy", "old.yaml")
    assert (waits.exit_code, "2 calls not decided: it is not known" in waits.stdout) == (2, True)
    graph.invoke(Command(resume={"c1": {"decision": "approve", "by": "bob"}}), thread)
    same = invoke("replay", "threads.sqlite", "--policy", "old.yaml")
    assert (same.exit_code, same.stdout) == (0, "2 calls decided again: 0 flips\n")
    result = invoke("replay", "threads.sqlite", "--policy", "new.yaml", "--json")
    assert (result.exit_code, flips(result)) == (1, [("block:allow", "rm"), ("ask:allow", "send")])
    told = invoke("replay", "threads.sqlite", "--policy", "new.yaml").stdout
    assert "monday:c1 (call c1, thread monday), approved by bob at 2" in told


def test_a_strategy_changes_no_verdict_but_may_end_a_run_before_a_call(
    folder: Path, invoke: Invoke
) -> None:
    """Its bound is said, and the calls that come after it."""
    recorded("r.jsonl")
    command = ["replay", "r.jsonl", "--policy", "old.yaml", "--strategy"]
    result = invoke(*command, "simple")
    assert result.exit_code == 0
    assert "4 calls beyond the 0 rounds of calls that it allows in a run" in result.stdout
    assert "sets no bound of its own" in invoke(*command, "react").stdout
    told = json.loads(invoke(*command, "simple", "--json").stdout)["strategy"]
    assert (told["rounds"], told["beyond"]["calls"]) == (0, 4)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "is empty"),
        ('{"a": 1}', "holds no conversation"),
        ("[{", "is no JSON"),
        ('{"messages": [{"role": "alien"}]}', "messages[0]: role alien is none of"),
        ('{"messages": []}\n{"messages": 3}', "log:2: holds no conversation"),
        ('{"body":3}\n', "record 0: is no line of a log of receipts"),
    ],
)
def test_what_is_no_recording_is_refused_with_its_place(
    folder: Path, invoke: Invoke, text: str, wrong: str
) -> None:
    """File and line, or the place in it."""
    (folder / "log").write_text(text, encoding="utf-8")
    result = invoke("replay", "log", "--policy", "old.yaml")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "log" in result.stderr
    assert wrong in " ".join(result.stderr.split())


def test_no_secret_is_shown(folder: Path, invoke: Invoke) -> None:
    """Of an export, whose arguments nobody has masked."""
    called = {"id": SECRET, "function": {"name": "send", "arguments": json.dumps({"to": SECRET})}}
    messages = [
        {"role": "user", "content": f"Send {SECRET}"},
        {"role": "assistant", "tool_calls": [called]},
        {"role": "tool", "tool_call_id": SECRET, "content": "sent"},
    ]
    (folder / "log.json").write_text(json.dumps(messages), encoding="utf-8")
    for more in ([], ["--json"]):
        result = invoke("replay", "log.json", "--policy", "new.yaml", *more)
        assert result.exit_code == 1
        assert "send" in result.stdout
        assert SECRET not in result.stdout + result.stderr


def test_a_database_of_something_else_is_refused(folder: Path, invoke: Invoke) -> None:
    """One without receipts and checkpoints, one that is broken, and a folder."""
    with closing(sqlite3.connect("other.sqlite")) as connection, connection:
        connection.execute("CREATE TABLE notes (text TEXT)")
    (folder / "broken.sqlite").write_bytes(b"SQLite format 3\0" + b"x" * 4_096)
    for name, wrong in (
        ("other.sqlite", "without receipts and without checkpoints"),
        ("broken.sqlite", "is no database that can be read"),
        (".", "cannot be read (Is a directory)"),
        ("missing", "cannot be read (No such file or directory)"),
    ):
        result = invoke("replay", name, "--policy", "old.yaml")
        assert (result.exit_code, result.stdout) == (2, "")
        assert wrong in " ".join(result.stderr.split())


def test_for_scripts_what_steers_a_terminal_is_an_escape(folder: Path, invoke: Invoke) -> None:
    """A name that cannot be written does not hide the flips."""
    call = {"id": "c\x9b1", "function": {"name": "rm\ud800", "arguments": "{}"}}
    said = [{"role": "assistant", "tool_calls": [call]}, {"role": "tool", "tool_call_id": "c\x9b1"}]
    (folder / "log.json").write_text(json.dumps(said), encoding="utf-8")
    result = invoke("replay", "log.json", "--policy", "new.yaml", "--json")
    assert result.exit_code == 1
    assert result.stdout.isascii()
    assert json.loads(result.stdout)["flips"][0]["tool"] == "rm\ud800"
