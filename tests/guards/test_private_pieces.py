"""Private pieces are found at the cost of the text, however many there are and how they begin."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edgeward.guards.ledger import USER, Entry, Ledger
from edgeward.guards.private_pieces import PrivatePieces

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def index(*pieces: str) -> PrivatePieces:
    """These pieces, one an entry."""
    found = PrivatePieces()
    for number, piece in enumerate(pieces):
        found.add(piece, number)
    return found


def test_pieces_of_several_sizes_with_one_beginning() -> None:
    """Each that stands in the text, and none that was observed later."""
    private = index("the code is ab1234", "the a1", "the code")
    text = "it says the code is ab1234 and the a1"
    assert set(private.found_in(text, 3)) == {"the code is ab1234", "the a1", "the code"}
    assert set(private.found_in(text, 1)) == {"the code is ab1234"}


def test_inside_a_longer_word() -> None:
    """A code within a word is found, and no number that is cut out of a longer one."""
    private = index("a1b2c3d4", "123456")
    assert set(private.found_in("key_xa1b2c3d4y and x123456y", 2)) == {"a1b2c3d4", "123456"}
    assert not list(private.found_in("no 91234567 and a1b2c3x", 2))


def test_many_pieces_that_begin_alike() -> None:
    """A hundred thousand beginnings of twenty thousand pieces: one look-up each, not all pairs."""
    pieces = [f"the {a}{b}{c}x" for a in LETTERS for b in LETTERS for c in LETTERS]
    assert not list(index(*pieces).found_in("the " * 100_000, len(pieces)))


def test_what_the_user_wrote_again_and_again() -> None:
    """What the user wrote is looked up once, however often it stands in the text."""
    said: Entry = {"source": USER, "call": "", "values": [], "text": "x " * 100_000 + "abc123def"}
    gave: Entry = {
        "source": "tool t",
        "call": "1",
        "values": [],
        "private": ["abc123def", "zz9911"],
    }
    ledger = Ledger([said, gave])
    assert ledger.private("abc123def " * 20_000) == ""
    assert ledger.private("abc123def " * 20_000 + "zz9911") == "zz9911"


def test_an_empty_index_holds_nothing() -> None:
    """Nothing was seen: nothing is private."""
    assert not list(PrivatePieces().found_in("anything at all 123456", 1))


@pytest.mark.parametrize(
    ("piece", "text"),
    [
        ("unit 4321", "1,234 tinu"),
        ("room 1234", "432,1 moor"),
        ("x9y8z7", "from 7,5: 7z8y9x"),
        ("a12b34", "4,43b21a then"),
    ],
)
def test_backwards_with_commas(piece: str, text: str) -> None:
    """A comma that stands in a number backwards may part it, or be no sign of it."""
    assert list(index(piece).found_in(text, 1)) == list(index(piece).found_in(text[::-1], 1))


def test_pieces_of_more_than_ascii() -> None:
    """They are found as they stand, backwards and encoded; other texts are free of them."""
    private = index("stra\u00dfe 99b".casefold(), "caf\u00e9 12345")
    assert set(private.found_in("am Caf\u00e9 12345", 2)) == {"caf\u00e9 12345"}
    assert set(private.found_in("54321 \u00e9fac", 2)) == {"caf\u00e9 12345"}
    encoded = base64.b64encode("caf\u00e9 12345".encode()).decode()
    assert set(private.found_in(f"see {encoded}", 2)) == {"caf\u00e9 12345"}
    assert not set(private.found_in("ein Brief \u00fcber das quarterlyreport", 2))


def test_a_piece_is_found_by_the_word_that_tells_most() -> None:
    """Wherever that word stands in the piece, and however often in the text."""
    private = index("of the quarterly plan", "the plan of 77 days", "quarterly and the plan")
    assert not list(private.found_in("the the of plan and quarterly the", 3))
    assert set(private.found_in("so the plan of 77 days, of the quarterly plan", 3)) == {
        "the plan of 77 days",
        "of the quarterly plan",
    }
    assert set(private.found_in("quarterly and quarterly and the plan", 3)) == {
        "quarterly and the plan"
    }


def test_a_text_that_held_none_is_looked_through_again_once_there_is_another_piece() -> None:
    """What is kept of a text is forgotten with the next private piece, however many are kept."""
    pieces = PrivatePieces()
    pieces.add("qx81z7", 0)
    for n in range(1_000):
        assert not list(pieces.found_in(f"badge kv44w2 of visitor {'x' * n}", 9))
    assert len(pieces.free) < 1_000
    pieces.add("kv44w2", 1)
    assert "kv44w2" in list(pieces.found_in("badge kv44w2 of visitor ", 9))
    assert not list(pieces.found_in("badge kv44w2 of visitor ", 1))


def test_what_an_earlier_version_may_not_know_a_later_one_finds() -> None:
    """Versions of a ledger share an index: that one found nothing says nothing of another."""
    first = Ledger([{"source": "tool t", "call": "c", "values": [], "private": ["code 77-12-33"]}])
    second = first.appended(
        [{"source": "tool t", "call": "d", "values": [], "private": ["maria lopez", "ab12cd34"]}]
    )
    for text in ("maria_lopez", "to maria lopez", "ab12_cd34", "AB12CD34", "zepol_airam"):
        assert not first.private(text)
        assert second.private(text), text


PIECES = ("482913", "ab12cd34", "4111111111111111", "k7x2 99qq", "the plan of june", "caf\u00e9 12")
FRAGMENTS = (
    *PIECES,
    *(piece[::-1] for piece in PIECES),
    *(base64.b64encode(piece.encode()).decode() for piece in PIECES),
    *(
        "482",
        "913",
        "4111",
        "1111",
        "ab12",
        "c",
        "d34",
        "1,234",
        "four eight two",
        "nine one three",
    ),
    *(
        "the",
        "plan",
        "to",
        "amount",
        "file_id",
        "x_482913_y",
        "\uff14\uff18\uff12\uff19\uff11\uff13",
    ),
    *("caf\u00e9", "482913,5", "double four", "oh", "zero", "\u738b\u82b3"),
)
VALUES = st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=4).flatmap(
    lambda parts: st.sampled_from(("", " ", "-", "_", ",")).map(lambda sign: sign.join(parts))
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PIECES), unique=True), st.lists(VALUES, max_size=6))
def test_where_all_values_at_once_hold_none_no_value_holds_one(
    known: list[str], values: list[str]
) -> None:
    """What is looked through at once, one value below the other, hides no piece of a single one."""
    private = index(*known)
    if private.has_none("\n".join(values)):
        for value in values:
            assert not list(index(*known).found_in(value, len(known))), value
