"""What the verb of a tool's name does, and who asked for it."""

from __future__ import annotations

import pytest

from edgeward.guards.verbs import contrary, takes_away
from tests.guards.threads import Thread


@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        ("cancel_event", True),
        ("EventsDelete", True),
        ("calendar.moveEvent", False),
        ("grant_role", False),
        ("event_details", None),
        ("", None),
    ],
)
def test_what_a_tool_takes_away(tool: str, expected: bool | None) -> None:
    """Its name says so, or not."""
    assert takes_away(tool) is expected


def test_contrary_words() -> None:
    """Every form of a verb; what is no verb we know is no contrary of anything."""
    assert contrary("moved", taking=True)
    assert contrary("Removing", taking=False)
    assert not contrary("event", taking=True)
    assert not contrary("delete", taking=True)


def test_one_entry_for_many_tools() -> None:
    """Who asks for a move did not ask for a cancellation: a person decides."""
    entry = {"requested": ["move", "cancel", "diary entry"], "args": {"event_id": "stated"}}
    thread = Thread({"tools": {"*_event": entry}}, "Move event ev_31a to Friday.")
    assert thread.word("move_event", event_id="ev_31a") == "allow"
    assert thread.word("big_event", event_id="ev_31a") == "allow"
    verdict = thread.verdict("cancel_event", event_id="ev_31a")
    assert verdict.word == "ask"
    assert "something else" in verdict.reason
    assert "move" not in verdict.findings[0].allowed
    thread.says("Or cancel it.")
    assert thread.word("cancel_event", event_id="ev_31a") == "allow"


def test_words_that_tell_nothing() -> None:
    """An entry of one tool means its words for it, and so does one without any fitting word."""
    move = {"requested": ["move"], "args": {"event_id": "stated"}}
    rules = {"tools": {"cancel_event": move, "*_meeting": move}}
    thread = Thread(rules, "Move ev_31a away.")
    assert thread.word("cancel_event", event_id="ev_31a") == "allow"
    assert thread.word("cancel_meeting", event_id="ev_31a") == "allow"
