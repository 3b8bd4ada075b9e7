"""Every verdict, by whichever door, becomes a receipt before anything runs; none holds a secret."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from edgeward import Caller, Firewall, FirewallMiddleware, RunContext, ScriptedModel, load_policy
from edgeward.guards.decide import Policy
from edgeward.guards.receipts.chain import bodies, verify
from edgeward.guards.receipts.keys import verifier
from edgeward.guards.receipts.log import ReceiptLog
from edgeward.guards.receipts.stores import read_log
from edgeward.guards.verdict import ToolCall, fingerprint

from ..fakes import Recorder, agent_graph, ask, on, turn
from ..guards.secret_examples import EXAMPLES
from ..wire.server import Wire
from . import talks

WORDS = {"version": 2, "tools": {"read": "allow", "pay": "ask"}}
CALLS = [("read", {"what": "x"}, "c1"), ("pay", {"amount": 3}, "c2"), ("rm", {"what": "y"}, "c3")]
APPROVED = {"c2": {"decision": "approve", "by": "bob"}}
SECRETS = [text for found in EXAMPLES.values() for text in found.whole]


@pytest.fixture
def wire() -> Iterator[Wire]:
    """A provider on this machine."""
    with Wire() as running:
        yield running


class Dead:
    """A sink that takes nothing."""

    def write(self, text: str) -> None:
        """Fail, with a text that nobody should see."""
        raise OSError(f"no room for {text}")


def logged(log: ReceiptLog, **more: object) -> Policy:
    """The policy with its receipts in a log."""
    return load_policy({**WORDS, **more}, receipts=log)


def by_firewall(policy: Policy) -> list[str]:
    """The tools that ran, by the plain door."""
    firewall = Firewall(policy, thread="t", caller=Caller("ann", "corp"))
    made = [(name, firewall.check(name, args, id=call_id)) for name, args, call_id in CALLS]
    return [name for name, verdict in made if verdict.word == "allow"]


def by_graph(policy: Policy, answers: Any = APPROVED) -> list[str]:
    """By a graph, whose user approves the payment."""
    ran = Recorder()
    tools = [ran.tool(name) for name in ("read", "pay", "rm")]
    turns = [turn(*CALLS), "done"]
    graph = agent_graph(turns, tools=tools, policy=policy, checkpointer="memory")
    context = RunContext(user="ann", tenant="corp")
    graph.invoke(ask(), on("t"), context=context)
    graph.invoke(Command(resume=answers), on("t"), context=context)
    return ran.names()


def by_graph_async(policy: Policy) -> list[str]:
    """The same, async."""
    ran = Recorder()
    tools = [ran.tool(name) for name in ("read", "pay", "rm")]
    turns = [turn(*CALLS), "done"]
    graph = agent_graph(turns, tools=tools, policy=policy, checkpointer="memory")
    context = RunContext(user="ann", tenant="corp")

    async def go() -> None:
        await graph.ainvoke(ask(), on("t"), context=context)
        await graph.ainvoke(Command(resume=APPROVED), on("t"), context=context)

    asyncio.run(go())
    return ran.names()


def by_middleware(policy: Policy, answers: Any = APPROVED) -> list[str]:
    """By a `create_agent` agent, whose user approves the payment."""
    ran = Recorder()
    agent: Any = create_agent(
        ScriptedModel(turns=[turn(*CALLS), "done"]),
        tools=[ran.tool(name) for name in ("read", "pay", "rm")],
        middleware=[FirewallMiddleware(policy)],
        checkpointer=InMemorySaver(),
        context_schema=RunContext,
    )
    context = RunContext(user="ann", tenant="corp")
    agent.invoke(ask(), on("t"), context=context)
    agent.invoke(Command(resume=answers), on("t"), context=context)
    return ran.names()


DOORS = {
    "firewall": by_firewall,
    "graph": by_graph,
    "graph (async)": by_graph_async,
    "middleware": by_middleware,
}


@pytest.mark.parametrize("door", DOORS)
def test_each_verdict_is_kept(tmp_path: Path, door: str) -> None:
    """Once, with its word, rules, caller and door; a person's answer with it."""
    path = tmp_path / "log.jsonl"
    ran = DOORS[door](logged(ReceiptLog(path, algorithm="hmac")))
    assert set(ran) == ({"read"} if door == "firewall" else {"read", "pay"})
    found = {body["tool"]: body for body in bodies(read_log(path)[0])}
    assert {name: body["word"] for name, body in found.items()} == {
        "read": "allow",
        "pay": "ask",
        "rm": "block",
    }
    for call in found.values():
        assert call["door"] == door.partition(" ")[0]
        assert (call["user"], call["tenant"]) == ("ann", "corp")
        assert len(call["fingerprint"]) == len(call["policy"]) == 64
        assert call["time"].endswith("+00:00")
    assert "not on the allowlist" in found["rm"]["reason"]
    assert "arguments" not in found["rm"]
    if door != "firewall":
        assert found["pay"]["approval"]["decision"] == "approve"
        assert found["pay"]["approval"]["by"] == "bob"
        assert found["pay"]["approval"]["at"].startswith("20")
    if door.startswith("graph"):
        assert (found["pay"]["thread"], len(found["pay"]["strategy"])) == ("t", 64)


