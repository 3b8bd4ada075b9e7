"""OpenTelemetry is told of every decision, whichever door is used, and of no secret."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from importlib.metadata import entry_points
from typing import Any

import openai
import pytest
from langchain.agents import create_agent
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from opentelemetry import trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from edgeward import (
    Firewall,
    FirewallMiddleware,
    FirewallOpenAI,
    ScriptedModel,
    guard_tools,
    load_policy,
)
from edgeward.telemetry import instrument, uninstrument

from ..fakes import Recorder, agent_graph, ask, on, turn
from ..guards.secret_examples import EXAMPLES
from ..wire.server import Say, Wire
from . import talks
from .test_receipts import CALLS, TALK, WORDS

SECRETS = [text for found in EXAMPLES.values() for text in found.whole]


class Told:
    """What OpenTelemetry was told."""

    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()
        self.tracers = TracerProvider()
        self.tracers.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.reader = InMemoryMetricReader()
        self.meters = MeterProvider(metric_readers=[self.reader])

    def listen(self, **options: Any) -> None:
        """Have it told of what happens from here on."""
        instrument(tracer_provider=self.tracers, meter_provider=self.meters, **options)

    @property
    def spans(self) -> list[ReadableSpan]:
        """The spans that have ended, in that order."""
        return list(self.exporter.get_finished_spans())

    def named(self, start: str) -> list[ReadableSpan]:
        """Those whose name begins so."""
        return [span for span in self.spans if span.name.startswith(start)]

    def points(self, metric: str) -> list[Any]:
        """The data points of one metric."""
        data = self.reader.get_metrics_data()
        scopes = [s for r in data.resource_metrics for s in r.scope_metrics] if data else []
        found = [m for s in scopes for m in s.metrics if m.name == metric]
        return [point for m in found for point in m.data.data_points]

    def text(self) -> str:
        """All that was told, as text, as it is and as JSON writes it."""
        data = self.reader.get_metrics_data()
        metrics = data.to_json() if data else ""
        shown = [span.to_json() for span in self.spans]
        events = [(e.name, dict(e.attributes or {})) for span in self.spans for e in span.events]
        values = [(s.name, dict(s.attributes or {}), s.status.description) for s in self.spans]
        return "\n".join([metrics, *shown, *map(plain, events), *map(plain, values)])


def plain(value: Any) -> str:
    """A value's texts as they are."""
    if isinstance(value, dict):
        return "\n".join(plain(item) for pair in value.items() for item in pair)
    if isinstance(value, list | tuple):
        return "\n".join(map(plain, value))
    return str(value)


@pytest.fixture
def told() -> Iterator[Told]:
    """Spans and metrics kept in memory; at the end nobody listens any more."""
    made = Told()
    made.listen()
    yield made
    uninstrument()


@pytest.fixture
def wire() -> Iterator[Wire]:
    """A provider on this machine."""
    with Wire() as running:
        yield running


def about(span: ReadableSpan) -> dict[str, Any]:
    """A span's attributes."""
    return dict(span.attributes or {})


def parent_of(told: Told, span: ReadableSpan) -> str:
    """The name of the span above; empty where there is none."""
    above = {s.context.span_id: s.name for s in told.spans if s.context}
    return above.get(span.parent.span_id, "?") if span.parent else ""


@pytest.mark.parametrize("door", talks.PLAYERS)
def test_every_door_tells_of_its_decisions(told: Told, wire: Wire, door: str) -> None:
    """One span and one count for each call, with verdict and door; the latency of each."""
    talks.PLAYERS[door](load_policy(WORDS), TALK, wire)
    spans = [about(span) for span in told.named("decide ")]
    assert sorted((s["gen_ai.tool.name"], s["edgeward.verdict"]) for s in spans) == [
        ("read", "allow"),
        ("read", "allow"),
        ("rm", "block"),
    ]
    assert {s["edgeward.door"] for s in spans} == {door}
    assert [s["edgeward.rules"] for s in spans if s["edgeward.verdict"] == "block"] == [
        ("default",)
    ]
    counts = {
        (p.attributes["edgeward.verdict"], p.attributes["edgeward.door"]): p.value
        for p in told.points("edgeward.decisions")
    }
    assert counts == {("allow", door): 2, ("block", door): 1}
    assert sum(p.count for p in told.points("edgeward.decision.duration")) == 3


