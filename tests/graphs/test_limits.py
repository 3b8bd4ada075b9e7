"""`limits` in whole graphs: every model call counts, and a run ends with what it has."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import pytest
from langchain_core.messages import AIMessage, SystemMessage
from langgraph.checkpoint.memory import InMemorySaver

from edgeward.graphs.agent import PlanAndSolveAgent, ReActAgent, SimpleAgent
from edgeward.graphs.build import build_graph
from edgeward.graphs.compile import Parts, compile_strategy
from edgeward.graphs.config import AgentConfig
from edgeward.graphs.context import RunContext
from edgeward.graphs.schema import load_strategy
from edgeward.guards.limits import Spending
from edgeward.policies.schema import load_policy
from edgeward.profiles.schema import AgentProfile
from edgeward.profiles.scripted import ScriptedModel

from fakes import Recorder, ask, on, turn

PRICES = {"scripted": {"input": 1000, "output": 2000}}
COST = (80 * 1000 + 20 * 2000) / 1e6
"""Of one reply of 100 tokens: 0.12 dollars."""


def said(*names: str, text: str = "", number: int = 0) -> AIMessage:
    """A reply of exactly 100 tokens that calls these tools."""
    calls = [(name, {"what": f"{number}.{at}"}, f"c{number}_{at}") for at, name in enumerate(names)]
    usage = {"input_tokens": 80, "output_tokens": 20, "total_tokens": 100}
    return turn(*calls, text=text).model_copy(update={"usage_metadata": usage})


def busy(text: str = "so far") -> list[AIMessage]:
    """A model that calls one tool after the other."""
    return [said("look", text=f"{text} {n}", number=n) for n in range(40)]


def rules(**limits: Any) -> dict[str, Any]:
    """A policy with these limits."""
    return {"version": 2, "default": "allow", "limits": limits}


def built(
    turns: Any, recorder: Recorder | None = None, strategy: str = "react", **options: Any
) -> tuple[Any, ScriptedModel]:
    """A graph that plays the turns in the order of the requests, and its model."""
    model = ScriptedModel(turns=turns, order="call")
    tools = [(recorder or Recorder()).tool("look")]
    options.setdefault("max_steps", 30)
    return build_graph(strategy, model=model, tools=tools, **options), model


def stopped(graph: Any, **config: Any) -> str:
    """Why the last run of a thread stopped."""
    return str(graph.get_state(on(**config)).values["run"]["stopped"])


def unanswered(messages: Any) -> set[str]:
    """The calls without an answer."""
    asked = {c["id"] for m in messages if isinstance(m, AIMessage) for c in m.tool_calls}
    return asked - {m.tool_call_id for m in messages if m.type == "tool"}


@pytest.mark.parametrize(
    ("limits", "reason", "most"),
    [
        ({"tokens": 1_000}, "token_limit", 10),
        ({"run": {"tokens": 500}}, "token_limit", 5),
        ({"cost_usd": COST * 6, "prices": PRICES}, "cost_limit", 6),
        ({"caller": {"tokens": 1_000}}, "token_limit", 10),
        ({"calls": 4}, "call_limit", 5),
    ],
)
@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "batch"])
async def test_at_a_limit_the_run_ends_with_what_it_has(
    limits: dict[str, Any], reason: str, most: int, way: str
) -> None:
    """Nothing is passed, no call is left open, and the state says why it stopped."""
    recorder = Recorder()
    graph, model = built(busy(), recorder, policy=rules(**limits), checkpointer=InMemorySaver())
    config = {**on(), "recursion_limit": 200}
    if way == "ainvoke":
        await graph.ainvoke(ask(), config)
    elif way == "stream":
        list(graph.stream(ask(), config))
    elif way == "batch":
        graph.batch([ask()], config)
    else:
        graph.invoke(ask(), config)
    messages = graph.get_state(on()).values["messages"]
    assert stopped(graph) == reason
    assert most - 2 <= len(model.requests) <= most
    assert not unanswered(messages)
    assert len(recorder.runs) == limits.get("calls", len(model.requests))


@pytest.mark.parametrize("kind", [SimpleAgent, ReActAgent, PlanAndSolveAgent])
async def test_the_three_agents_say_why_they_stopped(kind: Any) -> None:
    """A result as always: the last that was said, the trace, the tokens, and the reason."""
    turns = busy() if kind is not PlanAndSolveAgent else [said(text="1. look\n2. look"), *busy()]
    config = AgentConfig(
        profile=AgentProfile(id="a", name="A"),
        policy=rules(tokens=460),
        llm=ScriptedModel(turns=turns, order="call"),
        tools=[Recorder().tool("look")],
    )
    async with kind(config) as agent:
        results = [await agent.run("go", thread="t")]
        while results[-1].stopped_reason == "answered":
            results.append(await agent.run("go on", thread="t"))
        last = results[-1]
        spent = sum(result.usage.total_tokens for result in results)
        assert last.stopped_reason == "token_limit"
        assert 300 <= spent <= 460
        assert kind is SimpleAgent or "so far" in last.final_answer
        again = await agent.run("on", thread="t")
        assert (again.stopped_reason, again.usage.total_tokens) == ("token_limit", 0)
        fresh = await agent.run("another", thread="u")
        assert fresh.usage.total_tokens


def test_a_limit_of_a_run_begins_anew() -> None:
    """The next turn of the thread has its own; the messages that it begins with are whole."""
    turns = [said("look", number=n) for n in range(3)] + ["all done"]
    graph, model = built(turns, policy=rules(run={"calls": 2}), checkpointer=InMemorySaver())
    graph.invoke(ask(), on())
    assert stopped(graph) == "call_limit"
    result = graph.invoke(ask("and?"), on())
    assert (stopped(graph), result["messages"][-1].text) == ("", "all done")
    assert len(model.requests) == 4


def test_the_calls_that_are_left_run_and_the_others_of_the_turn_do_not() -> None:
    """Of three calls in one turn with two left, two run; each has its answer."""
    recorder = Recorder()
    turns = [said("look", "look", "look"), "done"]
    graph, _ = built(turns, recorder, policy=rules(calls=2), checkpointer=InMemorySaver())
    messages = graph.invoke(ask(), on())["messages"]
    assert len(recorder.runs) == 2
    assert not unanswered(messages)
    assert "2 of 2 tool calls of this thread are used" in "\n".join(m.text for m in messages)
    assert stopped(graph) == "call_limit"


def test_the_last_call_may_be_followed_by_an_answer() -> None:
    """A run that needs all its calls and no more has answered, and was stopped by nothing."""
    turns = [said("look"), said("look", number=1), "here it is"]
    graph, _ = built(turns, policy=rules(calls=2), checkpointer=InMemorySaver())
    assert graph.invoke(ask(), on())["messages"][-1].text == "here it is"
    assert stopped(graph) == ""


def test_the_agent_is_told_once_that_a_limit_is_near() -> None:
    """In the system message of one call, not in a word of the user, and in none after it."""
    graph, model = built(busy(), policy=rules(tokens=1_000), checkpointer=InMemorySaver())
    messages = graph.invoke(ask(), on())["messages"]
    told = [
        number
        for number, request in enumerate(model.requests)
        if any(isinstance(m, SystemMessage) and "Near a limit" in m.text for m in request)
    ]
    assert len(told) == 1
    assert len(model.requests) - 4 <= told[0] < len(model.requests)
    assert not any("Near a limit" in m.text for m in messages)
    (line,) = [m.text for m in model.requests[told[0]] if isinstance(m, SystemMessage)]
    assert "of 1000 tokens of this thread are used" in line


PRUNED = """
strategy: pruned
start: act
nodes:
  act: act
  guard: guard
  tool: tool
  compress: {kind: compress, context_limit: 1024, prune_protect: 10, prune_minimum: 0}
  critic: {kind: reflect, mode: critique, max_revisions: 2}