@pytest.mark.parametrize("door", [by_graph, by_middleware])
def test_an_edit_is_kept_with_what_was_changed(
    tmp_path: Path, door: Callable[[Policy, Any], list[str]]
) -> None:
    """Who, when, which arguments, and the fingerprint of the call that they were asked about."""
    path = tmp_path / "log.jsonl"
    edit = {"c2": {"decision": "edit", "args": {"amount": 2}, "by": "bob"}}
    assert "pay" in door(logged(ReceiptLog(path, algorithm="hmac")), edit)
    (found,) = (body for body in bodies(read_log(path)[0]) if body["tool"] == "pay")
    at = found["approval"].pop("at")
    assert at.startswith("20")
    proposed = fingerprint(ToolCall("pay", {"what": "", "amount": 3}))
    assert found["approval"] == {
        "decision": "edit",
        "by": "bob",
        "reason": "",
        "edited": ["amount"],
        "proposed": proposed,
    }
    assert (
        found["fingerprint"] == fingerprint(ToolCall("pay", {"what": "", "amount": 2})) != proposed
    )


@pytest.mark.parametrize("door", DOORS)
def test_nothing_runs_that_could_not_be_recorded(tmp_path: Path, door: str) -> None:
    """A dead sink blocks every call; its error is not repeated."""
    log = ReceiptLog(Dead(), key=tmp_path / "k", algorithm="hmac")
    assert DOORS[door](logged(log)) == []
    verdict = Firewall(logged(log)).check("read")
    assert verdict.reason == "the receipt of this decision could not be kept"


@pytest.mark.parametrize("door", DOORS)
def test_a_dead_log_may_be_gone_on_without(tmp_path: Path, door: str) -> None:
    """`fail_closed: false` says so."""
    log = ReceiptLog(Dead(), key=tmp_path / "k", algorithm="hmac")
    assert "read" in DOORS[door](logged(log, fail_closed=False))


@pytest.mark.parametrize("closed", [True, False])
def test_why_a_receipt_could_not_be_kept_is_told_to_people(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, closed: bool
) -> None:
    """In the log of the program, and with the verdict; the model reads that it was not kept."""
    path = tmp_path / "log.jsonl"
    Firewall(logged(ReceiptLog(path, algorithm="hmac"))).check("read")
    path.write_bytes(b"")
    firewall = Firewall(logged(ReceiptLog(path, algorithm="hmac"), fail_closed=closed))
    verdict = firewall.check("read")
    why = "the log was cut short or replaced"
    assert (verdict.word, why in verdict.explain()) == (
        ("block", True) if closed else ("allow", False)
    )
    assert why not in verdict.reason
    assert why in caplog.text


