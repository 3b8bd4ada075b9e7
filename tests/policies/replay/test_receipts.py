"""A log of receipts as threads: which follows which, and what is missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from edgeward import Firewall, ReceiptLog, load_policy
from edgeward.guards.receipts.stores import read_log
from edgeward.guards.rules.sequence import order_of
from edgeward.guards.verdict import ToolCall
from edgeward.policies.replay.flips import Replayed, replay
from edgeward.policies.replay.logs import fault_in, receipts_in
from edgeward.policies.replay.receipts import BRANCHED, MOST_AGAIN
from edgeward.policies.replay.recorded import Turn

POLICY: dict[str, Any] = {
    "version": 2,
    "receipts": "history",
    "tools": {"find": "allow", "send": {"args": {"to": "known"}, "otherwise": "ask"}},
    "trust": [{"tool": "find", "fields": ["email"]}],
}
ANN = '[{"email": "ann@corp.example"}]'


def body(name: str, after: str = "", tool: str = "send", **past: Any) -> dict[str, Any]:
    """A receipt of a call that was let through."""
    told = {"after": after, **past} if after else past
    arguments = {"to": "ann@corp.example"} if tool == "send" else {}
    return {
        "receipt": name,
        "tool": tool,
        "word": "allow",
        "thread": "t",
        "id": name,
        "arguments": arguments,
        "past": told,
    }


def replayed(path: Path, *bodies: dict[str, Any], policy: Any = POLICY) -> Replayed:
    """What the policy says of a log of these receipts."""
    ReceiptLog(path).write(bodies)
    return replay(load_policy(policy), receipts_in(path).threads())


FOUND = {"tool": "find", "call": "a", "text": ANN}


def test_a_thread_that_was_taken_back_goes_on_from_there(tmp_path: Path) -> None:
    """Two branches share what stands before them, and nothing of each other."""
    found = replayed(
        tmp_path / "log.jsonl",
        body("a", tool="find"),
        body("b", "a", entries=[FOUND]),
        body("c", "b"),
        body("d", "a"),
        body("e", "d", entries=[FOUND]),
        body("f", "b"),
    )
    assert (found.calls, found.same) == (6, 5)
    assert [(flip.name, flip.pair) for flip in found.flips] == [("d", "allow:ask")]


def test_a_step_that_was_run_again_is_counted_twice_and_replayed_twice(tmp_path: Path) -> None:
    """A process that died between the receipt and the checkpoint leaves two that follow one."""
    sequence = [{"after": "find", "block": "find", "until": "send"}]
    found = replayed(
        tmp_path / "log.jsonl",
        body("a", tool="find"),
        body("b", "a", tool="send", entries=[FOUND]),
        body("b2", "a", tool="send", entries=[FOUND]),
        body("c", "b2", tool="find", entries=[{"tool": "send", "call": "b2", "text": "ok"}]),
        policy={**POLICY, "sequence": sequence},
    )
    assert (found.calls, found.same) == (4, 4)


def test_a_log_of_many_branches_costs_no_more_than_its_length(tmp_path: Path) -> None:
    """Each would go through all that it has in common with the others; what is beyond is said."""
    path = tmp_path / "log.jsonl"
    stem = [body("0", tool="find"), *(body(f"{n}", f"{n - 1}", tool="find") for n in range(1, 100))]
    branches = [body(f"b{n}", "99", tool="find") for n in range(100)]
    found = replayed(path, *stem, *branches)
    assert (found.calls, found.same, found.flips) == (200, 141, [])
    assert {why: one.calls for why, one in found.skipped.items()} == {BRANCHED: 59}
    turns = [step for steps in receipts_in(path).threads() for step in steps if type(step) is Turn]
    assert len(turns) <= (1 + MOST_AGAIN) * 200


def test_threads_lie_mixed_in_one_log(tmp_path: Path) -> None:
    """Each knows only its own past."""
    found = replayed(
        tmp_path / "log.sqlite",
        body("a", tool="find"),
        body("x"),
        body("b", "a", entries=[FOUND]),
        body("y", "x"),
    )
    assert [flip.name for flip in found.flips] == ["x", "y"]


@pytest.mark.parametrize(
    ("receipt", "why"),
    [
        (body("b", "nowhere"), "the receipts before it are not in this log"),
        (body("b", entries=[{"long": True}]), "what it was decided on is too long to be kept"),
        (body("b", entries=[{"unkept": True}]), "its thread began before `receipts: history`"),
        (body("b", long=True), "what it was decided on is too long to be kept"),
        (body("b", hidden=True), "personal data in its arguments is hidden in the record"),
        (body("b", masked=True), "a secret in its arguments is masked in the record"),
        ({"receipt": "b"}, "it is no receipt of a verdict"),
    ],
)
def test_what_cannot_be_replayed_is_counted_with_the_reason(
    tmp_path: Path, receipt: dict[str, Any], why: str
) -> None:
    """And so is what follows it in its thread, where the past is what is missing."""
    follows = body("c", "b", tool="find")
    found = replayed(tmp_path / "log.jsonl", receipt, follows)
    assert why in found.skipped
    rest = "entries" in str(receipt) or "nowhere" in str(receipt)
    assert found.skipped[why].calls == (2 if rest else 1)
    assert found.replayed == (0 if rest else 1)


@pytest.mark.parametrize(
    "wrong",
    [
        {"rules": [{"word": "maybe"}]},
        {"approval": 7},
        {"past": {"tokens": float("inf")}},
        {"past": {"entries": 7}},
        {"past": {"entries": [{}]}},
        {"past": {"order": {"key": "x", "states": 7}}},
        {"past": {"order": {"key": "x", "states": ["shut"]}}},
    ],
)
def test_a_receipt_of_another_program_is_named(tmp_path: Path, wrong: dict[str, Any]) -> None:
    """With its number, whatever is wrong in it."""
    path = tmp_path / "log.jsonl"
    bodies = [body("a"), body("b") | wrong]
    path.write_text("".join(json.dumps({"body": b}) + "\n" for b in bodies), encoding="utf-8")
    with pytest.raises(ValueError, match="record 1: is no receipt of this program"):
        replay(load_policy(POLICY), receipts_in(path).threads())


def test_how_gates_stand_is_believed_only_whole(tmp_path: Path) -> None:
    """States of fewer gates than the policy has are no states of its gates."""
    policy = {**POLICY, "sequence": [{"after": "find", "block": "send"}]}
    gates = order_of(load_policy(policy))
    assert gates is not None
    order = {"key": gates.automata.key, "states": []}
    found = replayed(
        tmp_path / "log.jsonl",
        body("a", tool="find"),
        body("b", "a", entries=[FOUND], order=order),
        policy=policy,
    )
    assert [(flip.name, flip.pair) for flip in found.flips] == [("b", "allow:block")]


def test_the_last_line_of_a_writer_that_was_stopped_is_left_out(tmp_path: Path) -> None:
    """It never was a record."""
    path = tmp_path / "log.jsonl"
    ReceiptLog(path).write([body("a", tool="find")])
    path.write_bytes(path.read_bytes() + b'{"body":{"tool"')
    assert replay(load_policy(POLICY), receipts_in(path).threads()).same == 1


@pytest.mark.parametrize("head", [0, 2, 3])
def test_a_log_is_vouched_for_by_its_head_or_by_each_line(tmp_path: Path, head: int) -> None:
    """A head that is older than the last lines, too; whatever is changed is found."""
    path, key = tmp_path / "log.jsonl", tmp_path / "log.jsonl.key.pub"
    kept = b""
    log = ReceiptLog(path)
    for number in range(3):
        log.write([body(f"a{number}")])
        if number + 1 == head:
            kept = path.with_name("log.jsonl.head").read_bytes()
    path.with_name("log.jsonl.head").write_bytes(kept)
    assert fault_in(path, key) == ("" if head else FORGOTTEN)
    whole = path.read_bytes()
    for number in range(3):
        old, new = f'"receipt":"a{number}"'.encode(), f'"receipt":"b{number}"'.encode()
        path.write_bytes(whole.replace(old, new))
        assert f"record {number}: " in fault_in(path, key)
    path.write_bytes(b"".join(whole.splitlines(keepends=True)[:1]))
    assert fault_in(path, key)


FORGOTTEN = "record 3: the head is missing, or not signed with this key"


def test_nothing_is_written_by_a_replay(tmp_path: Path) -> None:
    """The folder is as it was."""
    path = tmp_path / "log.jsonl"
    firewall = Firewall(load_policy(POLICY, receipts=ReceiptLog(path)))
    call = ToolCall("find", {})
    firewall.decide(call)
    firewall.observe(call, json.loads(ANN))
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    policy = load_policy(POLICY, receipts=ReceiptLog(path))
    assert replay(policy, receipts_in(path).threads()).same == 1
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before
    assert len(list(read_log(path)[0])) == 1


def test_a_torn_or_foreign_line_is_no_sealed_log(tmp_path: Path) -> None:
    """The end of a stopped writer does no harm; a line that is no record is named."""
    path, key = tmp_path / "log.jsonl", tmp_path / "log.jsonl.key.pub"
    ReceiptLog(path).write([body("a"), body("b")])
    whole = path.read_bytes()
    path.write_bytes(whole + b"{")
    assert fault_in(path, key) == ""
    path.write_bytes(whole + b"{}\n")
    assert fault_in(path, key) == "record 2: changed: this is no record"


def test_where_nobody_could_be_asked_the_policy_asked_all_the_same(tmp_path: Path) -> None:
    """The door's block is its own; what the policy said is compared."""
    policy = {**POLICY, "tools": {"send": "ask"}}
    rules = [
        {"rule": "tools.send", "word": "ask", "where": "p.yaml:3", "reason": "needs approval"},
        {"rule": "ask", "word": "block", "reason": "nobody can be asked here"},
    ]
    found = replayed(
        tmp_path / "l.jsonl", body("a") | {"word": "block", "rules": rules}, policy=policy
    )
    assert (found.same, found.flips) == (1, [])


def test_what_a_person_agreed_to_goes_beside_the_rest_of_its_turn(tmp_path: Path) -> None:
    """Whatever becomes of it now, what it shuts was shut."""
    policy = {**POLICY, "default": "allow", "sequence": [{"after": "pay", "block": "post"}]}
    paid = body("a", tool="pay") | {"word": "ask", "approval": {"decision": "approve"}}
    posted = body("b", "a", tool="post", beside=True)
    shut = {**policy, "tools": {"pay": "block"}}
    found = replayed(tmp_path / "log.jsonl", paid, posted, policy=shut)
    assert [(flip.tool, flip.pair) for flip in found.ranked()] == [
        ("pay", "ask:block"),
        ("post", "allow:block"),
    ]
