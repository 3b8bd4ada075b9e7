"""A graph whose policy file changes: each step sees one policy, and nothing that was granted under
another one is honoured."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from langchain.agents import create_agent
from langchain_core.messages import ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command

from edgeward import FirewallMiddleware, PolicyFile, ReceiptLog, ScriptedModel
from edgeward.graphs.locked import LockedGraph
from edgeward.graphs.runner import NO_TICKET
from edgeward.guards.vault import PLACEHOLDER
from tests.fakes import Recorder, agent_graph, ask, on, turn

ASK: dict[str, Any] = {"version": 2, "tools": {"pay": "ask", "read": "allow", "switch": "allow"}}
STILL_ASK = {**ASK, "tools": {**ASK["tools"], "more": "block"}}
ALLOW = {**ASK, "tools": {"pay": "allow", "read": "allow"}}
BLOCK = {**ASK, "tools": {"read": "allow"}}
PAY = ("pay", {"amount": 3}, "c1")
CHANGED = "the policy has changed since this call was proposed"


def put(path: Path, policy: Any) -> None:
    """Put a policy in its place, at once."""
    new = path.with_suffix(".new")
    new.write_text(yaml.safe_dump(policy), encoding="utf-8")
    os.replace(new, path)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A policy file, by which a payment is asked about."""
    made = tmp_path / "clerk.yaml"
    put(made, ASK)
    return made


def answers(state: Any) -> list[str]:
    """What the calls came to, as the model reads it."""
    return [str(m.content) for m in state["messages"] if isinstance(m, ToolMessage)]


def waiting(state: Any) -> list[str]:
    """The ids of the calls that wait for a person."""
    found = [i.value for i in state.get("__interrupt__", ())]
    return [c["id"] for v in found for c in v.get("calls", [])] + [
        v["tool_call_id"] for v in found if "tool_call_id" in v
    ]


def graph(policy: Any, turns: list[Any], ran: Recorder, saver: Any) -> Any:
    """A graph of Edgeward's."""
    tools = [ran.tool(name) for name in ("pay", "read")]
    return agent_graph(turns, tools=tools, policy=policy, checkpointer=saver)


def nested(policy: Any, turns: list[Any], ran: Recorder, saver: Any) -> Any:
    """The same inside a graph of somebody else's, whose door people answer at."""
    inner = graph(policy, turns, ran, None)
    outer = StateGraph(MessagesState)
    outer.add_node("inner", inner)
    outer.add_edge(START, "inner")
    outer.add_edge("inner", END)
    return outer.compile(checkpointer=saver)


def middleware(policy: Any, turns: list[Any], ran: Recorder, saver: Any) -> Any:
    """An agent of LangChain's with the middleware."""
    return create_agent(
        ScriptedModel(turns=turns, order="conversation"),
        [ran.tool(name) for name in ("pay", "read")],
        middleware=[FirewallMiddleware(policy)],
        checkpointer=saver,
    )


Made = Callable[[Any, list[Any], Recorder, Any], Any]
makers = pytest.mark.parametrize("made", [graph, nested, middleware])


def answer(made: Made, decision: str) -> Command[Any]:
    """A person's answer to the payment, as each takes it."""
    edit = {"args": {"amount": 2}} if decision == "edit" else {}
    return Command(resume={"c1": {"decision": decision, **edit}})


@makers
@pytest.mark.parametrize("restart", [False, True])
@pytest.mark.parametrize("decision", ["approve", "edit"])
@pytest.mark.parametrize("after", [STILL_ASK, ALLOW, BLOCK], ids=["asks", "allows", "blocks"])
def test_an_open_question_is_not_answered_under_another_policy(
    path: Path, made: Made, decision: str, after: Any, restart: bool
) -> None:
    """The answer is refused, in words; what is proposed again goes by the policy that counts."""
    ran, saver = Recorder(), InMemorySaver()
    again = ("pay", {"amount": 3}, "c2")
    turns = [turn(PAY), turn(again), "done"]
    runner = made(PolicyFile(path), turns, ran, saver)
    assert waiting(runner.invoke(ask(), on("t"))) == ["c1"]
    put(path, after)
    if restart:
        runner = made(PolicyFile(path), turns, ran, saver)
    state = runner.invoke(answer(made, decision), on("t"))
    if after is STILL_ASK:
        assert (ran.runs, waiting(state)) == ([], ["c2"])
        state = runner.invoke(Command(resume={"c2": {"decision": "approve"}}), on("t"))
    first = answers(state)[0]
    assert CHANGED in first or "allowlist" in first
    assert ran.names() == ([] if after is BLOCK else ["pay"])
    assert all(arguments["amount"] == 3 for _, arguments in ran.runs)


