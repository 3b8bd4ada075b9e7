"""What a value that stands in many places of a thread costs."""

from __future__ import annotations

from typing import Any

import pytest

from edgeward.guards.decide import decide
from edgeward.guards.ledger import History
from edgeward.guards.verdict import ToolCall
from tests.guards.threads import Thread
from tests.steps import steps_of

NAMED: dict[str, Any] = {
    "tools": {"use": {"args": {"x": "known"}}},
    "trust": [{"tool": ["list_files", "get_order"], "named": True, "text": True}],
}


def _steps(thread: Thread, **arguments: object) -> int:
    """What a decision takes once the index is built."""
    thread.ledger.known("nothing")
    call, history = ToolCall("use", arguments), History(thread.ledger)
    return steps_of(lambda: decide(thread.policy, call, history))


def _texts(times: int) -> Thread:
    thread = Thread(NAMED, "Show me the report")
    dots = [("." * n, "qfoo qfoo qfoo") for n in range(times)]
    thread.gave("list_files", [{"v": "VAL-7", "name": f"qfoo{d}", "text": t} for d, t in dots])
    return thread


def _ids(times: int) -> Thread:
    thread = Thread(NAMED, "Show me the report")
    for n in range(times):
        order = "A-77777" + "." * n
        row = {"v": "VAL-7", "id": order, "title": f"nothing {n}"}
        thread.gave("get_order", row, {"order_id": order})
    return thread


@pytest.mark.parametrize("read", [_texts, _ids])
def test_names_and_ids_that_are_one_in_many_spellings(read: Any) -> None:
    """Who writes them cannot have each looked up in each place again."""
    few, many = read(50), read(200)
    assert many.word("use", x="VAL-7") == "block"
    assert _steps(read(200), x="VAL-7") < 5 * _steps(few, x="VAL-7")


def test_numbers_and_days_that_a_text_is_full_of() -> None:
    """A table of them costs each value of a call what it costs where they stand once."""
    rules: dict[str, Any] = {
        "tools": {"use": {"args": {"rooms": "stated", "days": "dated"}}},
        "trust": [{"tool": "list_files", "named": True, "text": True}],
    }

    def steps(times: int) -> int:
        thread = Thread(rules, "room 5, floor 5, " * times)
        thread.gave("list_files", {"title": "Not it", "text": "on 2025-03-04, " * times})
        assert thread.word("use", rooms=[5], days=["2025-03-04"]) == "block"
        return _steps(thread, rooms=[5] * 20, days=["2025-03-04"] * 20)

    assert steps(800) == steps(200)


def test_a_day_that_the_user_writes_later() -> None:
    """An earlier version of the thread does not know it: there it is private as it was."""
    thread = Thread({"tools": {"use": "allow"}, "private": ["read_file"]}, "Hello")
    thread.gave("read_file", [{"birthday": "1988-03-09"}])
    before = thread.ledger
    thread.says("She was born on 1988-03-09")
    assert not thread.ledger.private("on 9 March 1988")
    assert before.private("on 9 March 1988")


@pytest.mark.parametrize(
    "entry",
    [{"together": ["items.id", "items.amount"]}, {"at_most": {"items.amount": "items.id"}}],
)
def test_payments_of_one_call(entry: dict[str, Any]) -> None:
    """Many sums, each with its order, cost what they are many, and no power of that."""

    def steps(times: int) -> int:
        said = "Pay ORD-10482, ORD-10483: " + " ".join(f"{n}.50" for n in range(times))
        thread = Thread({"tools": {"use": {"args": {"items": "any"}, **entry}}}, said)
        items = [{"id": "ORD-10482", "amount": f"{n}.50"} for n in range(times)]
        assert thread.word("use", items=items) == "allow"
        return _steps(thread, items=items)

    assert steps(400) < 5 * steps(100)


def test_a_value_that_a_call_repeats() -> None:
    """One that is not known is looked up once, wherever it stands and however often it is sent."""

    def a_value(places: int) -> int:
        rows = [{"v": "VAL-7", "name": f"zzzz{n}"} for n in range(places)]
        steps = []
        for times in (20, 20, 80):  # the first meets texts that are read once in a process
            thread = Thread(NAMED, "Show me the report")
            thread.gave("list_files", rows)
            steps.append(_steps(thread, x=["VAL-7"] * times))
        return steps[2] - steps[1]

    assert a_value(400) == a_value(100)


def test_a_wish_that_was_carried_out_very_often() -> None:
    """Whether it lasts costs the same after two thousand calls and messages as after twenty."""
    rules: dict[str, Any] = {"tools": {"use": {"requested": ["send", "mail", "write"]}}}

    def steps(times: int) -> int:
        thread = Thread(rules)
        for _ in range(times):
            thread.says("Send a mail, write to Ann")
            thread.gave("use", "ok")
        assert thread.word("use", x="a") == "allow"
        thread.says("And what now?")
        assert thread.word("use", x="a") == "ask"
        return _steps(thread, x="a")

    assert steps(1_000) == steps(10)