edges: {act.call: guard, act.answer: critic, act.limit: end, guard.allow: tool, guard.block: act,
        tool.done: compress, compress.done: act, critic.revise: act, critic.accept: end}
"""


def test_summaries_and_critics_count(tmp_path: Any) -> None:
    """What `used` says is the sum of all replies, whoever asked for them."""
    path = tmp_path / "pruned.yaml"
    path.write_text(PRUNED, encoding="utf-8")
    turns = [said(text="first"), said(text="ACCEPT")]
    turns += [said("look", number=1), said(text="a summary"), said(text="an answer")]
    turns += [said(text="REVISE: longer"), said(text="a longer answer"), said(text="ACCEPT")]
    graph, model = built(
        turns, strategy=path, policy=rules(tokens=100_000), checkpointer=InMemorySaver()
    )
    graph.invoke(ask("x" * 4_000), on())
    graph.invoke(ask("and now?"), on())
    assert len(model.requests) == 8
    assert graph.get_state(on()).values["used"]["thread"]["tokens"] == 800
    assert graph.get_state(on()).values["used"]["run"]["tokens"] == 600


def test_a_critic_without_room_accepts(tmp_path: Any) -> None:
    """The answer stands when nothing is left to judge it with."""
    path = tmp_path / "pruned.yaml"
    path.write_text(PRUNED, encoding="utf-8")
    graph, model = built(
        [said(text="an answer"), "REVISE: no"], strategy=path, policy=rules(tokens=110)
    )
    assert graph.invoke(ask())["messages"][-1].text == "an answer"
    assert len(model.requests) == 1


def test_model_calls_of_tools_count() -> None:
    """A tool that asks a model of its own spends the thread's tokens, sync or in a thread."""
    inner = ScriptedModel(turns=[said(text="inner")] * 50, order="call")

    def look(what: str = "") -> str:
        """Asks a model."""
        return inner.invoke(what).text

    spending = Spending()
    model = ScriptedModel(turns=busy(), order="call")
    graph = build_graph(
        "react",
        model=model,
        tools=[look],
        policy=rules(tokens=1_000),
        checkpointer=InMemorySaver(),
        max_steps=30,
        spending=spending,
    )
    graph.invoke(ask(), on(), context=RunContext(user="ann"))
    used = graph.get_state(on()).values["used"]["thread"]["tokens"]
    assert (
        used == 100 * (len(model.requests) + len(inner.requests)) == spending.used["ann"]["tokens"]
    )
    assert 900 <= used <= 1_100
    assert stopped(graph) == "token_limit"


