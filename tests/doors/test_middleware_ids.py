"""Ids that a model chooses: of calls and of messages, the same ones again and again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage, ToolMessage
from pydantic import BaseModel

from edgeward import FirewallMiddleware, build_graph, load_policy
from edgeward.graphs.checkpoints import SqliteThreads
from edgeward.guards.automata import OPEN, SHUT
from edgeward.guards.conversation import Conversations
from edgeward.guards.langchain.own_ids import with_own_ids
from edgeward.guards.langchain.session import Together

from .middleware import ASKED, THREAD, Raw, answers
from .spies import Spy

CODE = "The code is QX-77812-ZK."
TO: Any = {"text": "QX-77812-ZK"}
PAY: Any = {"text": "bill"}
READ: Any = {"text": "all"}

ONE = {"version": 2, "tools": {"pay": {"max_calls": 1, "args": {}}, "never": "block"}}
TWO = {"version": 2, "tools": {"pay": "allow", "never": "block"}, "limits": {"run": {"calls": 1}}}
PRIVATE = {
    "version": 2,
    "private": ["read_inbox"],
    "tools": {"read_inbox": "allow", "send": {"args": {"text": "clean"}}, "never": "block"},
}
ORDER = {
    "version": 2,
    "tools": {"read_inbox": "allow", "send": "allow", "never": "block"},
    "sequence": [{"after": "read_inbox", "block": "send"}],
}


def said(
    *calls: tuple[str, Any, str | None], id: str | None = None, content: Any = ""
) -> AIMessage:
    """A reply with these calls: tool, arguments, id."""
    made: Any = [{"name": name, "args": args, "id": call_id} for name, args, call_id in calls]
    return AIMessage(content, tool_calls=made, id=id)


def played(policy: Any, *turns: AIMessage, **more: Any) -> tuple[list[str], list[ToolMessage], Any]:
    """The tools that ran, their answers, and the messages of an agent that says these turns."""
    results = {"pay": "ok", "never": "ok", "read_inbox": CODE, "send": "sent"}
    spies = [Spy(name, answer=result) for name, result in results.items()]
    model = Raw(turns=[*turns, AIMessage("Done.")])
    middleware = [*more.pop("before", ()), FirewallMiddleware(policy)]
    tools = [spy.async_tool() for spy in spies]
    state = create_agent(model, tools, middleware=middleware, **more).invoke(ASKED)
    ran = [spy.name for spy in spies for _ in spy.runs]
    return ran, answers(state), state["messages"]


ATTACKS = {
    "one id in a turn": (ONE, [said(*[("pay", {"text": f"bill {n}"}, "x") for n in range(4)])]),
    "no id": (ONE, [said(*[("pay", {"text": f"bill {n}"}, "") for n in range(4)])]),
    "one id over turns": (ONE, [said(("pay", PAY, "x"))] * 4),
    "the id of a refused call": (
        ONE,
        [said(("never", READ, "x")), *[said(("pay", PAY, "x"))] * 3],
    ),
    "the id of a call that is refused later": (
        ONE,
        [said(("pay", PAY, "x")), said(("never", READ, "x")), said(("pay", PAY, "y"))],
    ),
    "the id of a message": (ONE, [said(("pay", PAY, f"x{n}"), id="m") for n in range(4)]),
    "limits: one id": (TWO, [said(*[("pay", PAY, "x")] * 3), said(("pay", PAY, "x"))]),
    "limits: a refused id": (TWO, [said(("never", READ, "x")), *[said(("pay", PAY, "x"))] * 3]),
    "limits: the id of a message": (
        TWO,
        [said(("pay", PAY, f"x{n}"), id="m") for n in range(3)],
    ),
    "private: a refused id": (
        PRIVATE,
        [said(("never", READ, "x")), said(("read_inbox", READ, "x")), said(("send", TO, "y"))],
    ),
    "private: an id that is refused later": (
        PRIVATE,
        [said(("read_inbox", READ, "x")), said(("never", READ, "x")), said(("send", TO, "y"))],
    ),
    "private: the id of a message": (
        PRIVATE,
        [said(("read_inbox", READ, "x"), id="m"), said(("send", TO, "y"), id="m")],
    ),
    "order: a refused id": (
        ORDER,
        [said(("never", READ, "x")), said(("read_inbox", READ, "x")), said(("send", TO, "y"))],
    ),
    "order: an id that is refused later": (
        ORDER,
        [said(("read_inbox", READ, "x")), said(("never", READ, "x")), said(("send", TO, "y"))],
    ),
    "order: the id of a message": (
        ORDER,
        [said(("read_inbox", READ, "x"), id="m"), said(("send", TO, "y"), id="m")],
    ),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_ids_hide_nothing(attack: str) -> None:
    """No id, of a call or a message, makes a call count less, or what it brought back forgotten."""
    policy, turns = ATTACKS[attack]
    ran, told, _ = played(policy, *turns)
    assert ran == (["read_inbox"] if "read_inbox" in policy["tools"] else ["pay"])
    assert len(told) == sum(len(turn.tool_calls) for turn in turns)
    assert len({message.tool_call_id for message in told}) == len(told)


def test_a_server_that_gives_each_reply_the_same_ids() -> None:
    """Its calls run, each is answered under its own id, and its blocks say the same ids."""
    block = {"type": "tool_use", "id": "c", "name": "pay", "input": PAY}
    turn = said(("pay", PAY, "c"), id="m", content=[{"type": "text", "text": "So."}, block])
    ran, told, messages = played({"version": 2, "tools": {"pay": "allow"}}, turn, turn, turn)
    assert ran == ["pay"] * 3
    assert [message.tool_call_id for message in told] == ["c", "c_2", "c_3"]
    blocks = [m.content[1]["id"] for m in messages if isinstance(m.content, list)]
    assert blocks == ["c", "c_2", "c_3"]
    assert len({message.id for message in messages}) == len(messages)


def test_own_ids_stay() -> None:
    """Where nothing has an id of the thread's, the message stays the very object."""
    turn = said(("pay", PAY, "c2"), id="m2")
    (made,) = with_own_ids([turn], [said(("pay", PAY, "c"), id="m")])
    assert made is turn


