"""What model calls have used, as doors keep it by the place in a conversation."""

from __future__ import annotations

from edgeward.guards.limits import Limits, Price
from edgeward.guards.spent import UNKNOWN, Accounts, Spent, Usage
from edgeward.guards.turns import ToolResult, UserText

LIMITS = Limits(prices={"small": Price(1e6, 2e6, 5e5), "big": Price(1e7, 3e7)})


def test_what_a_model_call_costs() -> None:
    """By what was read and written; what is not parted costs the dearer, an unknown model most."""
    assert Usage(4, 1, 2, "small").amounts(LIMITS) == {"tokens": 5, "cost_usd": 5.0}
    assert Usage(model="small", total=3).amounts(LIMITS) == {"tokens": 3, "cost_usd": 6.0}
    assert Usage(1, 1, model="new").amounts(LIMITS) == {"tokens": 2, "cost_usd": 40.0}
    assert Usage(1, 1, total=5).amounts(None) == {"tokens": 5}
    assert Usage(-4, 1, total=-9).amounts(None) == {"tokens": 1}


def test_amounts_before_a_place() -> None:
    """A run's begin anew with the user's word; the place itself is not counted."""
    accounts = Accounts()
    turns = [UserText("a"), UserText("b"), ToolResult("c", "d")]
    places = [b"1", b"2", b"3"]
    for place in places:
        accounts.note(place, {"tokens": 10}, ended=5.0)
    accounts.note(b"1", {"tokens": 7, "seconds": 2})
    spent = accounts.before(Spent(), turns, places)
    assert (spent.run["tokens"], spent.thread["tokens"], spent.thread["seconds"]) == (10, 20, 2)
    accounts.waited(spent, b"3", 9.0)
    assert accounts.at(b"3")[0] == {"tokens": 10, "seconds": 4.0}


def test_a_caller_nobody_counts_for_is_refused() -> None:
    """What stands there blocks every limit on it."""
    assert Spent().used(run=1, thread=2)["caller"] == UNKNOWN
