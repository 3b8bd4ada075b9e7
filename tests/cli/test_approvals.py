"""Approvals on a real terminal: shown whole, approved, edited, rejected, left for later."""

from __future__ import annotations

import shlex

import pytest

from edgeward.cli.approvals import Nobody, user

from .conftest import Bundle, Invoke, Open

ASKED = "[a]pprove, [e]dit or [r]eject?"


def test_three_calls_are_asked_one_by_one_and_answered_at_once(
    bundle: Bundle, terminal: Open
) -> None:
    """Approve, edit in the input line (wrong JSON asks again), reject; nothing runs before."""
    task = 'wipe(path="/a") wipe(path="/b") wipe(path="/c")'
    screen = terminal(["run", *bundle.options, task], EDITOR="no-such-editor")
    screen.expect("May this call run? 1 of 3")
    screen.expect('"path": "/a"')
    screen.expect(f"rule  tools.wipe, {bundle.policy}:8")
    screen.expect(ASKED)
    screen.type("what?")
    screen.expect(ASKED)
    screen.type("a")
    screen.expect("2 of 3")
    screen.expect(ASKED)
    screen.type("e")
    screen.expect('arguments: { "path": "/b", "force": false }')
    screen.type(" and more")
    screen.expect("not usable: ")
    screen.expect("arguments: ")
    screen.type('\x15{"path": "/edited", "force": true}')
    screen.expect("3 of 3")
    screen.expect(ASKED)
    assert bundle.done == []
    screen.type("r")
    screen.expect("why?")
    screen.type("not that one")
    assert screen.end() == 0
    assert sorted(bundle.done) == ["wipe /a False", "wipe /edited True"]
    assert 'ask      wipe(path="/edited", force=true)' in screen.text
    assert f"edited and approved by {user()}" in screen.text
    assert f"rejected by {user()}: not that one" in screen.text
    assert "3 ask" in screen.text


def test_an_approval_that_lasts(bundle: Bundle, terminal: Open) -> None:
    """What it would cover is said before; a later call that it covers is not asked about."""
    task = 'wipe(path="/a") wipe(path="/a", force=True) wipe(path="/b")'
    screen = terminal(["run", *bundle.options, task])
    screen.expect('[l]asting: also later calls of wipe with path "/a", in this thread, for 60 min')
    screen.expect(ASKED)
    screen.type("l")
    screen.expect('"path": "/b"')
    screen.expect(ASKED)
    screen.type("r")
    screen.expect("why?")
    screen.type("")
    assert screen.end() == 0
    assert sorted(bundle.done) == ["wipe /a False", "wipe /a True"]
    assert f"approved by {user()}, which lasts until 20" in screen.text


def test_an_editor_is_used_where_one_is_set(bundle: Bundle, terminal: Open) -> None:
    """It opens with the arguments as JSON; what it saves is judged and run."""
    editor = bundle.folder / "editor.sh"
    editor.write_text('#!/bin/sh\nsed -i s,/a,/from-the-editor, "$1"\n')
    editor.chmod(0o755)
    screen = terminal(["run", *bundle.options, 'wipe(path="/a")'], EDITOR=shlex.quote(str(editor)))
    screen.expect(ASKED)
    screen.type("e")
    assert screen.end() == 0
    assert bundle.done == ["wipe /from-the-editor False"]


@pytest.mark.parametrize("how", ["ctrl-c", "ctrl-d"])
def test_leaving_a_question_open_keeps_the_thread(
    how: str, bundle: Bundle, terminal: Open, invoke: Invoke
) -> None:
    """Ctrl-C and Ctrl-D at the question: the call waits, and the printed command asks again."""
    screen = terminal(["run", *bundle.options, 'wipe(path="/a")'])
    screen.expect(ASKED)
    if how == "ctrl-c":
        screen.interrupt()
    else:
        screen.type("\x04")
    assert screen.end() == 130
    assert "Traceback" not in screen.text
    assert bundle.done == []
    command = shlex.split(screen.text.partition("to go on:")[2])
    again = invoke(*command[1:])
    assert again.exit_code == 3
    assert '"path": "/a"' in again.stdout


def test_with_json_the_question_goes_to_the_terminal_and_not_into_the_data(
    bundle: Bundle, terminal: Open
) -> None:
    """A person can answer while a program reads."""
    screen = terminal(["run", *bundle.options, 'wipe(path="/a")', "--json"])
    screen.expect('{"event": "waiting"')
    screen.expect(ASKED)
    screen.type("a")
    screen.expect('{"event": "answers"')
    screen.expect('{"event": "end"')
    assert screen.end() == 0
    assert bundle.done == ["wipe /a False"]


def test_nobody_rejects_every_call() -> None:
    """The reason says why."""
    answers = Nobody()([{"id": "a"}, {"id": "b"}])
    assert {answer["decision"] for answer in answers.values()} == {"reject"}
    assert "no terminal" in str(answers["a"]["reason"])


def test_a_system_without_user_names_still_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a container the number of the user may have no name."""

    def nameless() -> str:
        raise KeyError("uid")

    monkeypatch.setattr("getpass.getuser", nameless)
    assert user() == ""
