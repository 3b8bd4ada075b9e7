"""A guarded graph is a Runnable like any other: every way of running one works (U06)."""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableLambda, RunnableParallel, RunnablePassthrough
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import GraphRecursionError
from langgraph.types import Command

from edgeward.graphs.context import RunContext
from edgeward.graphs.locked import LockedGraph, LockViolation
from edgeward.profiles.scripted import ScriptedModel
from edgeward.profiles.tools.python import as_tool
from tests.fakes import agent_graph, answers, ask, on, turn

STREAMS = ["values", "updates", "checkpoints", "tasks", "debug", "messages", "custom"]


def pay(what: str) -> str:
    """Pays."""
    return f"paid {what}"


@pytest.fixture
def graph() -> LockedGraph:
    """A graph that runs one call and answers."""
    turns = [turn(("pay", {"what": "a"}, "c1")), "done", "and more"]
    return agent_graph(turns, tools=[pay], checkpointer=InMemorySaver())


def last(result: Any) -> str:
    return str(result["messages"][-1].text)


async def test_invoke_and_batch(graph: LockedGraph) -> None:
    """invoke, ainvoke, batch and abatch give all messages of the thread."""
    results = [
        graph.invoke(ask(), on("a")),
        await graph.ainvoke(ask(), on("b")),
        *graph.batch([ask(), ask()], [on("c"), on("d")]),
        *await graph.abatch([ask(), ask()], [on("e"), on("f")]),
    ]
    for result in results:
        assert set(result) == {"messages"}
        assert [m.type for m in result["messages"]] == ["human", "ai", "tool", "ai"]


@pytest.mark.parametrize(
    "given",
    [
        [HumanMessage("go")],
        [{"role": "user", "content": "go"}],
        [("user", "go")],
        ["go"],
        "go",
        ("user", "go"),
        [("system", "be brief"), ("user", "go")],
    ],
    ids=repr,
)
async def test_forms_of_input(given: Any, graph: LockedGraph) -> None:
    """Messages may come as LangChain messages, as plain dicts, as pairs, or as a text."""
    assert last(graph.invoke({"messages": given}, on("a"))) == "done"
    assert last(await graph.ainvoke({"messages": given}, on("b"))) == "done"


async def test_what_is_no_input_is_refused(graph: LockedGraph) -> None:
    """Not dropped in silence: the model would be asked nothing, for nobody."""
    wrong: Any = {"message": "go"}
    with pytest.raises(LockViolation, match="no mapping without messages"):
        graph.invoke(wrong, on())
    with pytest.raises(LockViolation, match="no mapping without messages"):
        await graph.ainvoke(wrong, on())
    nobody: Any = "ann"
    with pytest.raises(TypeError, match="context is of type str; allowed: a RunContext"):
        graph.invoke(ask(), on(), context=nobody)
    with pytest.raises(TypeError, match="context is of type str"):
        await graph.ainvoke(ask(), on(), context=nobody)
    assert last(graph.invoke(ask(), on(), context={"user": "ann"})) == "done"  # type: ignore[arg-type]


def test_callers_messages_stay_as_they_are(graph: LockedGraph) -> None:
    """The caller's list and messages are not changed, and one message may be sent twice."""
    message = HumanMessage("go")
    given = {"messages": [message, {"role": "user", "content": "go"}]}
    graph.invoke(given, on())
    assert message.id is None
    assert given == {"messages": [message, {"role": "user", "content": "go"}]}
    graph.invoke({"messages": [message]}, on("u"))
    result = graph.invoke({"messages": [message]}, on("u"))
    assert [m.type for m in result["messages"]] == ["human", "ai", "tool", "ai", "human", "ai"]


@pytest.mark.parametrize("mode", STREAMS)
async def test_stream_modes(mode: str, graph: LockedGraph) -> None:
    """Every stream mode works, sync and async."""
    found = list(graph.stream(ask(), on("a"), stream_mode=mode))  # type: ignore[arg-type]
    afound = [c async for c in graph.astream(ask(), on("b"), stream_mode=mode)]  # type: ignore[arg-type]
    assert len(found) == len(afound)
    assert bool(found) == (mode != "custom")


