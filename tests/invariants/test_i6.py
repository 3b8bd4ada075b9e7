"""I6: every outcome is routed, every node reached, every loop bounded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from edgeward.graphs.schema import load_strategy
from edgeward.policies.yaml_file import ConfigError
from edgeward.profiles.scripted import ScriptedModel
from tests.fakes import NotingKey, Recorder, agent_graph, ask, keyed_graph
from tests.invariants.wiring import Endless, replies, strategies

CHECKS = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.filter_too_much]
STEPS = 3
SUPER_STEPS = 400
"""More than any strategy of these tests can need: a plan of two steps, three rounds each."""


@settings(max_examples=80, deadline=None, suppress_health_check=CHECKS)
@given(text=strategies(), turns=st.lists(replies(), min_size=1, max_size=3))
def test_every_run_ends(text: str, turns: list[Any], tmp_path: Path) -> None:
    """Whatever a model says, again and again, a strategy that was loaded comes to its end."""
    path = tmp_path / "s.yaml"
    path.write_text(text)
    try:
        strategy = load_strategy(path)
    except ConfigError:
        assume(False)
    graph = keyed_graph(
        ScriptedModel(turns=Endless(turns), order="call"),
        key=NotingKey(),
        tools=[Recorder().tool("pay")],
        strategy=strategy,
        max_steps=STEPS,
    )
    graph.invoke(ask(), {"recursion_limit": SUPER_STEPS})


@settings(max_examples=60, deadline=None, suppress_health_check=CHECKS)
@given(text=strategies())
def test_every_outcome_is_an_edge(text: str, tmp_path: Path) -> None:
    """A loaded strategy has exactly one edge for each outcome of each node, and no other."""
    path = tmp_path / "s.yaml"
    path.write_text(text)
    try:
        strategy = load_strategy(path)
    except ConfigError:
        assume(False)
    outcomes = {(n, o) for n, node in strategy.nodes.items() for o in node.spec.outcomes()}
    assert set(strategy.edges) == outcomes
    drawn = agent_graph(["x"], strategy=strategy).get_graph()
    assert {n for n in drawn.nodes if not n.startswith("__")} == set(strategy.nodes)
    assert len([e for e in drawn.edges if e.conditional]) == len(outcomes)
