"""`limits` in whole graphs: at one the run ends with what it has."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import SystemMessage
from langgraph.checkpoint.memory import InMemorySaver

from edgeward.graphs.agent import PlanAndSolveAgent, ReActAgent, SimpleAgent
from edgeward.graphs.build import build_graph
from edgeward.graphs.config import AgentConfig
from edgeward.profiles.schema import AgentProfile
from edgeward.profiles.scripted import ScriptedModel

from .limited import COST, PRICES, PRUNED, built, busy, rules, said, stopped, unanswered
from fakes import Recorder, ask, on


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


def test_a_critic_without_room_accepts(tmp_path: Any) -> None:
    """The answer stands when nothing is left to judge it with."""
    path = tmp_path / "pruned.yaml"
    path.write_text(PRUNED, encoding="utf-8")
    graph, model = built(
        [said(text="an answer"), "REVISE: no"], strategy=path, policy=rules(tokens=110)
    )
    assert graph.invoke(ask())["messages"][-1].text == "an answer"
    assert len(model.requests) == 1


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