def test_what_would_be_is_told_too(told: Told) -> None:
    """Where rules are in shadow: the word, counted, and the rules."""
    firewall = Firewall(load_policy({**WORDS, "mode": "shadow"}))
    firewall.check("read")
    firewall.check("rm")
    found = [about(span) for span in told.named("decide ")]
    assert [(s["edgeward.verdict"], s["edgeward.shadow.verdict"]) for s in found] == [
        ("allow", "allow"),
        ("allow", "block"),
    ]
    assert found[1]["edgeward.shadow.rules"] == ("default",)
    counts = [p.attributes["edgeward.shadow.verdict"] for p in told.points("edgeward.decisions")]
    assert sorted(counts) == ["allow", "block"]


@pytest.mark.parametrize("door", talks.PLAYERS)
@pytest.mark.parametrize("content", ["none", "masked"])
def test_no_door_tells_a_secret(told: Told, wire: Wire, door: str, content: str) -> None:
    """Wherever it stands: in a name, an id, an argument, what the user says, a result."""
    told.listen(content=content)
    policy = load_policy({"version": 2, "tools": {"read": "allow"}})
    secret = SECRETS[5]
    steps = [talks.Step(secret, "read", {"what": secret}, f"it says {secret}")]
    steps += [talks.Step("c2", "read", {"what": "x"}, f"it says {secret}"), talks.Step("c3", "rm")]
    talks.PLAYERS[door](policy, [talks.Round(f"use {secret}", [steps])], wire)
    assert told.named("decide ")
    assert secret not in told.text()
    assert json.dumps(secret)[1:-1] not in told.text()


def test_of_no_shipped_pattern_anything_is_told(told: Told) -> None:
    """In a call's name, id, arguments, thread, and in what the tool gives back or raises."""
    told.listen(content="masked")

    def give(secret: str, what: str) -> str:
        return f"found {secret}"

    def fail(secret: str, what: str) -> str:
        raise ValueError(f"cannot use {secret}")

    for secret in SECRETS:
        firewall = Firewall(load_policy({"version": 2, "tools": {"*": "allow"}}), thread=secret)
        firewall.check("read", {"what": secret, secret: 1}, id=secret)
        firewall.check(secret, {"deep": [[secret]]})

        firewall.guard(partial(give, secret), name="give")("x")
        with pytest.raises(ValueError, match="cannot use"):
            firewall.guard(partial(fail, secret), name="fail")("x")
    text = told.text()
    assert len(told.named("execute_tool fail")) == len(SECRETS)
    assert not [s for s in SECRETS if s in text or json.dumps(s)[1:-1] in text]


