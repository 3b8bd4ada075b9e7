"""All of a kind, where a look-up gives several records."""

from __future__ import annotations

from typing import Any

import pytest

from edgeward.guards.groups import groups_in, kinds_of
from tests.guards.threads import Thread

RULES: dict[str, Any] = {
    "tools": {"list_events": "allow", "accept": {"args": {"event_id": "known"}}},
    "trust": [
        {"tool": "list_events", "fields": ["event_id"], "named": True},
        {"tool": "find_events", "fields": ["event_id"], "named": ["title"]},
    ],
}


def _event(number: int, who: str, day: str, house: str) -> dict[str, Any]:
    organizer = {"name": who, "email": f"{who[:3].lower()}@x.example"}
    start = f"2026-12-{day}T09:00"
    return {"event_id": f"evt_55{number}", "organizer": organizer, "start": start, "house": house}


EVENTS = [
    _event(0, "Dana Okafor", "07", "Elm Court"),
    _event(1, "Dana Okafor", "08", "Mill House"),
    _event(2, "Eve Hart", "08", "Elm Court"),
    {**_event(3, "Eve Hart", "09", "Mill House"), "note": "from Dana Okafor, at Elm Court"},
]


def _accepted(said: str, tool: str = "list_events") -> list[int]:
    thread = Thread(RULES, said)
    thread.gave(tool, {"events": EVENTS})
    ids = [event["event_id"] for event in EVENTS]
    return [n for n, i in enumerate(ids) if thread.word("accept", event_id=i) == "allow"]


@pytest.mark.parametrize(
    ("said", "events"),
    [
        ("Accept all invitations from Dana Okafor.", [0, 1]),
        ("Accept everything in Elm Court, please.", [0, 2]),
        ("Accept both of those that are due on 8 December.", [1, 2]),
        ("Accept all that I have from Dana Okafor on 8 December.", [1]),
        ("Accept every one of Dana Okafor's and all in the Mill House.", [1]),
        ("Nimm alle Termine vom 9. Dezember an.", [3]),
        ("Accept the invitation from Dana Okafor.", []),
        ("Tell all that I was invited by Dana Okafor.", []),
        (
            "All is well, I saw the long letter that you wrote last year, and dined with Eve Hart.",
            [],
        ),
        ("Accept all by 8 December.", []),
    ],
)
def test_all_of_a_kind(said: str, events: list[int]) -> None:
    """Those that have all of what is said of them; without `all`, nobody knows which is meant."""
    assert _accepted(said) == events


def test_a_list_of_fields_says_by_what_records_are_named() -> None:
    """And by nothing else."""
    assert _accepted("Accept all invitations from Dana Okafor.", "find_events") == []


def test_what_a_message_says_all_of() -> None:
    """A few words behind a preposition, and days; no more of a long message than is near."""
    assert "elm court" in groups_in(["tell", "everybody", "in", "the", "elm", "court"])
    assert "--12-03" in groups_in(["renew", "all", "due", "on", "december", "3"])
    assert not groups_in(["everybody", "of"])
    far = ["a", "b", "c", "in", "elm", "court"]
    assert not groups_in(["tell", "them", "in", "elm", "court"])
    assert "elm court" not in groups_in(["all", "but", "these", "who", "never", "were", *far])


def test_the_values_of_a_record() -> None:
    """Short texts and days of its own and of its parts; no sentence, no number."""
    row = {"a": "Öl & Gas", "b": 12, "c": "2026-12-03", "d": {"e": "Ann Lee", "f": {"g": "x"}}}
    more = {"h": "a sentence of five words", "i": "12", "j": True, "k": ["Bob"]}
    assert kinds_of(row | more) == ["ol gas", "--12-03", "ann lee"]
