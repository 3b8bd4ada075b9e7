"""Half of a secret number is kept as all of it is; numbers that are counted up have no parts."""

from __future__ import annotations

import base64

import pytest

from edgeward.guards.decide import decide
from edgeward.guards.ledger import History
from edgeward.guards.parts import Parts, parts_of, size_of_parts
from edgeward.guards.pieces import pieces
from edgeward.guards.verdict import ToolCall
from tests.guards.threads import Thread

CARD = "4000123456789017"
IBAN = "DE89370400440532013000"
KEY = "q7w2e9r4t1y6u3"
RULES = {
    "private": ["read_*"],
    "tools": {"read_*": "allow", "say": {}, "fetch": "allow", "create_ticket": {}},
}


def told(asked: str = "Tell them") -> Thread:
    """A thread that has read a card, an account and a key."""
    t = Thread(RULES, asked)
    t.gave("read_inbox", [{"card": "4000 1234 5678 9017", "iban": IBAN, "key": KEY}])
    return t


@pytest.mark.parametrize(
    "part",
    [
        CARD[:8],
        CARD[8:],
        CARD[4:12],
        CARD[:-1],
        "4000 1234",
        "56-78-90-17",
        CARD[8:][::-1],
        f"no{CARD[:10]}x",
        f"99{CARD[3:13]}99",
        base64.b64encode(b"half: " + CARD[:8].encode()).decode(),
        CARD[:8].encode().hex(),
        "four zero zero zero one two three four",
        "four triple zero twelve thirty-four",
        "".join(chr(0x660 + int(digit)) for digit in CARD[:8]),
        IBAN[10:],
        IBAN[-11:],
        KEY[:8],
        KEY[6:].upper(),
        "q7 w2 e9 r4",
    ],
)
@pytest.mark.parametrize("tool", ["say", "fetch"])
def test_half_of_a_secret_number_stays(tool: str, part: str) -> None:
    """In one piece or in groups, encoded, backwards or spelt out, within other signs."""
    verdict = told().verdict(tool, text=f"So it is {part} - bye")
    assert verdict.word == "block"
    assert "private data" in verdict.reason


def test_half_that_leaves_in_quarters_stays() -> None:
    """Two calls that each carry four digits make half of a card together."""
    t = told()
    first, second = ({"text": f"part {part}"} for part in ("a1 4000", "b2 1234"))
    assert t.word("say", **first) == t.word("say", **second) == "allow"
    history = History(t.ledger, sent=pieces(first))
    verdict = decide(t.policy, ToolCall("say", second), history)
    assert verdict.word == "block"
    assert "in pieces" in verdict.reason


@pytest.mark.parametrize(
    "text",
    [
        "the card that ends in 9017",
        "card 4000 12** **** 9017",
        "the account that ends in 3000 at the bank 37040044",
        "the key begins with q7w2",
        "on 2026-01-15 at 10:30 we paid 1,234.50",
    ],
)
def test_what_names_a_number_may_be_said(text: str) -> None:
    """The last four digits, the bank, a masked number, other numbers."""
    assert told().verdict("say", text=text).word == "allow"


def test_what_the_user_wrote_may_be_said() -> None:
    """Half of a number that the user wrote, or another number of theirs with the same half."""
    assert told(f"My card is {CARD}").verdict("say", text=f"card {CARD[:8]}").word == "allow"
    other = IBAN[:18] + "9999"
    assert told(f"Tell {other} to him").verdict("say", text=f"it is {other}").word == "allow"


def test_an_id_that_was_created_may_be_named() -> None:
    """A service gives ids that begin alike: one that the agent's own call returned is no part."""
    t = told()
    t.gave("create_ticket", {"id": "q7w2e9r4t1z5x8"})
    assert t.verdict("say", text="your ticket is q7w2e9r4t1z5x8").word == "allow"
    assert t.verdict("say", text="your ticket is q7w2e9r4t1z5x9").word == "block"


@pytest.mark.parametrize(
    ("code", "size"),
    [
        (CARD, 8),
        ("4000123456789016", 0),  # no card: the check digit is wrong
        ("1700000000000", 0),
        ("20260115123000", 0),
        (IBAN.lower(), 11),
        ("de00370400440532013000", 0),
        (KEY, 8),
        ("550e8400e29b41d4a716446655440000", 16),
        ("inv2026000123", 0),
        ("order20260001234", 0),
        ("a1b2c3", 0),
    ],
)
def test_which_codes_have_parts(code: str, size: int) -> None:
    """By check digits, or letters and digits that take turns."""
    assert size_of_parts(code) == size
    assert all(len(part) == size and part in code for part in parts_of(code))
    assert bool(parts_of(code)) == bool(size)


def test_parts_that_are_observed_later() -> None:
    """A version of the ledger that ends earlier knows nothing of them."""
    parts = Parts()
    parts.add(CARD, 3)
    assert set(parts.found_in(["no", CARD[:9]], 4)) == {CARD[:8], CARD[1:9]}
    assert not set(parts.found_in(["no", CARD[:9]], 3))
    assert parts.may_be_in([CARD[:8]], 8)
    assert not parts.may_be_in([CARD[:7]], 7)
