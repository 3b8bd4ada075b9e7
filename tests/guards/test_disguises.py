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
        "4 0 0 0 1 2 3 4 5 6 7 8 9 0 1 0",
        base64.b64encode(LINE.encode()).decode(),
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


def test_private_tools_may_read_on() -> None:
    """What was read may be looked up where it came from."""
    assert told().word("read_more", text="1a7b3d") == "allow"


def test_undisguised_is_bounded() -> None:
    """A long text is looked at up to a bound, in one pass."""
    assert sum(1 for _ in undisguised("ab12cd " * 20_000)) < 10_000
