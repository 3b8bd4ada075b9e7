"""Reading on in a shortened result: a tool as any other, through the guard, in its own thread."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import BaseMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver

from edgeward.graphs.build import build_graph
from edgeward.graphs.context import RunContext
from edgeward.nodes._shorten import READ_REST
from edgeward.policies.schema import load_policy
from edgeward.profiles.schema import AgentProfile
from edgeward.profiles.scripted import ScriptedModel
from edgeward.profiles.tools.python import as_tool
from tests.fakes import agent_graph, ask, on, turn

PROFILE = AgentProfile.from_mapping(
    {"id": "a", "name": "A", "memory": {"is_retrieve": False, "context_limit": 4096}}
)
LONG = "\n".join(f"line {number}" for number in range(9_000)) + "\nthe code word is heron"


def get_file(name: str = "") -> str:
    """Read a file."""
    return LONG


READ = turn(("get_file", {"name": "a"}, "c1"))


def played(*turns: Any, **more: Any) -> tuple[Any, dict[str, Any]]:
    """The graph's model, and the thread at the end."""
    more = {"tools": [get_file], "profile": PROFILE, "checkpointer": InMemorySaver(), **more}
    graph = agent_graph(turns, order="call", **more)
    graph.invoke(ask("What is the code word?"), on())
    model = graph.nodes["act"].bound._ruled.current.work.model  # type: ignore[attr-defined]
    return model, graph.get_state(on()).values


def results(messages: list[BaseMessage]) -> list[ToolMessage]:
    """The tool messages."""
    return [m for m in messages if isinstance(m, ToolMessage)]


@pytest.mark.parametrize("policy", ["default", "read_only", "allow_all"])
def test_the_rest_is_read_through_the_guard(policy: str) -> None:
    """The model sees a part, calls the tool, and has the end of it; each call has its verdict."""
    read_on = turn((READ_REST, {"call": "c1", "find": "code word"}, "c2"))
    model, state = played(READ, read_on, "heron", policy=policy)
    first, second = results(state["messages"])
    assert len(first.text) < 12_000
    assert second.text.startswith("code word is heron")
    assert [(v["tool"], v["word"]) for v in state["verdicts"]] == [
        ("get_file", "allow"),
        (READ_REST, "allow"),
    ]
    assert state["messages"][-1].text == "heron"
    seen = model.requests[1][-1].text
    assert "line 0" in seen
    assert "read_rest(call='c1'" in seen


async def test_the_same_in_an_event_loop() -> None:
    """The tool reads the thread's state there, too."""
    read_on = turn((READ_REST, {"call": "c1", "start": 5}, "c2"))
    graph = agent_graph(
        [READ, read_on, "done"], order="call", tools=[get_file], profile=PROFILE, policy="default"
    )
    state = await graph.ainvoke(ask())
    assert results(state["messages"])[1].text.startswith("0\nline 1")


def test_the_tool_is_offered_when_there_is_something_to_read() -> None:
    """A model is told of it after a result was shortened, and not before."""
    offered: list[list[str]] = []

    class Listening(ScriptedModel):
        """A scripted model that notes which tools it is given."""

        def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
            return self.bind(tools=tools)

        def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
            offered.append([t["function"]["name"] for t in kwargs.pop("tools")])
            return super()._generate(messages, *args, **kwargs)

    model = Listening(turns=[READ, "done"], order="call")
    graph = build_graph("react", model=model, tools=[get_file], profile=PROFILE, policy="default")
    graph.invoke(ask())
    assert offered == [["get_file"], ["get_file", READ_REST]]


LISTED: dict[str, Any] = {"version": 2, "default": "block", "tools": {"get_file": "allow"}}


@pytest.mark.parametrize(
    "policy",
    [
        LISTED,
        {**LISTED, "default": "ask"},
        {"version": 1, "tool_allowlist": ["get_file"]},
        {**LISTED, "callers": {"users": ["emma"]}},
    ],
    ids=["block", "ask", "allowlist", "callers"],
)
def test_a_policy_that_lists_its_tools_need_not_name_it(policy: dict[str, Any]) -> None:
    """It gives the model only what the thread's calls brought back, and nobody has to be asked."""
    graph = agent_graph(
        [READ, turn((READ_REST, {"call": "c1", "find": "code word"}, "c2")), "heron"],
        order="call",
        tools=[get_file],
        profile=PROFILE,
        checkpointer=InMemorySaver(),
        policy=load_policy(policy),
    )
    graph.invoke(ask(), on(), context=RunContext(user="emma"))
    state = graph.get_state(on()).values
    assert results(state["messages"])[1].text.startswith("code word is heron")
    assert [v["word"] for v in state["verdicts"]] == ["allow", "allow"]


