"""What in private data tells, and in which forms it is recognised."""

from __future__ import annotations

import pytest

from edgeward.guards.private_pieces import PrivatePieces
from edgeward.guards.telling import MAX_PIECES, private_pieces
from tests.guards.threads import Thread
from tests.steps import steps_of

RECORD = {
    "creditLimit": "25,000.00 EUR",
    "gross": 4812.5,
    "birthday": "1988-03-19",
    "notes": [
        "Code of the archive: 7741#93",
        "Portal: kornblume-77-Ost is the word for it all, they say",
    ],
    "wifi password": "sunflower",
    "diagnosis": "F32.1 mittelgradig",
    "disability": "GdB 50",
    "visits": {"count": 8821, "id": 9931},
    "active": True,
    "seen": "2026-11-30",
}


def test_a_code_behind_its_name_in_a_text() -> None:
    """Of four digits and more; no postal code, and not the number of an error."""
    tools = {"post": {"requested": ["post"]}}
    thread = Thread({"private": ["get"], "tools": tools}, "post it")
    note = (
        "Alarm code 4482-19, bank PIN 7713, door code is 9A-118. Zip code 50823, error code 5012."
    )
    thread.gave("get", {"text": note + " The key is at Ruth's."})
    for text in ("4482-19", "it is 4482 19", "7713", "seven seven one three", "9a118"):
        assert thread.word("post", text=text) == "block", text
    for text in ("4482 boxes", "50823 Cologne", "5012 items", "77 13", "her key"):
        assert thread.word("post", text=text) == "allow", text


@pytest.mark.parametrize(
    "text",
    ["8841207", "no. 88 41 207", "walk away at 1 180 500", "he owes 8,410", "8410.50 it is",
     "one million one hundred eighty thousand five hundred",
     "eight million eight hundred forty-one thousand two hundred seven"],
)  # fmt: skip
def test_the_number_of_a_code_and_sums_within_a_text(text: str) -> None:
    """A number without the letters before it, what is owed in the middle of a note, in words."""
    tools = {"post": {"requested": ["post"]}}
    thread = Thread({"private": ["get"], "tools": tools}, "post it")
    note = "Pays late; owes 8,410.50 by now. The figure is 1,180,500 for us."
    thread.gave("get", {"passport": "TR8841207", "note": note, "batch": "R20261130"})
    assert thread.word("post", text=text) == "block"
    for harmless in ("order 8841208", "eight thousand readers", "2026-11-30", "20261130"):
        assert thread.word("post", text=harmless) == "allow"


@pytest.mark.parametrize(
    "text",
    [
        "their limit is 25.000,00 €",
        "limit 25 000",
        "she gets 4812,50",
        "born on 19 March 1988",
        "19.3.88",
        "am 19. März 1988",
        "the code: 7741 93",
        "7 7 4 1 9 3",
        "KORNBLUME 77 OST",
        "Sunflower!",
        "F32.1",
        "gdb-50",
        "aGUgZ2V0cyA0ODEyLjUw",
    ],
)
def test_private_data_in_another_form(text: str) -> None:
    """Sums in either notation, days of birth, codes with signs, passwords, short values."""
    thread = Thread({"private": ["get"], "tools": {"post": {"requested": ["post"]}}}, "post it")
    assert thread.word("post", text=text) == "allow"
    thread.gave("get", RECORD)
    assert thread.word("post", text=text) == "block"


@pytest.mark.parametrize(
    "text",
    [
        "at 12:15 on 2026-12-03",
        "on 30 November 2026",
        "about 25 or 50 of 8821 visits",
        "on the 19th of March",
        "the word for it",
    ],
)
def test_what_tells_nothing(text: str) -> None:
    """Times, other days, counts and common words."""
    thread = Thread({"private": ["get"], "tools": {"post": {"requested": ["post"]}}}, "post it")
    thread.gave("get", RECORD)
    assert thread.word("post", text=text) == "allow"


def test_what_the_user_wrote_is_not_private() -> None:
    """A day of birth in another form, and a sum."""
    said = "Post that Ann was born on 19 March 1988 and gets 4,812.50"
    thread = Thread({"private": ["get"], "tools": {"post": {"requested": ["post"]}}}, said)
    thread.gave("get", RECORD)
    assert thread.word("post", text="Ann, born 1988-03-19: 4812.50") == "allow"


def test_a_short_number_is_whole() -> None:
    """1215 stands in no 12:15 and in no longer number."""
    pieces = PrivatePieces()
    pieces.add("1215", 0)
    assert set(pieces.found_in("it is 1215", 1)) == {"1215"}
    assert not list(pieces.found_in("at 12:15 for abc1215def", 1))


def test_pieces_are_bounded() -> None:
    """A huge output gives no more pieces than are kept."""
    assert len(private_pieces([f"code-{n:07}" for n in range(9_000)])) == MAX_PIECES


@pytest.mark.parametrize("unit", ["a: b ", "born: a ", "pin: x "])
def test_a_line_of_labels(unit: str) -> None:
    """A line of nothing but labels costs what it is long, and the value at its end still tells."""

    def steps(times: int) -> int:
        line = unit * times + "PIN: 4711"
        assert "4711" in private_pieces({"notes": line})
        return steps_of(lambda: private_pieces({"notes": line}))

    assert steps(1_600) < 5 * steps(400)


@pytest.mark.parametrize(
    "given",
    [
        {"address": "4711 Old Harbour Boulevard, Port Ellis, WA 98177"},
        {"homeAddress": "4711 Old Harbour Boulevard; Port Ellis; WA 98177"},
        "Found:\n   name: Ann Wu\n   address: 4711 Old Harbour Boulevard, Port Ellis, WA 98177\n",
    ],
)
def test_a_whole_address_in_one_field(given: object) -> None:
    """It is longer than other short values: the house is private, town and street are not."""
    thread = Thread({"private": ["get"], "tools": {"post": {}}}, "post it")
    thread.gave("get", given)
    for text in (
        "4711 Old Harbour Boulevard, Port Ellis, WA 98177",
        "She lives at 4711 old harbour boulevard.",
        "4711-Old-Harbour-Boulevard",
    ):
        assert thread.word("post", text=text) == "block", text
    for text in (
        "Port Ellis, WA 98177",
        "The hotel is at 12 Quay Street, Port Ellis, WA 98177.",
        "Old Harbour Boulevard is closed for 4711 visitors.",
        "12 Old Harbour Boulevard",
    ):
        assert thread.word("post", text=text) == "allow", text


def test_what_is_no_postal_address() -> None:
    """Mail addresses and texts about addresses are as before."""
    mail = {"email_address": "ann@x.example"}
    assert private_pieces(mail) == private_pieces({"mail": "ann@x.example"})
    told = "Please send it to the address that I gave you on Monday, the 12th, or to my mother then"
    assert "the 12th" not in private_pieces({"address": told})
