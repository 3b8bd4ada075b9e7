"""`edgeward chat`: turns on one thread, stopped and gone on with."""

from __future__ import annotations

import shlex

import pytest

from tests.wire.server import Call, Say, Wire, wire

from .conftest import Bundle, Invoke, Open, until

__all__ = ["wire"]


def test_a_conversation_keeps_its_thread(bundle: Bundle, invoke: Invoke) -> None:
    """Turns follow one another; the thread is named at the end, and another process goes on."""
    said = 'note(text="one")\n\n/continue\nnote(text="two")\n/exit\nnote(text="three")\n'
    result = invoke("chat", *bundle.options, stdin=said)
    assert result.exit_code == 0
    assert bundle.done == ["note one", "note two"]
    assert "nothing to go on with" in result.stderr
    command = shlex.split(result.stderr.partition("to go on:")[2])
    again = invoke(*command[1:], stdin="Which notes are there?")
    assert again.exit_code == 0
    assert command[command.index("--thread") + 1] in again.stdout


def test_ctrl_c_stops_a_turn_and_the_conversation_goes_on(bundle: Bundle, terminal: Open) -> None:
    """After a stopped turn: another word drops it, /continue finishes it, Ctrl-D ends."""
    screen = terminal(["chat", *bundle.options])
    screen.expect("> ")
    screen.type('slow(name="it")')
    until(lambda: bundle.done == ["slow it"], screen.process)
    screen.interrupt()
    screen.expect("/continue goes on with it")
    screen.expect("> ")
    screen.type('note(text="else")')
    screen.expect("noted else")
    screen.expect("> ")
    screen.type('wipe(path="/a")')
    screen.expect("[a]pprove")
    screen.interrupt()
    screen.expect("/continue")
    screen.expect("> ")
    screen.type("/continue")
    screen.expect("[a]pprove")
    screen.type("a")
    screen.expect("wiped /a")
    screen.expect("> ")
    screen.type("\x04")
    assert screen.end() == 0
    assert "to go on:  edgeward chat" in screen.text
    assert bundle.done == ["slow it", "note else", "wipe /a False"]


def test_a_policy_is_followed_from_turn_to_turn(bundle: Bundle, terminal: Open) -> None:
    """With --reload: what is changed in the file counts for the next call, a bad file does not."""
    screen = terminal(["chat", *bundle.options, "--reload"])
    screen.expect(", followed")
    screen.expect("> ")
    screen.type('note(text="one")')
    screen.expect("noted one")
    screen.expect("> ")
    bundle.policy.write_text("version: 2\ntools: {slow: allow}\n", encoding="utf-8")
    screen.type('note(text="two")')
    screen.expect("not on the allowlist")
    screen.expect("> ")
    bundle.policy.write_text("version: 2\ntools: {note: alow}\n", encoding="utf-8")
    screen.type('note(text="three")')
    screen.expect("the last good policy counts")
    screen.expect("not on the allowlist")
    screen.expect("> ")
    screen.type("\x04")
    assert screen.end() == 0
    assert "--reload" in screen.text.partition("to go on:")[2]
    assert bundle.done == ["note one"]


def test_a_shipped_policy_is_not_followed(bundle: Bundle, invoke: Invoke) -> None:
    """It does not change; the error says what to name."""
    for command in (["chat"], ["run"]):
        options = [*command, str(bundle.profile), "-p", "default", "--reload"]
        result = invoke(*options, *(["go"] if command == ["run"] else []))
        assert result.exit_code == 2
        assert "default is shipped: name a path" in result.stderr


def test_what_goes_wrong_in_a_turn_does_not_end_the_conversation(
    bundle: Bundle, invoke: Invoke
) -> None:
    """A provider that cannot be reached is one line; the next turn is asked for."""
    bundle.profile.write_text(
        bundle.profile.read_text() + "  llm: {provider: openai, model: m, api_key: sk-none, "
        "base_url: 'http://127.0.0.1:9/v1', max_retries: 0}\n"
    )
    options = [str(bundle.profile), "--policy", str(bundle.policy)]
    result = invoke("chat", *options, stdin="hello\nhello again\n")
    assert result.exit_code == 0
    assert result.stderr.count("error: openai") == 2
    assert "sk-none" not in result.output


def test_a_conversation_with_a_provider_keeps_its_connection(
    wire: Wire, bundle: Bundle, invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Turns run on one event loop, which the client's connections belong to."""
    wire.script(Say("one"), Say(calls=[Call("note", '{"text": "x"}')]), Say("two"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none-of-your-business")
    monkeypatch.setenv("OPENAI_BASE_URL", wire.openai_url)
    options = [str(bundle.profile), "--policy", str(bundle.policy), "--model", "openai:m"]
    result = invoke("chat", *options, stdin="first\nsecond\n")
    assert (result.exit_code, "error" in result.output) == (0, False)
    assert result.stdout.startswith("model    openai:m\n")
    assert [line for line in result.stdout.splitlines() if line.startswith("answer")] == [
        "answer   one",
        "answer   two",
    ]
    assert bundle.done == ["note x"]


def test_without_a_terminal_nobody_is_asked(bundle: Bundle, invoke: Invoke) -> None:
    """The call is rejected, and that is said."""
    result = invoke("chat", *bundle.options, stdin='wipe(path="/a")\n')
    assert "rejected: there is no terminal" in result.stdout
    assert bundle.done == []