class Bill(BaseModel):
    """An answer in a form of its own."""

    total: int


def test_structured_output_by_a_tool() -> None:
    """The answer to the call of an output's tool follows its call's new id."""
    before = said(("pay", PAY, "c"))
    answer = said(("Bill", {"total": 3}, "c"))
    _, told, messages = played(
        {"version": 2, "tools": {"pay": "allow"}}, before, answer, response_format=Bill
    )
    asked = [call["id"] for m in messages for call in getattr(m, "tool_calls", ())]
    assert asked == [message.tool_call_id for message in told] == ["c", "c_2"]


class Doubles(AgentMiddleware[Any, Any, Any]):
    """Another middleware, which gives all calls one id behind the back of ours."""

    def after_model(self, state: Any, runtime: Any) -> dict[str, Any]:
        """Change the last message."""
        last = state["messages"][-1]
        calls = [{**call, "id": "x"} for call in last.tool_calls]
        return {"messages": [last.model_copy(update={"tool_calls": calls})]}


def test_calls_that_share_an_id_all_the_same() -> None:
    """Where the ids of one message are not unique in spite of all, none of them runs."""
    turn = said(("pay", PAY, "a"), ("pay", PAY, "b"))
    ran, told, _ = played({"version": 2, "tools": {"pay": "allow"}}, turn, before=[Doubles()])
    assert ran == []
    assert {m.text for m in told} == {"Not run: the model proposed two calls with this id at once"}


def test_a_turn_of_many_calls_is_looked_at_once() -> None:
    """What the calls of a message mean to each other is worked out once for all of them."""
    proposed = [{"name": "send", "args": {"text": f"Q{n}-7781"}, "id": f"c{n}"} for n in range(3)]
    together = Together(Conversations(load_policy(ORDER)))
    first = together.of(proposed, (OPEN,))
    assert together.of(proposed, (OPEN,)) is first
    assert all({"Q0-7781", "Q1-7781", "Q2-7781"} <= set(pieces) for pieces, _ in first)
    read = {"name": "read_inbox", "args": {}, "id": "c"}
    orders = [order for _, order in together.of([*proposed, read], (OPEN,))]
    assert orders == [(SHUT,)] * 3 + [(OPEN,)]


HALF = "\ud83d"


@pytest.mark.parametrize("door", ["graph", "middleware"])
@pytest.mark.parametrize(
    "more",
    [
        {"id": f"m{HALF}"},
        {"name": f"n{HALF}"},
        {"response_metadata": {"a": HALF, HALF: 1}},
        {"additional_kwargs": {"reasoning_content": f"So {HALF}"}},
        {},
    ],
    ids=repr,
)
def test_half_of_a_character(door: str, more: dict[str, Any], tmp_path: Path) -> None:
    """A reply that a server cut within a character is kept, and its call runs and counts."""
    call = {"name": "pay", "args": PAY, "id": f"c{HALF}"}
    spy, saver = Spy("pay"), SqliteThreads(tmp_path / "t.sqlite")
    model = Raw(turns=[AIMessage("", tool_calls=[call], **more), AIMessage("Done.")])
    tools, rules = [spy.sync_tool()], load_policy({"version": 2, "tools": {"pay": "allow"}})
    runner: Any
    if door == "graph":
        runner = build_graph("react", model=model, tools=tools, policy=rules, checkpointer=saver)
    else:
        middleware = [FirewallMiddleware(rules)]
        runner = create_agent(model, tools, middleware=middleware, checkpointer=saver)
    runner.invoke(ASKED, THREAD)
    messages = runner.get_state(THREAD).values["messages"]
    assert messages[-1].text == "Done."
    assert len(spy.runs) == len(answers({"messages": messages})) == 1
    saver.close()