async def test_a_graph_in_a_tool_counts_once_for_the_caller() -> None:
    """An agent that another asks as a tool, with the same counter: each call once."""
    spending = Spending()
    inner_model = ScriptedModel(turns=[said(text="inner")] * 9, order="call")
    options = {"policy": rules(caller={"tokens": 100_000}), "spending": spending}
    inner = build_graph("simple", model=inner_model, tools=[], **options)

    async def look(what: str = "") -> str:
        """Asks an agent."""
        found = await inner.ainvoke(ask(what), context=RunContext(user="ann"))
        return str(found["messages"][-1].text)

    model = ScriptedModel(turns=[said("look"), said("look", number=1), said(text="done")])
    graph = build_graph("react", model=model, tools=[look], **options)
    await graph.ainvoke(ask(), context=RunContext(user="ann"))
    assert len(inner_model.requests) == 2
    assert spending.used["ann"]["tokens"] == 500


async def test_runs_of_one_caller_side_by_side_do_not_pass_the_limit() -> None:
    """Reserved before the call: what ten runs use stays below; another caller has his own."""
    spending = Spending()
    graph, _ = built(busy(), policy=rules(caller={"tokens": 2_000, "calls": 7}), spending=spending)
    runs = [graph.ainvoke(ask(), context=RunContext(user="ann")) for _ in range(10)]
    await asyncio.gather(*runs)
    assert spending.used["ann"]["tokens"] <= 2_000
    assert spending.used["ann"]["calls"] <= 7
    assert spending.of("ann") == spending.used["ann"]
    before = dict(spending.used["ann"])
    await graph.ainvoke(ask(), context=RunContext(user="bob"))
    assert spending.used["ann"] == before
    assert spending.used["bob"]["calls"]


def test_seconds_are_those_of_model_calls_and_tools() -> None:
    """By the clock that the graph is given; time between the steps does not count."""
    ticks = itertools.count(0, 2)
    parts = Parts(
        policy=load_policy(rules(seconds=11)),
        model=ScriptedModel(turns=busy()),
        tools={"look": Recorder().tool("look")},
        clock=lambda: float(next(ticks)),
        max_steps=30,
    )
    graph = compile_strategy(load_strategy("react"), parts, checkpointer=InMemorySaver())
    graph.invoke(ask(), on())
    assert stopped(graph) == "time_limit"
    # Each model call and each tool takes one tick of two seconds: six of them pass eleven.
    assert graph.get_state(on()).values["used"]["thread"]["seconds"] == 12


class Silent(ScriptedModel):
    """A model that does not say how many tokens it used."""

    def _reply(self, messages: Any) -> AIMessage:
        return super()._reply(messages).model_copy(update={"usage_metadata": None})


V1 = {"version": 1, "token_budget_per_session": 600}


@pytest.mark.parametrize("policy", [rules(tokens=600), V1])
def test_a_model_that_says_no_numbers_is_estimated(policy: dict[str, Any]) -> None:
    """The estimate is marked as one, and counts."""
    model, recorder = Silent(turns=busy()), Recorder()
    graph = build_graph(
        "react",
        model=model,
        tools=[recorder.tool("look")],
        policy=policy,
        checkpointer=InMemorySaver(),
        max_steps=30,
    )
    messages = graph.invoke(ask(), on())["messages"]
    replies = [m for m in messages if isinstance(m, AIMessage)]
    assert all(m.response_metadata["usage_estimated"] for m in replies)
    assert all(m.usage_metadata and m.usage_metadata["total_tokens"] > 0 for m in replies)
    assert 0 < len(recorder.runs) < 20