def test_who_was_not_given_a_result_does_not_read_on_in_it() -> None:
    """Bob, who goes on with Emma's thread, is not let through to what only she may ask for."""
    policy = {**LISTED, "tools": {"get_file": {"callers": {"users": ["emma"]}}}}
    read_on = {"call": "c1", "find": "code word"}
    turns = [
        READ,
        "a",
        turn((READ_REST, read_on, "c2")),
        "b",
        turn((READ_REST, read_on, "c3")),
        "c",
    ]
    graph = agent_graph(
        turns,
        order="call",
        tools=[get_file],
        profile=PROFILE,
        checkpointer=InMemorySaver(),
        policy=load_policy(policy),
    )
    for user in ("emma", "bob", "emma"):
        graph.invoke(ask(), on(), context=RunContext(user=user))
    state = graph.get_state(on()).values
    assert [v["word"] for v in state["verdicts"]] == ["allow", "block", "allow"]
    _, bobs, emmas = results(state["messages"])
    assert "heron" not in bobs.text
    assert emmas.text.startswith("code word is heron")


def test_a_call_that_was_not_made_grants_nothing() -> None:
    """An invented id, or that of a call without a result, is left to the policy's default."""
    invented = turn((READ_REST, {"call": "c9"}, "c2"), (READ_REST, {"call": "c3"}, "c3"))
    _, state = played(READ, invented, "done", policy=load_policy(LISTED))
    assert [v["word"] for v in state["verdicts"]] == ["allow", "block", "block"]


def test_a_tool_of_somebody_elses_by_that_name_is_granted_nothing(strategy_file: Any) -> None:
    """Where results are not shortened, the name is free, and stands for what the policy says."""
    ran: list[str] = []

    def read_rest(call: str = "") -> str:
        """Mine."""
        ran.append(call)
        return "done"

    plain = strategy_file(
        "strategy: s\nstart: act\nnodes: {act: act, guard: guard, tool: tool}\n"
        "edges: {act.call: guard, act.answer: end, act.limit: end, guard.allow: tool,"
        " guard.block: act, tool.done: act}\n"
    )
    turns = [READ, turn((READ_REST, {"call": "c1"}, "c2")), "done"]
    model = ScriptedModel(turns=turns, order="call")
    graph = build_graph(plain, model=model, tools=[get_file, read_rest], policy=LISTED)
    graph.invoke(ask())
    assert ran == []


@pytest.mark.parametrize("name", [READ_REST, "read_*", "*", "Read_Rest"])
def test_a_policy_that_blocks_it(name: str) -> None:
    """By name, in another spelling, by a glob, or with every tool that it does not list: it is not
    offered, the note does not speak of it, and calling it is refused."""
    policy = load_policy({**LISTED, "tools": {"get_file": "allow", name: "block"}})
    read_on = turn((READ_REST, {"call": "c1"}, "c2"))
    model, state = played(READ, read_on, "done", policy=policy)
    assert READ_REST not in model.requests[1][-1].text
    assert "ask for less" in model.requests[1][-1].text
    assert results(state["messages"])[1].status == "error"
    assert state["verdicts"][-1]["word"] == "block"


def test_only_the_own_thread_is_read() -> None:
    """A shortened result of another thread is not there."""
    saver = InMemorySaver()
    turns = [READ, "done", turn((READ_REST, {"call": "c1"}, "c2")), "done"]
    graph = agent_graph(
        turns, order="call", tools=[get_file], profile=PROFILE, policy="default", checkpointer=saver
    )
    graph.invoke(ask(), on("one"))
    state = graph.invoke(ask(), on("two"))
    assert "no shortened result" in results(state["messages"])[0].text


def test_what_was_read_stays_untrusted(tmp_path: Path) -> None:
    """A value that only a tool said is no word of the user's, also read page by page (I10)."""
    read_on = turn((READ_REST, {"call": "c1", "find": "code"}, "c2"))
    _, state = played(READ, read_on, "heron", policy="default")
    users = [entry for entry in state["ledger"] if entry["source"] == "user"]
    assert "heron" not in str(users)
    assert {e["source"] for e in state["ledger"]} <= {"user", "tool get_file", "tool read_rest"}


@pytest.mark.parametrize("name", [READ_REST, "Read_Rest"])
def test_a_tool_of_that_name_is_refused(name: str) -> None:
    """Two tools of one name, or of names that a model or a policy takes for one another, are a
    fault at build, with both sources named."""

    def mine() -> str:
        """Mine."""
        return ""

    said = f"two tools are named {name!r}: the `tools` argument, and the one by which strategy"
    with pytest.raises(ValueError, match=said):
        agent_graph([], tools=[as_tool(mine, name=name)])


def test_c26_prompt_and_tools_that_leave_no_room() -> None:
    """One clear error where the graph is built: what they take, what there is, what to do."""
    profile = AgentProfile.from_mapping(
        {
            "id": "a",
            "name": "A",
            "prompt": {"system": "Be kind. " * 900},
            "memory": {"is_retrieve": False, "context_limit": 2048},
        }
    )
    with pytest.raises(ValueError, match=r"about 2\d\d\d tokens.*raise context_limit"):
        agent_graph(["x"] * 5, tools=[get_file], profile=profile)