@makers
def test_a_rejected_call_does_not_run_because_the_policy_changed(path: Path, made: Made) -> None:
    """Although the new policy would not have asked."""
    ran = Recorder()
    runner = made(PolicyFile(path), [turn(PAY), "done"], ran, InMemorySaver())
    runner.invoke(ask(), on("t"))
    put(path, ALLOW)
    state = runner.invoke(answer(made, "reject"), on("t"))
    assert ran.runs == []
    assert CHANGED in answers(state)[0]


@makers
def test_an_answer_counts_where_nothing_changed(path: Path, made: Made) -> None:
    """A file that is only written anew, or is bad meanwhile, is no other policy."""
    ran = Recorder()
    runner = made(PolicyFile(path), [turn(PAY), "done"], ran, InMemorySaver())
    runner.invoke(ask(), on("t"))
    path.write_text("tools: [", encoding="utf-8")
    runner.get_state(on("t"))
    put(path, ASK)
    runner.invoke(answer(made, "approve"), on("t"))
    assert ran.names() == ["pay"]


def test_a_lasting_approval_ends_with_its_policy(path: Path) -> None:
    """What it covered is asked about again."""
    ran = Recorder()
    put(path, {**ASK, "tools": {"pay": {"args": {"amount": {"max": 1}}, "otherwise": "ask"}}})
    turns = [
        turn(PAY),
        turn(("pay", {"amount": 3}, "c2")),
        "so",
        turn(("pay", {"amount": 3}, "c3")),
    ]
    runner = graph(PolicyFile(path), turns, ran, InMemorySaver())
    runner.invoke(ask(), on("t"))
    scope = {"arguments": ["amount"], "for_s": 60}
    state = runner.invoke(Command(resume={"c1": {"decision": "approve", "scope": scope}}), on("t"))
    assert (ran.names(), waiting(state)) == (["pay", "pay"], [])
    put(path, STILL_ASK)
    assert waiting(runner.invoke(ask("more"), on("t"))) == ["c3"]


class Putting:
    """A sink for receipts that changes the policy once: after the decision, before its tool."""

    def __init__(self, *changes: Callable[[], None]) -> None:
        self._changes = list(changes)

    def write(self, text: str) -> None:
        """Keep nothing."""
        if self._changes:
            self._changes.pop(0)()


def between(path: Path, after: Any, *, saver: Any = None) -> tuple[LockedGraph, Recorder]:
    """A graph whose policy changes between the guard and the tools of its first turn."""
    put(path, ALLOW)
    ran = Recorder()
    log = ReceiptLog(Putting(partial(put, path, after)), key=path.with_name("k"), algorithm="hmac")
    calls = [turn(PAY, ("read", {}, "c2")), turn(("pay", {"amount": 4}, "c3")), "done"]
    followed = PolicyFile(path, receipts=log)
    return graph(followed, calls, ran, saver), ran


@pytest.mark.parametrize("is_async", [False, True])
def test_a_ticket_is_not_honoured_under_another_policy(path: Path, is_async: bool) -> None:
    """The file changes between the guard and the tool node: what was let through does not run."""
    runner, ran = between(path, {**ALLOW, "description": "another"})
    state = asyncio.run(runner.ainvoke(ask())) if is_async else runner.invoke(ask())
    assert answers(state) == [NO_TICKET, NO_TICKET, "pay ran"]
    assert ran.runs == [("pay", {"what": "", "amount": 4})]


def test_a_ticket_is_honoured_where_the_change_is_none(path: Path) -> None:
    """Comments and layout, or a file that is bad."""
    runner, ran = between(path, ALLOW)
    runner.invoke(ask())
    assert sorted(ran.names()) == ["pay", "pay", "read"]