def test_a_log_is_rotated_with_all_that_belongs_to_it(tmp_path: Path) -> None:
    """Who has it open goes on with the old one; both are whole."""
    path = tmp_path / "log.jsonl"
    running = Firewall(logged(ReceiptLog(path)))
    running.check("read")
    for suffix in ("", ".head", ".key", ".key.pub"):
        (tmp_path / f"log.jsonl{suffix}").rename(tmp_path / f"old.jsonl{suffix}")
    started = Firewall(logged(ReceiptLog(path)))
    assert [door.check("read").word for door in (running, started, running)] == ["allow"] * 3
    for log, records in ((tmp_path / "old.jsonl", 3), (path, 1)):
        lines, head = read_log(log)
        found = verify(lines, verifier(log.with_name(f"{log.name}.key.pub")), head=head)
        assert (found.records, found.fault) == (records, "")


@pytest.mark.parametrize("name", ["log.jsonl", "log.sqlite"])
def test_a_log_that_is_taken_away_from_under_a_guard_blocks(tmp_path: Path, name: str) -> None:
    """What were written then nobody could read; who starts anew begins another one."""
    path = tmp_path / "logs" / name
    running = Firewall(logged(ReceiptLog(path, algorithm="hmac")))
    assert running.check("read").word == "allow"
    shutil.rmtree(path.parent)
    verdict = running.check("read")
    assert (verdict.word, "start anew" in verdict.explain()) == ("block", True)
    started = Firewall(logged(ReceiptLog(path, algorithm="hmac")))
    assert [door.check("read").word for door in (started, running)] == ["allow", "block"]


def test_a_database_that_is_renamed_while_it_is_open_blocks(tmp_path: Path) -> None:
    """Its newest records are in a file that kept its name."""
    path = tmp_path / "log.sqlite"
    running = Firewall(logged(ReceiptLog(path, algorithm="hmac")))
    running.check("read")
    path.rename(tmp_path / "old.sqlite")
    assert running.check("read").word == "block"
    (tmp_path / "old.sqlite").rename(path)
    assert running.check("read").word == "allow"


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (OSError(28, "secret"), "No space left"),
        (OSError("secret"), "once the log can be written: what it is written with raised OSError"),
        (RuntimeError("secret"), "what it is written with raised RuntimeError"),
    ],
)
def test_what_a_sink_says_of_its_error_is_not_repeated(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, error: Exception, told: str
) -> None:
    """Only what the system calls it: whoever writes a sink may put anything into its words."""

    class Full:
        def write(self, text: str) -> None:
            raise error

    log = ReceiptLog(Full(), key=tmp_path / "k", algorithm="hmac")
    explained = Firewall(logged(log)).check("read").explain()
    assert told in explained
    assert "secret" not in explained + caplog.text


def test_arguments_where_the_policy_wants_them(tmp_path: Path) -> None:
    """Masked; their fingerprint is that of what was proposed."""
    path = tmp_path / "log.jsonl"
    log = ReceiptLog(path, algorithm="hmac")
    plain, whole = Firewall(logged(log)), Firewall(logged(log, receipts="arguments"))
    given = {"what": f"use {SECRETS[3]} now", "n": [1, {"x": "y"}]}
    plain.check("read", given)
    whole.check("read", given)
    first, second = bodies(read_log(path)[0])
    assert first["fingerprint"] == second["fingerprint"]
    assert "arguments" not in first
    assert second["arguments"]["n"] == [1, {"x": "y"}]
    assert "[REDACTED:" in second["arguments"]["what"]


