"""Private pieces are found at the cost of the text, however many there are and how they begin."""

from __future__ import annotations

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