def test_a_batch_sees_one_policy(path: Path) -> None:
    """The calls of a turn are judged together, whatever is on disk before the last is."""
    runner, _ = between(path, BLOCK, saver=InMemorySaver())
    runner.invoke(ask(), on("t"))
    by_id = {record["id"]: record for record in runner.get_state(on("t")).values["verdicts"]}
    assert by_id["c1"]["policy"] == by_id["c2"]["policy"] != by_id["c3"]["policy"]
    assert [by_id[i]["word"] for i in ("c1", "c2", "c3")] == ["allow", "allow", "block"]


def test_hidden_data_follows(path: Path) -> None:
    """A policy with placeholders hides what comes in from then on, and one without puts back
    nothing."""
    put(path, ALLOW)
    ran = Recorder()
    turns = ["one", "two", turn(("pay", {"what": "x"}, "c1")), "three"]
    runner = graph(PolicyFile(path), turns, ran, InMemorySaver())
    runner.invoke(ask("I am ann@corp.example"), on("t"))
    put(path, {**ALLOW, "placeholders": {"kinds": ["email"], "reveal": {"pay": "*"}}})
    state = runner.invoke(ask("And bob@corp.example"), on("t"))
    said = [str(m.content) for m in state["messages"] if m.type == "human"]
    assert said[0] == "I am ann@corp.example"
    assert PLACEHOLDER.search(said[1]) is not None
    put(path, ALLOW)
    state = runner.invoke(ask("And eve@corp.example"), on("t"))
    assert ran.names() == ["pay"]
    assert state["messages"][-3].content != "And bob@corp.example"
    assert "eve@corp.example" in [m.content for m in state["messages"] if m.type == "human"][-1]


def test_a_graph_refuses_a_policy_that_it_cannot_count_by(path: Path) -> None:
    """A limit on money that does not price its model: the last good policy stays."""
    put(path, ALLOW)
    ran = Recorder()
    runner = graph(PolicyFile(path), [turn(PAY), "done"], ran, None)
    put(path, {**BLOCK, "limits": {"cost_usd": 1, "prices": {"gpt-*": {"input": 1, "output": 1}}}})
    runner.invoke(ask())
    assert ran.names() == ["pay"]
    assert "does not say what the model" in runner.policy.problem
    put(path, BLOCK)
    assert runner.policy.problem == ""


def test_an_open_run_goes_by_the_new_policy(path: Path) -> None:
    """Its redactor, its words of refusal and its digest, from the next step on."""
    put(path, ALLOW)
    ran = Recorder()
    runner = graph(
        PolicyFile(path), [turn(PAY), turn(("pay", {}, "c2")), "key-12345678"], ran, None
    )
    pattern = {"name": "mine", "regex": "key-[0-9]{8}"}
    after = {**BLOCK, "block_message": "No.", "secret_patterns": [pattern]}
    for update in runner.stream(ask(), stream_mode="updates"):
        if "tool" in update:
            put(path, after)
            last = update
    state = runner.invoke(ask())
    assert ran.names() == ["pay"]
    assert answers(state)[-1].startswith("No. ")
    assert state["messages"][-1].content == "[REDACTED:mine]"
    assert "tool" in last


def test_what_only_the_new_policy_calls_private(path: Path) -> None:
    """Nobody has kept it of what was brought back before: any text of the model's may hold it."""
    tools = {"read": "allow", "pay": {"args": {"what": "clean"}}}
    put(path, {"version": 2, "tools": tools, "private": ["other"]})
    ran = Recorder()
    turns = [turn(("read", {}, "c1")), "so"] + [
        turn(("pay", {"what": text}, f"p{n}")) for n, text in enumerate(["read ran", "read ran"])
    ]
    runner = graph(PolicyFile(path), [*turns, "done"], ran, InMemorySaver())
    runner.invoke(ask(), on("t"))
    put(path, {"version": 2, "tools": tools, "private": ["read"]})
    state = runner.invoke(ask("more"), on("t"))
    assert ran.names() == ["read"]
    assert all("not seen by its rules" in text for text in answers(state)[1:])
    put(path, {"version": 2, "tools": tools})
    turns = [turn(("pay", {"what": "read ran"}, "c9")), "done"]
    other = graph(PolicyFile(path), turns, ran, InMemorySaver())
    other.invoke(ask(), on("u"))
    assert ran.names() == ["read", "pay"]
