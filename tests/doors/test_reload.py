"""A policy file that changes while a door is open: every door follows it, from call to call."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from edgeward import Firewall, FirewallMiddleware, PolicyFile, guard_tools
from edgeward.guards.clients._exchange import Door
from edgeward.guards.receipts.chain import bodies
from edgeward.guards.receipts.log import ReceiptLog
from edgeward.guards.receipts.stores import read_log
from edgeward.guards.turns import ModelTurn, Proposed, UserText
from tests.wire.server import Wire

from . import talks
from .talks import Player, Round, Step

BEFORE: dict[str, Any] = {"version": 2, "tools": {"read": "allow", "switch": "allow"}}
AFTER: dict[str, Any] = {"version": 2, "tools": {"write": "allow"}}
KEY = "corp-7f3a9b1c"

PLAYERS: list[Player] = [
    talks.graph,
    talks.middleware,
    talks.firewall,
    talks.handler,
    talks.guarded_tools,
    talks.openai_client,
    talks.anthropic_client,
    talks.gemini_client,
]
doors = pytest.mark.parametrize("player", PLAYERS, ids=lambda player: player.__name__)


def put(path: Path, policy: Any) -> None:
    """Put a policy in its place, at once; a text goes there as it is."""
    text = policy if isinstance(policy, str) else yaml.safe_dump(policy)
    new = path.with_suffix(".new")
    new.write_text(text, encoding="utf-8")
    os.replace(new, path)


def talk(switch: Callable[[], None]) -> list[Round]:
    """A conversation in whose middle the policy changes, while a tool runs."""
    turns = [
        [Step("before", "read", {"n": 1})],
        [Step("switch", "switch", then=switch)],
        [Step("old", "read", {"n": 2}), Step("new", "write", {"n": 3})],
    ]
    return [Round("Go.", turns), Round("Go on.", [[Step("late", "write", {"n": 4})]])]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A policy file."""
    made = tmp_path / "clerk.yaml"
    put(made, BEFORE)
    return made


@doors
def test_every_door_follows_the_file(player: Player, path: Path, wire: Wire) -> None:
    """What was allowed is so no more, and what was not is, in the same conversation."""
    rounds = talk(lambda: put(path, AFTER))
    assert player(PolicyFile(path), rounds, wire) == {"before", "switch", "new", "late"}


@doors
@pytest.mark.parametrize("bad", ["tools: [", "version: 2\ntools: {write: alow}", ""])
def test_a_bad_file_changes_nothing_and_is_told_of(
    player: Player, bad: str, path: Path, wire: Wire, caplog: pytest.LogCaptureFixture
) -> None:
    """In the log once, on the file, in every receipt from then on."""
    kept = path.with_name("receipts.jsonl")
    followed = PolicyFile(path, receipts=ReceiptLog(kept, algorithm="hmac"))
    with caplog.at_level(logging.WARNING, logger="edgeward.policies"):
        ran = player(followed, talk(lambda: put(path, bad)), wire)
    assert ran == {"before", "switch", "old"}
    assert [r.getMessage() for r in caplog.records if r.name == "edgeward.policies"] == [
        followed.problem
    ]
    said = [(body["tool"], body.get("policy_problem")) for body in bodies(read_log(kept)[0])]
    told = [problem for _, problem in said]
    assert told == [None, None] + [followed.problem] * (len(said) - 2)
    assert len(said) >= 4


@doors
def test_every_door_counts_by_the_new_limits(player: Player, path: Path, wire: Wire) -> None:
    """What was used before counts under them."""
    tools = {"read": "allow", "switch": "allow", "write": "allow"}
    put(path, {"version": 2, "tools": tools, "limits": {"calls": 9}})
    rounds = talk(lambda: put(path, {"version": 2, "tools": tools, "limits": {"calls": 3}}))
    assert player(PolicyFile(path), rounds, wire) == {"before", "switch", "old"}


@doors
def test_every_door_keeps_the_new_order(player: Player, path: Path, wire: Wire) -> None:
    """Gates that nobody has kept are shut, or as the thread's own records say."""
    tools = {"read": "allow", "switch": "allow", "write": "allow"}
    put(path, {"version": 2, "tools": tools})
    order = [{"after": "switch", "block": "write"}]
    after = {"version": 2, "tools": tools, "sequence": order}
    rounds = talk(lambda: put(path, after))
    assert player(PolicyFile(path), rounds, wire) == {"before", "switch", "old"}