class Found:
    """A value of the program's own."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text


def give_back(value: Any) -> Any:
    """A tool whose result is this."""
    return value


@pytest.mark.parametrize("before", ["see\n", 'see "'])
def test_no_escape_hides_what_is_masked(told: Told, before: str) -> None:
    """A span tells of a value as JSON, which writes a new line as a letter."""
    told.listen(content="masked")
    personal = ["ann@corp.example", "4111111111111111"]
    firewall = Firewall(load_policy({"version": 2, "tools": {"*": "allow"}}))
    for hidden in [*SECRETS, *personal]:
        given: list[Any] = [f"{before}{hidden}", {"deep": [hidden]}, (hidden,), {1: hidden}]
        for value in (*given, [Found(f"{before}{hidden}")]):
            firewall.check("read", {"what": [f"{before}{hidden}"], f"{before}{hidden}": 1})
            firewall.guard(partial(give_back, value), name="find")()
    text = told.text()
    assert len(told.named("execute_tool find")) == 5 * len([*SECRETS, *personal])
    assert "[REDACTED:" in text
    assert not [hidden for hidden in [*SECRETS, *personal] if hidden in text]


class Speechless(Exception):
    """An error that cannot say what it is."""

    def __str__(self) -> str:
        raise LookupError("no words")


def test_an_error_without_a_text_stays_what_it_is(told: Told) -> None:
    """Its kind is told, and the program gets the error that was raised."""
    told.listen(content="masked")

    def fail() -> None:
        raise Speechless

    with pytest.raises(Speechless):
        Firewall(load_policy("allow_all")).guard(fail)()
    (ran,) = told.named("execute_tool")
    assert about(ran)["error.type"] == "Speechless"
    assert ran.status.status_code is trace.StatusCode.ERROR


def test_without_content_nothing_that_was_written_is_told(told: Told) -> None:
    """Neither what the user and the model say, nor arguments, results, reasons and errors."""

    @tool
    def read(what: str) -> str:
        """Read."""
        return "the-result"

    @tool
    def fail(what: str) -> str:
        """Fail."""
        raise ValueError("the-error")

    calls = turn(("read", {"what": "the-argument"}, "c1"), ("fail", {"what": "b"}, "c2"))
    graph = agent_graph([calls, "the-answer"], tools=[read, fail])
    graph.invoke(ask("the-question"), on("t"))
    written = [f"the-{word}" for word in ("result", "error", "argument", "answer", "question")]
    assert not [word for word in written if word in told.text()]
    told.listen(content="masked")
    graph.invoke(ask("the-question"), on("u"))
    assert not [word for word in written if word not in told.text()]


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


class Broken(SpanProcessor, SpanExporter):
    """A processor that fails wherever it can."""

    def on_start(self, span: Any, parent_context: Any = None) -> None:
        raise RuntimeError("broken")

    def on_end(self, span: ReadableSpan) -> None:
        raise RuntimeError("broken")


class NoSdk:
    """A provider that is none."""

    def get_tracer(self, *_: Any, **__: Any) -> NoSdk:
        return self

    def get_meter(self, *_: Any, **__: Any) -> NoSdk:
        return self

    def create_counter(self, *_: Any, **__: Any) -> NoSdk:
        return self

    create_histogram = create_up_down_counter = create_counter


@pytest.mark.parametrize("way", ["a processor", "a provider"])
@pytest.mark.parametrize("door", talks.PLAYERS)
def test_broken_telemetry_changes_nothing(
    told: Told, wire: Wire, door: str, way: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The same tools run as without; that it is broken is logged, and nothing of the run."""
    if way == "a processor":
        told.tracers.add_span_processor(Broken())
        told.listen(content="masked")
    else:
        instrument(tracer_provider=NoSdk(), meter_provider=NoSdk(), content="masked")
    ran = talks.PLAYERS[door](load_policy(WORDS), TALK, wire)
    uninstrument()
    assert ran == talks.PLAYERS[door](load_policy(WORDS), TALK, wire)
    logged = {r.getMessage() for r in caplog.records if r.name == "edgeward.telemetry"}
    assert all(text.endswith("the run goes on without") for text in logged)


def test_nothing_is_loaded_before_it_is_wanted() -> None:
    """Off, as at first, OpenTelemetry is not imported by a decision."""
    code = (
        "import sys\n"
        "from edgeward import Firewall, load_policy\n"
        "Firewall(load_policy('allow_all')).check('read')\n"
        "import edgeward.telemetry\n"
        "assert 'opentelemetry' not in sys.modules\n"
        "edgeward.telemetry.instrument()\n"
        "assert 'opentelemetry' in sys.modules and 'opentelemetry.sdk' not in sys.modules\n"
        "assert Firewall(load_policy('allow_all')).check('read').word == 'allow'"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_command_of_opentelemetry_finds_it(told: Told) -> None:
    """By the entry point, as it calls every instrumentor."""
    (found,) = entry_points(group="opentelemetry_instrumentor", name="edgeward")
    instrumentor = found.load()()
    instrumentor.uninstrument()
    Firewall(load_policy(WORDS)).check("read")
    assert not told.spans
    instrumentor.instrument(tracer_provider=told.tracers, meter_provider=told.meters, extra=1)
    Firewall(load_policy(WORDS)).check("read")
    assert len(told.named("decide read")) == 1


def test_an_unknown_word_for_content_is_refused() -> None:
    """With what is allowed."""
    with pytest.raises(ValueError, match="allowed: 'none', 'masked'"):
        instrument(content="all")  # type: ignore[arg-type]
