"""What counts for `limits` in whole graphs: every model call of run, thread and caller."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver

from edgeward.graphs.build import build_graph
from edgeward.graphs.compile import Parts, compile_strategy
from edgeward.graphs.context import RunContext
from edgeward.graphs.schema import load_strategy
from edgeward.guards.limits import Spending
from edgeward.policies.schema import load_policy
from edgeward.profiles.scripted import ScriptedModel

from .limited import PRUNED, built, busy, rules, said, stopped
from fakes import Recorder, ask, on


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


@pytest.mark.parametrize("scope", ["run", "thread", "caller"])
@pytest.mark.parametrize("at_once", [False, True])
async def test_a_tool_asks_no_model_for_which_there_is_no_room(scope: str, at_once: bool) -> None:
    """Its calls are set aside, too, one by one and side by side; the run ends with what it has."""
    inner = ScriptedModel(turns=[said(text="inner")] * 50, order="call")
    got = []

    async def look(what: str = "") -> str:
        """Asks a model forty times."""
        if at_once:
            found = [inner.ainvoke(what) for _ in range(40)]
            got.extend(await asyncio.gather(*found, return_exceptions=True))
            return "looked"
        for _ in range(40):
            got.append(await inner.ainvoke(what))
        return "looked"

    spending = Spending()
    model = ScriptedModel(turns=busy(), order="call")
    graph = build_graph(
        "react", model=model, tools=[look], policy=rules(**{scope: {"tokens": 1_000}}),
        checkpointer=InMemorySaver(), max_steps=30, spending=spending,
    )  # fmt: skip
    await graph.ainvoke(ask(), on(), context=RunContext(user="ann"))
    used = graph.get_state(on()).values["used"]["thread"]["tokens"]
    assert (
        used == 100 * (len(model.requests) + len(inner.requests)) == spending.used["ann"]["tokens"]
    )
    assert 900 <= used <= 1_000
    assert spending.of("ann") == spending.used["ann"]
    assert stopped(graph) == "token_limit"


def test_a_model_within_a_graph_within_a_tool_counts_once_for_the_caller() -> None:
    """However many graphs that share the counter hear of it."""
    spending, deep = Spending(), ScriptedModel(turns=[said(text="deep")])

    def look(what: str = "") -> str:
        """Asks a model."""
        return deep.invoke(what).text

    options: dict[str, Any] = {"policy": rules(caller={"tokens": 100_000}), "spending": spending}
    model = ScriptedModel(turns=[said("look"), said(text="inner")], order="call")
    inner = build_graph("react", model=model, tools=[look], **options)

    def delegate(what: str = "") -> str:
        """Asks an agent."""
        found = inner.invoke(ask(what), context=RunContext(user="ann"))
        return str(found["messages"][-1].text)

    outer = ScriptedModel(turns=[said("delegate"), said(text="done")], order="call")
    graph = build_graph("react", model=outer, tools=[delegate], **options)
    graph.invoke(ask(), context=RunContext(user="ann"))
    assert len(outer.requests) + len(model.requests) + len(deep.requests) == 5
    assert spending.of("ann")["tokens"] == 500


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


@pytest.mark.parametrize("config", [{}, {"max_concurrency": 1}], ids=["together", "one by one"])
@pytest.mark.parametrize(("most", "asked"), [(4_000, 4), (50_000, 20)])
@pytest.mark.parametrize("scope", ["run", "thread"])
def test_tools_of_one_turn_share_what_is_left(
    scope: str, most: int, asked: int, config: dict[str, Any]
) -> None:
    """Tools side by side do not each use up what is left; below the limit all have room."""
    usage = {"input_tokens": 300, "output_tokens": 700, "total_tokens": 1_000}
    reply = AIMessage("ok", usage_metadata=usage)  # type: ignore[arg-type]
    inner = ScriptedModel(turns=[reply] * 50, order="call")

    def look(what: str = "") -> str:
        """Asks a model twice."""
        return "".join(inner.invoke(what).text for _ in range(2))

    turns = [said(*["look"] * 10), said(text="Done.")]
    graph = build_graph(
        "react",
        model=ScriptedModel(turns=turns, order="call"),
        tools=[look],
        policy=rules(**{scope: {"tokens": most}}),
        checkpointer=InMemorySaver(),
    )
    graph.invoke(ask(), on() | config)
    assert len(inner.requests) == asked