@pytest.mark.parametrize("mode", ["enforce", "shadow"])
@pytest.mark.parametrize("arguments", ["fingerprint", "arguments", "history"])
def test_no_secret_is_in_a_receipt(tmp_path: Path, arguments: str, mode: str) -> None:
    """Of every shipped pattern, wherever a model, a program or a person puts it."""
    path = tmp_path / "log.jsonl"
    policy = logged(ReceiptLog(path, algorithm="hmac"), receipts=arguments, mode=mode)
    for secret in SECRETS:
        firewall = Firewall(policy, thread=secret, caller=Caller(secret, secret))
        firewall.said(f"read {secret} please")
        firewall.check("read", {"what": secret, secret: 1}, id=secret)
        firewall.observe(ToolCall("read", {"what": secret}, id=secret), {"k": secret, secret: 2})
        firewall.check(secret, {"deep": [[secret]]})
        firewall.check("read", secret)
    text = path.read_text(encoding="utf-8")
    said = [json.dumps(body, ensure_ascii=False) for body in bodies(read_log(path)[0])]
    assert len(said) == 3 * len(SECRETS)
    for secret in SECRETS:
        assert json.dumps(secret)[1:-1] not in text
        assert not [body for body in said if secret in body]


def test_a_thread_may_be_named_by_a_number(tmp_path: Path) -> None:
    """As LangGraph lets programs do: no call is lost over it."""
    path = tmp_path / "log.jsonl"
    number: Any = 7
    firewall = Firewall(logged(ReceiptLog(path, algorithm="hmac")), thread=number)
    assert firewall.check("read", {"what": "x"}).word == "allow"
    assert [body["thread"] for body in bodies(read_log(path)[0])] == [7]


def test_answers_of_people_are_kept_without_their_secrets(tmp_path: Path) -> None:
    """A reason may hold one."""
    path = tmp_path / "log.jsonl"
    ran = Recorder()
    graph = agent_graph(
        [turn(CALLS[1]), "done"],
        tools=[ran.tool("pay")],
        policy=logged(ReceiptLog(path, algorithm="hmac")),
        checkpointer="memory",
    )
    graph.invoke(ask(), on("t"))
    reason = f"no, {SECRETS[2]} is mine"
    graph.invoke(Command(resume={"c2": {"decision": "reject", "reason": reason}}), on("t"))
    (found,) = bodies(read_log(path)[0])
    assert found["approval"]["decision"] == "reject"
    assert SECRETS[2] not in json.dumps(found)


def test_a_policy_without_a_log_keeps_nothing(tmp_path: Path) -> None:
    """And a loaded policy can be given one."""
    path = tmp_path / "log.jsonl"
    loaded = load_policy(WORDS)
    assert loaded.receipts is None
    Firewall(load_policy(loaded, receipts=ReceiptLog(path))).check("read")
    assert len(list(bodies(read_log(path)[0]))) == 1


TALK = [
    talks.Round("Go.", [[talks.Step("c1", "read", {"what": "x"}), talks.Step("c2", "rm")]]),
    talks.Round("Go on.", [[talks.Step("c3", "read", {"what": "z"})]]),
]


@pytest.mark.parametrize("door", talks.PLAYERS)
def test_every_door_keeps_the_same_verdicts(tmp_path: Path, wire: Wire, door: str) -> None:
    """One receipt a call, under the door's name, in a log that holds."""
    path = tmp_path / "log.jsonl"
    log = ReceiptLog(path, algorithm="hmac")
    talks.PLAYERS[door](logged(log), TALK, wire)
    found = list(bodies(read_log(path)[0]))
    assert sorted((r["tool"], r["word"]) for r in found) == [
        ("read", "allow"),
        ("read", "allow"),
        ("rm", "block"),
    ]
    assert {r["door"] for r in found} == {door}
    assert {r["user"] for r in found} == {"ann"}


@pytest.mark.parametrize("door", talks.PLAYERS)
def test_through_no_door_anything_runs_unrecorded(tmp_path: Path, wire: Wire, door: str) -> None:
    """A sink that takes nothing stops every call."""
    log = ReceiptLog(Dead(), key=tmp_path / "k", algorithm="hmac")
    assert talks.PLAYERS[door](logged(log), TALK[:1], wire) == set()