def test_a_model_without_a_price_is_refused_when_the_graph_is_built() -> None:
    """Money that cannot be counted cannot be bounded."""
    limits = {"cost_usd": 1, "prices": {"gpt-*": {"input": 1, "output": 2}}}
    with pytest.raises(ValueError, match="does not say what the model 'scripted' costs"):
        built(busy(), policy=rules(**limits))


def test_a_model_that_can_be_cut_writes_no_more_than_is_left() -> None:
    """Near the end it is told how much it may write; before that nothing is said."""
    seen: list[Any] = []

    class Cut(ScriptedModel):
        """A model with a bound on what it writes."""

        max_tokens: int | None = 400

        def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
            seen.append(kwargs.get("max_tokens"))
            return super()._generate(messages, *args, **kwargs)

    model = Cut(turns=busy(), order="call")
    graph = build_graph(
        "react",
        model=model,
        tools=[Recorder().tool("look")],
        policy=rules(tokens=1_000),
        max_steps=30,
    )
    graph.invoke(ask())
    assert seen[0] is None
    cut = [most for most in seen if most is not None]
    assert cut
    assert all(0 < most < 400 for most in cut)
    assert cut == sorted(cut, reverse=True)


def test_a_failed_model_call_gives_back_what_was_reserved() -> None:
    """The caller's counter holds nothing for a call that came to nothing."""
    spending = Spending()
    turns = [RuntimeError("down"), said(text="up")]
    graph, _ = built(turns, policy=rules(caller={"tokens": 5_000}), spending=spending)
    with pytest.raises(RuntimeError, match="down"):
        graph.invoke(ask(), context=RunContext(user="ann", tenant="corp"))
    assert spending.of("corp/ann") == {}
    graph.invoke(ask(), context=RunContext(user="ann", tenant="corp"))
    assert spending.of("corp/ann")["tokens"] == 100


def test_a_thread_carries_what_it_used_into_another_process() -> None:
    """A new graph on the same threads goes on counting."""
    saver = InMemorySaver()
    for _ in range(2):
        graph, model = built(
            busy(), policy=rules(tokens=1_000, run={"calls": 3}), checkpointer=saver
        )
        graph.invoke(ask(), on())
    assert graph.get_state(on()).values["used"]["thread"]["calls"] == 6
    assert len(model.requests) == 4


def test_without_limits_nothing_is_counted() -> None:
    """No budget, no numbers in the state."""
    graph, _ = built([said("look"), "done"], policy={"version": 2, "default": "allow"})
    assert graph.nodes["act"].bound._ruled.current.work.budget is None


class Lying(ScriptedModel):
    """A model whose provider's numbers cannot be true."""

    counts: dict[str, int]

    def _reply(self, messages: Any) -> AIMessage:
        return super()._reply(messages).model_copy(update={"usage_metadata": self.counts})


@pytest.mark.parametrize("policy", [rules(tokens=600), rules(caller={"tokens": 600}), V1])
@pytest.mark.parametrize(
    ("read", "written", "total"),
    [(0, 0, 0), (-900, -900, -1800), (400, 100, 0), (400, 100, -9000), (-9000, 100, -8900)],
)
def test_numbers_that_cannot_be_true_give_nothing_back(
    policy: dict[str, Any], read: int, written: int, total: int
) -> None:
    """Nought and less is estimated, and a total is at least the sum of its parts."""
    counts = {"input_tokens": read, "output_tokens": written, "total_tokens": total}
    recorder, spending = Recorder(), Spending()
    graph = build_graph(
        "react",
        model=Lying(turns=busy(), counts=counts),
        tools=[recorder.tool("look")],
        policy=policy,
        checkpointer=InMemorySaver(),
        max_steps=30,
        spending=spending,
    )
    graph.invoke(ask(), on(), context=RunContext(user="ann"))
    assert 0 < len(recorder.runs) < 20
    assert spending.used["ann"]["tokens"] > 0
    assert graph.get_state(on()).values["run"]["spent"] > 0


def test_a_model_in_a_tool_gives_nothing_back() -> None:
    """What a tool's own model says is held to the same."""
    counts = {"input_tokens": -900, "output_tokens": -900, "total_tokens": -1800}
    inner = Lying(turns=["found it"], counts=counts)

    def look(what: str = "") -> str:
        """Looks."""
        return inner.invoke([("user", "what is there, all of it, in every room?")]).text

    turns = [said("look", number=n) for n in range(3)] + ["done"]
    graph = build_graph(
        "react",
        model=ScriptedModel(turns=turns, order="call"),
        tools=[look],
        policy=rules(tokens=100_000),
        checkpointer=InMemorySaver(),
    )
    graph.invoke(ask(), on())
    assert graph.get_state(on()).values["used"]["thread"]["tokens"] > 300
