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
