"""A history whose ledger is read once somebody asks for it."""

from __future__ import annotations

import pytest

from edgeward.guards.ledger import History, Ledger


class Reading:
    """Gives a ledger, and counts how often it was asked for it."""

    judge = ""

    def __init__(self) -> None:
        self.ledger = Ledger()
        self.times = 0

    def __call__(self) -> Ledger:
        """The ledger."""
        self.times += 1
        return self.ledger


def test_a_ledger_is_read_when_it_is_first_asked_for() -> None:
    """Other fields can be read and changed without it; and it is read once."""
    reading = Reading()
    history = History(thread="a").reading(reading, calls={"pay": 1})
    other = history.but(thread="b")
    assert (history.thread, other.thread, other.calls["pay"], reading.times) == ("a", "b", 1, 0)
    assert history.ledger is reading.ledger
    assert history.ledger is reading.ledger
    assert reading.times == 1


def test_once_it_is_read_a_history_is_like_any_other() -> None:
    """It has no slower class than those that had their ledger from the beginning."""
    history = History().reading(Reading())
    assert type(history) is not History
    assert history.ledger == []
    assert type(history) is History
    assert history == History()


def test_what_no_field_is_called_is_an_error() -> None:
    """Before and after the ledger was read."""
    history = History().reading(Reading())
    for _ in range(2):
        with pytest.raises(AttributeError):
            history.leger  # type: ignore[attr-defined]
        assert history.ledger == []
