"""`receipts: history`: each receipt says what the thread has seen since the one before it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from edgeward import Firewall, ReceiptLog, load_policy
from edgeward.guards.ledger import Ledger
from edgeward.guards.python_values import as_call
from edgeward.guards.receipts import past
from edgeward.guards.receipts.chain import bodies
from edgeward.guards.receipts.stores import read_log
from edgeward.guards.redact import Redactor
from edgeward.guards.verdict import ToolCall

from ...fakes import Recorder, agent_graph, ask, on, turn

POLICY = {
    "version": 2,
    "receipts": "history",
    "tools": {"read": "allow", "send": {"args": {"to": "known"}, "otherwise": "ask"}},
    "trust": [{"tool": "read", "fields": ["email"]}],
}
ANN = {"email": "ann@corp.example"}
SCRIPT = [
    turn(("read", {"what": "x"}, "c0"), ("rm", {}, "d0")),
    "done",
    turn(("read", {"what": "x"}, "c1"), ("rm", {}, "d1")),
    "done",
]


def pasts(path: Path) -> list[dict[str, Any]]:
    """What the receipts of a log say of the past, in order, with the receipt's own name."""
    return [body.get("past", {}) | {"is": body["receipt"]} for body in bodies(read_log(path)[0])]


def test_what_the_user_said_and_tools_gave_back_stands_in_the_next_receipt(tmp_path: Path) -> None:
    """Once: later receipts name the one that has it."""
    path = tmp_path / "log.jsonl"
    firewall = Firewall(load_policy(POLICY, receipts=ReceiptLog(path)), thread="t")
    firewall.said("Mail Ann.")
    firewall.check("read", {"n": 1}, id="c1")
    firewall.observe(as_call("read", {"n": 1}, id="c1"), [ANN])
    firewall.check("send", {"to": "ann@corp.example"})
    firewall.check("send", {"to": "bob@corp.example"})
    first, second, third = pasts(path)
    assert first["entries"] == [{"said": "Mail Ann."}]
    assert "after" not in first
    assert second["after"] == first["is"]
    assert second["entries"] == [
        {
            "tool": "read",
            "call": "c1",
            "arguments": {"n": 1},
            "text": '[{"email":"ann@corp.example"}]',
        }
    ]
    assert second["calls"] == {"read": 1}
    assert third["after"] == second["is"]
    assert "entries" not in third


def test_a_graph_goes_on_in_another_process_where_its_receipts_ended(tmp_path: Path) -> None:
    """How much was told is kept with the thread."""
    path, threads = tmp_path / "log.jsonl", tmp_path / "threads.sqlite"
    ran = Recorder()
    for number in range(2):
        graph = agent_graph(
            SCRIPT,
            tools=[ran.tool("read"), ran.tool("rm")],
            policy=load_policy(POLICY, receipts=ReceiptLog(path)),
            checkpointer=threads,
        )
        graph.invoke(ask(f"word {number}"), on("t"))
    found = pasts(path)
    assert [list(map(kind, p.get("entries", []))) for p in found] == [
        ["word 0"],
        [],
        ["read", "word 1"],
        [],
    ]
    assert [p.get("after") for p in found[1:]] == [p["is"] for p in found[:-1]]
    assert [p.get("beside", False) for p in found] == [False, True, False, True]


def kind(entry: dict[str, Any]) -> str:
    """What one told entry is: the user's text, or a tool's name."""
    return str(entry.get("said") or entry["tool"])


def test_a_receipt_costs_the_same_after_a_long_history(tmp_path: Path) -> None:
    """The last line of a long thread is as long as one near its beginning, but for numbers."""
    path = tmp_path / "log.jsonl"
    firewall = Firewall(load_policy(POLICY, receipts=ReceiptLog(path, algorithm="hmac")))
    for number in range(300):
        firewall.check("read", {"n": number}, id=f"c{number}")
        firewall.observe(as_call("read", {"n": number}, id=f"c{number}"), [ANN])
    lines = path.read_bytes().splitlines()
    assert len(lines[-1]) < len(lines[3]) + 40


def test_what_is_too_long_is_said_to_be_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A result, a message, the sum of them, and arguments."""
    path = tmp_path / "log.jsonl"
    firewall = Firewall(load_policy(POLICY, receipts=ReceiptLog(path)))
    firewall.observe(as_call("read", {}), "x" * (past.MAX_TEXT + 1))
    firewall.said("y" * (past.MAX_TEXT + 1))
    firewall.check("read", {"text": "z" * (past.MAX_TEXT + 1)})
    (first,) = pasts(path)
    assert first["entries"] == [{"tool": "read", "call": "", "long": True}, {"long": True}]
    assert first["long"]
    monkeypatch.setattr(past, "MAX_NEW", 100)
    for number in range(10):
        firewall.said(f"word {number} " * 3)
    firewall.check("read", {})
    assert {"long": True} in pasts(path)[1]["entries"]


def test_what_was_seen_before_the_history_was_kept_is_said_to_be_missing(tmp_path: Path) -> None:
    """A thread that began under a policy with another level."""
    path, threads = tmp_path / "log.jsonl", tmp_path / "threads.sqlite"
    ran = Recorder()
    for level in ("arguments", "history"):
        graph = agent_graph(
            SCRIPT,
            tools=[ran.tool("read"), ran.tool("rm")],
            policy=load_policy({**POLICY, "receipts": level}, receipts=ReceiptLog(path)),
            checkpointer=threads,
        )
        graph.invoke(ask("a@b.example"), on("t"))
    before, _, after, _ = pasts(path)
    assert set(before) == {"is"}
    assert after["entries"][:2] == [{"unkept": True}, {"said": "a@b.example"}]


def test_amounts_and_gates_stand_in_it(tmp_path: Path) -> None:
    """What nobody could count is null; how the gates stood is said with their key."""
    path = tmp_path / "log.jsonl"
    more = {"limits": {"thread": {"tokens": 9, "calls": 9}}, "sequence": [SHUT]}
    firewall = Firewall(load_policy({**POLICY, **more}, receipts=ReceiptLog(path)))
    firewall.check("read", {})
    firewall.add_tokens(3)
    firewall.check("read", {})
    firewall.check("read", {})
    first, second, third = pasts(path)
    assert (first["used"]["thread"]["tokens"], second["used"]["thread"]["tokens"]) == (None, 3)
    assert (first["order"]["states"], third["order"]["states"]) == ([0], [1])
    assert len(first["order"]["key"]) == 16


SHUT = {"after": "read", "ask": "send"}


def test_entries_that_say_too_little_are_told_as_missing(tmp_path: Path) -> None:
    """Those of another level, and of calls that are no JSON; a message that was only shown is left
    out."""
    seen = {"source": "tool read", "call": "c1", "values": ["a@b.example"]}
    ledger = Ledger([seen, {**seen, past.SHOWN_ONLY: True}])
    assert past.new_in(ledger, 0, Redactor()) == [past.UNKEPT]
    path = tmp_path / "log.jsonl"
    firewall = Firewall(load_policy(POLICY, receipts=ReceiptLog(path)))
    firewall.observe(ToolCall("read", {"x": {1, 2}}), "a")
    firewall.check("read", {})
    assert pasts(path)[0]["entries"] == [{"tool": "read", "call": "", "long": True}]