@pytest.mark.parametrize("player", PLAYERS[:2] + PLAYERS[5:], ids=lambda player: player.__name__)
def test_the_new_patterns_mask(player: Player, path: Path, wire: Wire) -> None:
    """What a tool brings back once they are there is not shown to the model as it is."""
    seen: list[str] = []
    pattern = {"name": "corp", "regex": "corp-[0-9a-f]{8}"}
    tools = {"read": "allow", "switch": "allow", "write": {"args": {"text": {"in": [KEY]}}}}
    put(path, {"version": 2, "tools": tools})
    after = {"version": 2, "tools": tools, "secret_patterns": [pattern]}
    turns = [
        [Step("switch", "switch", then=lambda: put(path, after))],
        [Step("read", "read", {}, f"it is {KEY}")],
        [Step("leak", "write", {"text": KEY}, then=lambda: seen.append(KEY))],
    ]
    assert player(PolicyFile(path), [Round("Go.", turns)], wire) == {"switch", "read"}
    assert seen == []


def test_a_policy_that_a_door_cannot_keep(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Is refused by that door, as where it is made: the last one stays, and it is said."""
    hidden = {**AFTER, "placeholders": {"kinds": ["email"]}}
    priced = {**AFTER, "limits": {"cost_usd": 1, "prices": {"*": {"input": 1, "output": 1}}}}
    followed = PolicyFile(path)
    firewall, (read,) = Firewall(followed), guard_tools([_read], followed)
    middleware = FirewallMiddleware(followed)
    with caplog.at_level(logging.WARNING, logger="edgeward.policies"):
        put(path, hidden)
        assert firewall.check("read").word == "allow"
        assert "`placeholders`" in firewall.policy.problem
        assert "`placeholders`" in middleware.policy.problem
        assert followed.problem == ""
        assert len(caplog.records) == 2
        put(path, priced)
        assert firewall.policy.problem == ""
        assert read.invoke({"n": 1}) == "1"
        assert "cost_usd" in caplog.text
    put(path, AFTER)
    assert firewall.check("read").word == "block"
    assert middleware.policy.problem == ""


def _read(n: int) -> str:
    """Read a number."""
    return str(n)


_read.__name__ = "read"


def test_one_exchange_sees_one_policy(path: Path) -> None:
    """A response whose calls come one by one is judged by the policy that counted at its start."""
    door = Door(PolicyFile(path))
    exchange = door.exchange([UserText("Go.")])
    first = exchange.judge([Proposed("read", "{}", "c1")])
    put(path, AFTER)
    second = exchange.judge([Proposed("read", "{}", "c2"), Proposed("write", "{}", "c3")])
    assert [one.keep for one in (*first, *second)] == [True, True, False]
    after = door.exchange([UserText("Go.")]).judge([Proposed("read", "{}", "c4")])
    assert [one.keep for one in after] == [False]


def test_a_reply_that_is_followed_by_its_id(path: Path) -> None:
    """Goes on under a new policy: its calls count, its gates are shut, its texts may be private."""
    tools = {"read": "allow", "write": {"args": {"text": "clean"}}}
    put(path, {"version": 2, "tools": tools, "limits": {"calls": 2}})
    door = Door(PolicyFile(path))
    exchange = door.exchange([UserText("Go.")])
    (judged,) = exchange.judge([Proposed("read", "{}", "c1")])
    exchange.remember("r1", [ModelTurn((judged.proposed,))])
    order = [{"before": "read", "require": "write"}]
    more = {"private": ["read"], "sequence": order, "limits": {"calls": 2}}
    put(path, {"version": 2, "tools": tools, **more})
    exchange = door.exchange([UserText("And?")], after="r1")
    asked = [Proposed("read", "{}", "c2"), Proposed("write", '{"text": "a code: 77A1"}', "c3")]
    read, write = exchange.judge(asked)
    assert "only after write" in read.finding.verdict.reason
    assert "not seen by its rules" in write.finding.verdict.reason
    assert exchange.history.used["thread"]["calls"] == 1
