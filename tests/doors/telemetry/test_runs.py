"""A run is a tree of spans: models, tools, tokens, failures, streams."""

from __future__ import annotations

import asyncio
from typing import Any

import openai
import pytest
from langchain.agents import create_agent
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan

from edgeward import (
    Firewall,
    FirewallMiddleware,
    FirewallOpenAI,
    ScriptedModel,
    guard_tools,
    load_policy,
)
from tests.doors import talks
from tests.doors.test_receipts import CALLS, TALK, WORDS
from tests.fakes import Recorder, agent_graph, ask, on, turn
from tests.wire.server import Say, Wire

from .conftest import Told, about


def parent_of(told: Told, span: ReadableSpan) -> str:
    """The name of the span above; empty where there is none."""
    above = {s.context.span_id: s.name for s in told.spans if s.context}
    return above.get(span.parent.span_id, "?") if span.parent else ""


@pytest.mark.parametrize("way", ["sync", "async"])
def test_a_run_is_a_tree(told: Told, way: str) -> None:
    """The agent above all; below it models, decisions, tools; below each tool its own spans."""
    tracer = told.tracers.get_tracer("the tool's own")

    @tool
    def look(what: str) -> str:
        """Look."""
        with tracer.start_as_current_span(f"inside {what}"):
            return what

    @tool
    async def alook(what: str) -> str:
        """Look."""
        with tracer.start_as_current_span(f"inside {what}"):
            await asyncio.sleep(0)
            return what

    one = look if way == "sync" else alook
    calls = turn(*[(one.name, {"what": f"w{n}"}, f"c{n}") for n in range(4)])
    graph = agent_graph([calls, "done"], tools=[one], checkpointer="memory")
    if way == "sync":
        graph.invoke(ask(), on("t"))
    else:
        asyncio.run(graph.ainvoke(ask(), on("t")))
    (agent,) = told.named("invoke_agent")
    assert parent_of(told, agent) == ""
    assert about(agent)["gen_ai.operation.name"] == "invoke_agent"
    assert about(agent)["gen_ai.conversation.id"] == "t"
    for start, count in (("chat", 2), ("decide", 4), ("execute_tool", 4)):
        found = told.named(start)
        assert len(found) == count
        assert {parent_of(told, span) for span in found} == {agent.name}
    tools = {s.context.span_id: about(s) for s in told.named("execute_tool") if s.context}
    assert len({a["gen_ai.tool.call.id"] for a in tools.values()}) == 4
    inside = told.named("inside")
    assert len({s.parent.span_id for s in inside if s.parent}) == 4
    assert all(s.parent is not None and s.parent.span_id in tools for s in inside)
    assert trace.get_current_span() is trace.INVALID_SPAN
    durations = {
        p.attributes["gen_ai.operation.name"]: p.count
        for p in told.points("gen_ai.client.operation.duration")
    }
    assert durations == {"invoke_agent": 1, "chat": 2, "execute_tool": 4}


def test_tokens_are_told(told: Told) -> None:
    """On the span and as a metric, by the model's name."""
    reply = turn(text="done")
    reply.usage_metadata = {"input_tokens": 7, "output_tokens": 3, "total_tokens": 10}
    agent_graph([reply]).invoke(ask())
    (chat,) = told.named("chat")
    assert about(chat)["gen_ai.usage.input_tokens"] == 7
    assert about(chat)["gen_ai.usage.output_tokens"] == 3
    assert about(chat)["gen_ai.provider.name"]
    points = told.points("gen_ai.client.token.usage")
    usage = {p.attributes["gen_ai.token.type"]: p.sum for p in points}
    assert usage == {"input": 7, "output": 3}


@pytest.mark.parametrize("door", ["openai", "anthropic", "gemini"])
def test_a_client_tells_of_its_model_calls(told: Told, wire: Wire, door: str) -> None:
    """One span a request, below what the program itself is at; it ends with the reply."""
    with told.tracers.get_tracer("the program's").start_as_current_span("program"):
        talks.PLAYERS[door](load_policy(WORDS), TALK, wire)
    found = told.named("chat")
    assert len(found) == 4
    assert {about(span)["gen_ai.provider.name"] for span in found} == {
        "gcp.gemini" if door == "gemini" else door
    }
    assert {parent_of(told, span) for span in found} == {"program"}
    if door != "gemini":  # whose sum alone is read
        assert {about(span)["gen_ai.usage.input_tokens"] for span in found} == {11}


@pytest.mark.parametrize("reads", ["to the end", "a little"])
def test_a_streamed_reply_ends_the_span_of_its_request(told: Told, wire: Wire, reads: str) -> None:
    """When it has ended, or is closed early."""
    wire.script(Say("a few words that come one by one"))
    with openai.OpenAI(api_key="k", base_url=wire.openai_url, max_retries=0) as raw:
        client = FirewallOpenAI(raw, load_policy(WORDS))
        asked: Any = [{"role": "user", "content": "go"}]
        stream = client.chat.completions.create(model="m", messages=asked, stream=True)
        next(iter(stream))
        assert not told.named("chat")
        if reads == "to the end":
            list(stream)
        stream.close()
    assert len(told.named("chat")) == 1


