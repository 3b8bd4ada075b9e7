"""Ids out of a private profile, by which other tools look things up."""

from __future__ import annotations

from typing import Any

import pytest

from .threads import Thread

PROFILE = {"name": "Ann Wu", "bookings": ["BK-77120", "BK-88131"], "passport": "HGK137803"}
RULES: dict[str, Any] = {
    "private": ["get_profile"],
    "tools": {
        "get_*": "allow",
        "note": {"requested": ["note"]},
        "search": "allow",
    },
    "trust": [{"tool": "get_profile", "fields": ["bookings"], "named": True}],
}


def _thread(rules: dict[str, Any] = RULES, said: str = "I am Ann Wu, note my bookings.") -> Thread:
    thread = Thread(rules, said)
    thread.gave("get_profile", PROFILE)
    return thread


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("get_booking", {"booking_id": "BK-77120"}),
        ("get_bookings", {"bookingIds": ["BK-77120", "BK-88131"]}),
        ("note", {"id": "BK-88131", "text": "has a dog"}),
    ],
)
def test_a_trusted_id_is_looked_up(tool: str, arguments: dict[str, Any]) -> None:
    """The policy trusts the field: a look-up by it says nothing of the private record."""
    assert _thread().word(tool, **arguments) == "allow"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("get_booking", {"booking_id": "HGK137803"}),
        ("get_booking", {"booking_id": "BK-77120 HGK137803"}),
        ("get_bookings", {"booking_ids": ["BK-77120", "HGK137803"]}),
        ("get_booking", {"booking_id": "BK-77120", "why": "HGK137803"}),
        ("get_booking", {"booking_id": "BK-77120", "a": "HGK", "b": "137803"}),
        ("get_booking", {"HGK137803_id": "BK-77120"}),
        ("note", {"HGK137803 id": "BK-77120"}),
        ("note", {"hgk_id": "BK-77120", "137803_id": "BK-88131"}),
        ("search", {"query": "BK-77120"}),
        ("note", {"text": "BK-88131"}),
        ("note", {"id": "BK-88131", "text": "HGK137803"}),
        ("note", {"id": "BK-88131", "text": "HGK", "more": "137803"}),
    ],
)
def test_what_is_no_trusted_id_stays_private(tool: str, arguments: dict[str, Any]) -> None:
    """Neither what nothing trusts, nor an id in a text, nor anything beside one."""
    assert _thread().word(tool, **arguments) == "block"


def test_an_id_that_nothing_trusts_stays_private() -> None:
    """Without the entry of `trust`, for another record, and after a gap."""
    call = {"booking_id": "BK-77120"}
    assert _thread({**RULES, "trust": []}).word("get_booking", **call) == "block"
    assert _thread(said="I am Bob Lee.").word("get_booking", **call) == "block"
    thread = _thread()
    thread.ledger = thread.ledger.with_gap("not all was seen")
    assert thread.word("get_booking", **call) == "block"
    assert thread.word("note", **call, text="x") == "block"


TOLD = {
    "address": "12 Elm Street, Springfield 62704",
    "phone": "+14155550134",
    "iban": "DE89370400440532013000",
    "born": "1980-04-02",
    "illness": "type 2 diabetes mellitus",
    "card": "BK-77120",
}


@pytest.mark.parametrize("field", ["address", "phone", "iban", "born", "illness"])
def test_what_tells_by_itself_is_no_id(field: str) -> None:
    """Who may be paid or written to by it is not told of others in an argument called an id."""
    thread = Thread({**RULES, "trust": [{"tool": "get_profile", "fields": [*TOLD]}]}, "note it")
    thread.gave("get_profile", TOLD)
    assert thread.word("note", id="BK-77120") == "allow"
    for name in ("id", "noteIds"):
        assert thread.word("note", **{name: TOLD[field]}) == "block"
        assert thread.word("note", **{name: ["BK-77120", TOLD[field]]}) == "block"


def test_a_source_that_is_trusted_as_a_whole_gives_no_ids() -> None:
    """No field of it was said to hold them: a passport's number would be one, too."""
    for trust in ({}, {"text": True}, {"fields": ["passport"], "text": True}):
        thread = Thread({**RULES, "trust": [{"tool": "get_profile", **trust}]}, "note it")
        thread.gave("get_profile", {"passport": "no. HGK137803", "bookings": ["BK-77120"]})
        assert thread.word("note", id="HGK137803") == "block"
        assert thread.word("get_booking", booking_id="BK-77120") == "block"


def test_an_id_beside_private_words_of_the_user() -> None:
    """What the user wrote is free, and so is the id that stands beside it."""
    thread = _thread(said="I am Ann Wu, passport HGK137803: note it.")
    assert thread.word("note", id="BK-77120", text="passport HGK137803") == "allow"
    assert thread.word("note", id="HGK137803", text="BK-77120") == "block"
