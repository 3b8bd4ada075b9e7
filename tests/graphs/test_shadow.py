"""A graph under a policy with rules in shadow: nothing is refused, asked or stopped for them."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import SystemMessage
from langgraph.checkpoint.memory import InMemorySaver

from edgeward.profiles.scripted import ScriptedModel
from tests.fakes import Recorder, agent_graph, ask, on, turn
from tests.graphs.limited import built, busy, rules, stopped

KEY = "ghp_TESTTESTTESTTESTTESTTESTTESTTEST"


def records(graph: Any) -> dict[str, dict[str, Any]]:
    """The verdicts of a thread, by tool."""
    return {record["tool"]: record for record in graph.get_state(on()).values["verdicts"]}


def test_nobody_is_asked_and_nothing_refused() -> None:
    """Each call runs once; its record says what would have been, and by which rule."""
    ran = Recorder()
    calls = [("look", {}, "c1"), ("pay", {"amount": 4}, "c2"), ("send", {}, "c3")]
    policy = {"version": 2, "tools": {"look": "allow", "pay": "ask"}, "mode": "shadow"}
    tools = [ran.tool(name) for name, _, _ in calls]
    graph = agent_graph([turn(*calls), "done"], tools=tools, policy=policy, checkpointer="memory")
    result = graph.invoke(ask(), on())
    assert "__interrupt__" not in result
    assert sorted(ran.names()) == ["look", "pay", "send"]
    found = records(graph)
    assert {name: (r["word"], r["shadow"]["word"]) for name, r in found.items()} == {
        "look": ("allow", "allow"),
        "pay": ("allow", "ask"),
        "send": ("allow", "block"),
    }
    assert [said["rule"] for said in found["send"]["shadow"]["rules"]] == ["default"]


def test_a_secret_in_a_call_is_masked_all_the_same() -> None:
    """The state keeps none, so the call runs with its mask; a blocked one is not blocked for it."""
    ran = Recorder()
    for mode in "shadow", {"secret_patterns": "shadow"}:
        policy = {"version": 2, "tools": {"look": "allow"}, "mode": mode}
        graph = agent_graph(
            [turn(("look", {"what": KEY}, "c1")), "done"],
            tools=[ran.tool("look")],
            policy=policy,
            checkpointer="memory",
        )
        graph.invoke(ask(), on())
        found = records(graph)["look"]
        assert (found["word"], found["shadow"]["word"]) == ("redact", "block")
        assert KEY not in str(graph.get_state(on()).values)
    assert ran.runs == [("look", {"what": "[REDACTED:github_token]", "amount": 0})] * 2


def test_limits_in_shadow_stop_nothing() -> None:
    """The run goes on past them, no model is told of them, and the verdicts say where they are."""
    limits = {"tokens": 350, "run": {"calls": 4}, "caller": {"tokens": 500}, "repeats": 2}
    turns = [*busy()[:8], "done"]
    policy = {**rules(**limits), "mode": {"limits": "shadow"}}
    recorder = Recorder()
    graph, model = built(turns, recorder, policy=policy, checkpointer=InMemorySaver())
    graph.invoke(ask(), {**on(), "recursion_limit": 200})
    assert stopped(graph) == ""
    assert len(recorder.runs) == 8
    assert not _told(model)
    spoke = [
        {said["rule"] for said in record["shadow"]["rules"]}
        for record in graph.get_state(on()).values["verdicts"]
    ]
    assert spoke[2] == set()
    assert spoke[3] == {"limits.thread.tokens"}
    assert spoke[7] == {"limits.thread.tokens", "limits.run.calls", "limits.caller.tokens"}


def _told(model: ScriptedModel) -> list[str]:
    systems = (m for sent in model.requests for m in sent if isinstance(m, SystemMessage))
    return [m.text for m in systems if "Near a limit" in m.text]


def test_calls_of_one_turn_are_held_against_each_other() -> None:
    """By the order of calls that is enforced, and by the one in shadow, each in its own verdict."""
    sequence = [
        {"name": "a", "after": "look", "ask": "pay"},
        {"name": "b", "after": "look", "block": "send"},
    ]
    ran = Recorder()
    calls = [("pay", {}, "c1"), ("send", {}, "c2"), ("look", {}, "c3")]
    graph = agent_graph(
        [turn(*calls), "done"],
        tools=[ran.tool(name) for name, _, _ in calls],
        policy={
            "version": 2,
            "default": "allow",
            "sequence": sequence,
            "mode": {"sequence.a": "shadow"},
        },
        checkpointer="memory",
    )
    graph.invoke(ask(), on())
    found = {name: (r["word"], r["shadow"]["word"]) for name, r in records(graph).items()}
    assert found == {
        "pay": ("allow", "ask"),
        "send": ("block", "block"),
        "look": ("allow", "allow"),
    }
    assert sorted(ran.names()) == ["look", "pay"]