async def test_streams_of_several_modes(graph: LockedGraph) -> None:
    """Several modes at once give pairs; `updates` names the nodes in their order."""
    found = list(graph.stream(ask(), on("a"), stream_mode=["updates", "values"]))
    assert {mode for mode, _ in found} == {"updates", "values"}
    nodes = [name for mode, chunk in found if mode == "updates" for name in chunk]
    assert nodes == ["act", "guard", "tool", "act"]


async def test_default_stream_is_values(graph: LockedGraph) -> None:
    """Without a mode, each item of a stream is the messages so far."""
    assert last(list(graph.stream(ask(), on()))[-1]) == "done"


async def test_tokens_are_streamed(graph: LockedGraph) -> None:
    """With stream_mode `messages` the answer comes in pieces."""
    pieces = [
        piece.text
        async for piece, _ in graph.astream(ask(), on(), stream_mode="messages")
        if isinstance(piece, AIMessage)
    ]
    assert "".join(pieces) == "done"


async def test_event_stream(graph: LockedGraph) -> None:
    """astream_events shows models, tools and nodes by their names."""
    found = [e async for e in graph.astream_events(ask(), on(), version="v2")]
    names = {(e["event"], e["name"]) for e in found}
    for event, name in [
        ("on_chain_start", "react"),
        ("on_chat_model_end", "ScriptedModel"),
        ("on_chain_end", "guard"),
        ("on_tool_start", "pay"),
        ("on_tool_end", "pay"),
    ]:
        assert (event, name) in names


async def test_in_a_sequence(graph: LockedGraph) -> None:
    """In the middle of a sequence the graph can be invoked and streamed."""
    chain = RunnableLambda(ask) | graph | RunnableLambda(last)
    assert chain.invoke("go", on("a")) == "done"
    assert await chain.ainvoke("go", on("b")) == "done"
    assert list(chain.stream("go", on("c")))[-1] == "done"
    assert [c async for c in chain.astream("go", on("d"))][-1] == "done"
    found = [e async for e in chain.astream_events("go", on("e"), version="v2")]
    assert found[-1]["data"]["output"] == "done"


def test_in_parallel_and_assigned(graph: LockedGraph) -> None:
    """Side by side with other runnables, and as an assigned field, the graph works."""
    both = RunnableParallel(a=graph, b=RunnablePassthrough())
    assert last(both.invoke(ask(), on("a"))["a"]) == "done"
    assigned = RunnablePassthrough.assign(answer=graph | RunnableLambda(last))
    assert assigned.invoke(ask(), on("b"))["answer"] == "done"


async def test_many_rounds_in_a_chain_and_in_a_tool() -> None:
    """LangChain hands on a bound of 25 steps that nobody has set; one that somebody sets counts."""
    turns = [*(turn(("pay", {"what": f"{n}"}, f"c{n}")) for n in range(12)), "done"]
    graph = agent_graph(turns, tools=[pay], max_steps=20)
    chain = RunnableLambda(ask) | graph | RunnableLambda(last)
    assert chain.invoke("go") == "done"
    assert await chain.ainvoke("go") == "done"
    assert chain.batch(["go", "go"]) == ["done", "done"]

    def asked(what: str) -> str:
        """Ask it."""
        return last(graph.invoke(ask(what)))

    assert (RunnablePassthrough() | as_tool(asked)).invoke({"what": "go"}) == "done"
    with pytest.raises(GraphRecursionError):
        graph.invoke(ask(), {"recursion_limit": 9})
    with pytest.raises(GraphRecursionError):
        graph.with_config(recursion_limit=9).invoke(ask())


@pytest.mark.parametrize("kept", [None, True, "memory"])
def test_a_pause_in_a_tool_is_that_of_the_agent_which_has_it(kept: Any) -> None:
    """The other agent shows the question and takes the answer; the call runs once."""
    ran: list[str] = []

    def paid(what: str) -> str:
        """Pays."""
        ran.append(what)
        return f"paid {what}"

    turns, words = [turn(("paid", {"what": "a"}, "c1")), "It is paid."], {"paid": "ask"}
    inner = agent_graph(turns, tools=[paid], words=words, checkpointer=kept)

    def clerk(task: str) -> str:
        """Have something done."""
        return last(inner.invoke(ask(task)))

    model = ScriptedModel(turns=[turn(("clerk", {"task": "Pay a."}, "k1")), "Done."])
    agent = create_agent(model, [clerk], checkpointer=InMemorySaver())
    (asked,) = agent.invoke(ask("Pay."), on())["__interrupt__"]  # type: ignore[call-overload]
    assert [call["id"] for call in asked.value["calls"]] == ["c1"]
    state = agent.invoke(Command(resume={"c1": {"decision": "approve"}}), on())
    assert [m.text for m in state["messages"]][-2:] == ["It is paid.", "Done."]
    assert ran == ["a"]