def test_a_failure_is_told(told: Told) -> None:
    """As an error with its kind; the model's, too, and then the agent's."""

    @tool
    def fail(what: str) -> str:
        """Fail."""
        raise LookupError(what)

    graph = agent_graph([turn(("fail", {"what": "a"}, "c1")), "done"], tools=[fail])
    graph.invoke(ask())
    (ran,) = told.named("execute_tool")
    assert about(ran)["error.type"] == "LookupError"
    assert ran.status.status_code is trace.StatusCode.ERROR
    assert not ran.events
    (agent,) = told.named("invoke_agent")
    assert agent.status.status_code is trace.StatusCode.UNSET
    with pytest.raises(RuntimeError, match="no model today"):
        agent_graph([RuntimeError("no model today")]).invoke(ask())
    assert about(told.named("chat")[-1])["error.type"] == "RuntimeError"
    assert about(told.named("invoke_agent")[-1])["error.type"] == "RuntimeError"


@pytest.mark.parametrize("way", ["sync", "async"])
def test_a_stream_that_nobody_reads_on_ends_its_span(told: Told, way: str) -> None:
    """Closed early it has ended, and is no failure; between two items it is not current."""
    graph = agent_graph([turn(("read", {}, "c1")), "done"], tools=[Recorder().tool("read")])

    def begin() -> None:
        stream: Any = graph.stream(ask(), stream_mode="updates")
        next(stream)
        assert trace.get_current_span() is trace.INVALID_SPAN
        assert not told.named("invoke_agent")
        stream.close()

    async def abegin() -> None:
        stream: Any = graph.astream(ask(), stream_mode="updates")
        await anext(stream)
        assert trace.get_current_span() is trace.INVALID_SPAN
        assert not told.named("invoke_agent")
        await stream.aclose()

    begin() if way == "sync" else asyncio.run(abegin())
    (agent,) = told.named("invoke_agent")
    assert agent.status.status_code is trace.StatusCode.UNSET
    list(graph.stream(ask(), stream_mode="updates"))
    assert len(told.named("invoke_agent")) == 2


def waiting(told: Told) -> dict[str, int]:
    """How many calls wait, by door."""
    points = told.points("edgeward.approvals.waiting")
    return {p.attributes["edgeward.door"]: p.value for p in points}


def test_calls_that_wait_are_counted(told: Told) -> None:
    """Until they are answered, or the user goes on; asking again counts nothing twice."""
    pay, words = Recorder().tool("pay"), {"pay": "ask"}
    calls = turn(("pay", {"amount": 1}, "c1"), ("pay", {"amount": 2}, "c2"))
    graph = agent_graph([calls, "done", "well"], tools=[pay], words=words, checkpointer="memory")  # type: ignore[arg-type]
    graph.invoke(ask(), on("t"))
    graph.invoke(None, on("t"))
    assert waiting(told) == {"graph": 2}
    asked = graph.get_state(on("t")).tasks[0].interrupts[0].value["calls"]
    answers = {call["id"]: {"decision": "approve"} for call in asked}
    graph.invoke(Command(resume=answers), on("t"))
    assert waiting(told) == {"graph": 0}
    graph.invoke(ask(), on("u"))
    graph.invoke(ask("never mind"), on("u"))
    assert waiting(told) == {"graph": 0}
    approved = [about(span) for span in told.named("decide ")]
    assert [a["edgeward.approval"] for a in approved] == ["approve", "approve"]
    assert {a["edgeward.verdict"] for a in approved} == {"ask"}


def test_an_agent_with_the_middleware_is_told_of(told: Told) -> None:
    """Its model calls, its tools, its decisions, and the calls that wait."""
    agent: Any = create_agent(
        ScriptedModel(turns=[turn(*CALLS), "done"]),
        tools=[Recorder().tool(name) for name in ("read", "pay", "rm")],
        middleware=[FirewallMiddleware(load_policy(WORDS))],
        checkpointer=InMemorySaver(),
    )
    agent.invoke(ask(), on("t"))
    assert waiting(told) == {"middleware": 1}
    agent.invoke(Command(resume={"c2": {"decision": "approve"}}), on("t"))
    assert waiting(told) == {"middleware": 0}
    assert len(told.named("chat")) == 2
    assert sorted(span.name for span in told.named("execute_tool")) == [
        "execute_tool pay",
        "execute_tool read",
    ]
    assert {about(span)["gen_ai.conversation.id"] for span in told.named("chat")} == {"t"}


@pytest.mark.parametrize("way", ["guard_tools", "firewall"])
def test_what_a_guarded_tool_does_is_below_it(told: Told, way: str) -> None:
    """Sync and async, by a tool and by a decorated function."""
    tracer = told.tracers.get_tracer("the tool's own")

    def look(what: str) -> str:
        """Look."""
        with tracer.start_as_current_span("inside"):
            return what

    async def alook(what: str) -> str:
        """Look."""
        with tracer.start_as_current_span("inside"):
            return what

    if way == "guard_tools":
        made: list[BaseTool] = guard_tools([look, alook], "allow_all")
        assert made[0].invoke({"what": "a"}) == "a"
        assert asyncio.run(made[1].ainvoke({"what": "a"})) == "a"
    else:
        firewall = Firewall(load_policy("allow_all"))
        assert firewall.guard(look)("a") == "a"
        assert asyncio.run(firewall.guard(alook)("a")) == "a"
    found = [parent_of(told, span) for span in told.named("inside")]
    assert found == ["execute_tool look", "execute_tool alook"]
