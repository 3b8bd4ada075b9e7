"""Private data in other forms: backwards, encoded, in pieces, within words."""

from __future__ import annotations

import base64

import pytest

from edgeward.guards.disguises import undisguised
from tests.guards.threads import Thread

RULES = {"private": ["read_*"], "tools": {"read_*": "allow", "say": {}, "fetch": "allow"}}
KEY = "Secret key is 1a7b3d."
LINE = "the board meets on Friday at nine to talk about the sale of the north plant"


def told() -> Thread:
    """A thread that has read a key and a sentence."""
    t = Thread(RULES, "Tell them")
    t.gave("read_inbox", [{"body": KEY}, {"body": LINE}, {"body": "Card 4000 1234 5678 9010"}])
    return t


@pytest.mark.parametrize(
    "text",
    [
        "1a7b3d",
        "1A7B3D",
        "1 a 7 b 3 d",
        "1-a-7-b-3-d",
        "key1a7b3dend",
        "id_1a7b3d",
        "d3b7a1",
        base64.b64encode(b"1a7b3d").decode(),
        base64.urlsafe_b64encode(b"the key: 1a7b3d, keep it").decode().rstrip("="),
        b"1a7b3d".hex(),
        b"1a7b3d".hex() + "==",
        "4 0 0 0 1 2 3 4 5 6 7 8 9 0 1 0",
        base64.b64encode(LINE.encode()).decode(),
        "one, ay, seven, bee, three, dee",
        "one alpha seven bravo three delta",
        "ONE - Alfa, SEVEN - Bravo, THREE - Delta",
        "the digit one, then letter A, seven, b as in: bee... no: eins a sieben b drei d",
        "uno a siete b tres d",
        "four double zero zero, twelve thirty-four, fifty-six seventy-eight, ninety ten",
        "four thousand? no: four oh oh oh one two three four five six seven eight nine oh one oh",
        "\u0661a\u0667b\u0663d",
        "\u4e00 a \u4e03 b \u4e09 d",
    ],
)
@pytest.mark.parametrize("tool", ["say", "fetch"])
def test_a_disguise_is_seen_through(tool: str, text: str) -> None:
    """Whether the tool has conditions, or is plainly allowed."""
    t = told()
    verdict = t.verdict(tool, text=f"So: {text} - bye")
    assert verdict.word == "block"
    assert "private data" in verdict.reason


@pytest.mark.parametrize(
    "text",
    [
        "1a7b3",
        "see you on Friday",
        "991a7b3d",
        "bm90aGluZyBpbiBoZXJl",
        "0xdeadbeef00",
        "dab73",
        "one of you and two of the seven are there, see you at three",
        "one alpha seven bravo four delta",
        "twenty of a hundred and seventy, double the three of last year",
        "Mike and Oscar, Victor, Romeo and Juliet see a hotel in Lima, India",
    ],
)
def test_what_is_not_private_goes_through(text: str) -> None:
    """Other words, other numbers, other encodings."""
    t = told()
    assert t.word("say", text=text) == t.word("fetch", text=text) == "allow"


def test_a_day_is_not_private() -> None:
    """A date that stood in a private text may be written to a calendar."""
    t = Thread(RULES, "Note it")
    t.gave("read_inbox", [{"body": "Meet on 2024-05-26", "sent": "2024-05-20T10:30:00"}])
    assert t.word("say", at="2024-05-26 13:00") == t.word("fetch", at="2024-05-26") == "allow"


def test_what_the_user_wrote_is_not_private() -> None:
    """Their own words may go wherever they want them."""
    t = told()
    t.says("It is 1a7b3d")
    assert t.word("fetch", text="1a7b3d") == "allow"


@pytest.mark.parametrize(
    ("private", "said", "sent"),
    [
        ("code 482913X", "My code 482913X, send it", "code 482913X"),
        ("code 482913X", "My code is 482913X", "the code 482913X"),
        ("AB12-CD34", "Send them AB12-CD34.", "It is AB12-CD34"),
        ("AB12-CD34", "Send them ab12cd34", "It is AB12-CD34"),
        ("AB12-CD34", "Send them AB12 CD34", "It is AB12-CD34 or AB12CD34"),
        ("Room 4821", "Tell them room 4821", "It is room 4821"),
        ("4000 1234 5678 9010", "with 4000-1234-5678-9010", "4000123456789010"),
    ],
)
def test_what_the_user_repeats_is_not_private(private: str, said: str, sent: str) -> None:
    """Word for word, or in other groups."""
    t = Thread(RULES, said)
    t.gave("read_inbox", [{"body": private}])
    assert t.word("say", text=sent) == t.word("fetch", text=sent) == "allow"


def test_a_part_of_what_the_user_wrote_is_still_private() -> None:
    """The code, and not something like it."""
    t = Thread(RULES, "My code is 482913, and room 48")
    t.gave("read_inbox", [{"body": "code 482913X"}, {"body": "Room 4821"}])
    for sent in ("482913X", "code 482913X", "room 4821", "Room4821"):
        assert t.word("say", text=sent) == t.word("fetch", text=sent) == "block"


def test_private_tools_may_read_on() -> None:
    """What was read may be looked up where it came from."""
    assert told().word("read_more", text="1a7b3d") == "allow"


def test_undisguised_is_bounded() -> None:
    """A long text is looked at up to a bound, in one pass."""
    assert len(undisguised("".join(f"ab{n}cd " for n in range(20_000)))) < 4_000