def test_as_tool(graph: LockedGraph) -> None:
    """As a tool the graph takes messages and nothing of its own state."""
    with pytest.warns(match="beta"):
        tool = graph.as_tool(name="assistant", description="Helps.")
    assert set(tool.args) == {"messages"}
    assert "done" in str(tool.invoke({"messages": ["go"]}, on()))


def test_schemas(graph: LockedGraph) -> None:
    """Input and output schemas name messages only."""
    assert set(graph.get_input_jsonschema()["properties"]) == {"messages"}
    assert set(graph.get_output_jsonschema()["properties"]) == {"messages"}


def test_configured_copies_stay_locked(graph: LockedGraph) -> None:
    """with_config, copy and a retry wrapper give graphs that work, and refuse what this refuses."""
    jump: Command[Any] = Command(goto="tool")
    for number, other in enumerate((graph.with_config(tags=["x"]), graph.copy())):
        assert last(other.invoke(ask(), on(f"{number}"))) == "done"
        with pytest.raises(LockViolation):
            other.invoke(jump, on())
    with pytest.raises(LockViolation):
        graph.with_retry(stop_after_attempt=1).invoke(jump, on())
    with pytest.raises(LockViolation):
        graph.with_fallbacks([graph]).invoke(jump, on())


def test_history_and_time_travel(graph: LockedGraph) -> None:
    """The history of a thread can be read, and a run can go on from an earlier checkpoint."""
    graph.invoke(ask(), on())
    history = list(graph.get_state_history(on()))
    assert [s.next for s in history] == [
        (),
        ("act",),
        ("tool",),
        ("guard",),
        ("act",),
        ("__start__",),
    ]
    old = next(s.config for s in history if s.next == ("guard",))
    assert last(graph.invoke(None, old)) == "done"


async def test_state_can_be_read(graph: LockedGraph) -> None:
    """The state of a thread can be read, and holds no ticket."""
    graph.invoke(ask(), on())
    state = await graph.aget_state(on())
    assert set(state.values) <= {
        "messages",
        "run",
        "ledger",
        "vault",
        "verdicts",
        "plan",
        "critique",
        "withheld",
        "used",
    }
    assert "ticket" not in str(state.values)


async def test_max_steps_of_a_run() -> None:
    """The context of a run bounds its steps, whatever the graph was built with."""
    turns = [turn(("pay", {"what": f"{n}"}, f"c{n}")) for n in range(9)]
    graph = agent_graph(turns, tools=[pay], max_steps=5)
    assert len(answers(graph.invoke(ask())["messages"])) == 5
    result = graph.invoke(ask(), context=RunContext(max_steps=2))
    assert len(answers(result["messages"])) == 2
    result = await graph.ainvoke(ask(), context=RunContext(max_steps=2))
    assert len(answers(result["messages"])) == 2


def test_callbacks_see_the_parts(graph: LockedGraph) -> None:
    """A callback handler sees the nodes, the model and the tool."""
    seen: list[str] = []

    class Handler(BaseCallbackHandler):
        def on_chain_start(self, serialized: Any, inputs: Any, **more: Any) -> None:
            seen.append(str(more.get("name")))

        def on_chat_model_start(self, serialized: Any, messages: Any, **more: Any) -> None:
            seen.append("model")

        def on_tool_start(self, serialized: Any, input_str: str, **more: Any) -> None:
            seen.append(str(more.get("name") or serialized["name"]))

    graph.invoke(ask(), {**on(), "callbacks": [Handler()]})
    assert [s for s in seen if s in ("act", "guard", "tool", "model", "pay")] == [
        "act",
        "model",
        "guard",
        "tool",
        "pay",
        "act",
        "model",
    ]
