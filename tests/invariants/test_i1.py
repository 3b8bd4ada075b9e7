"""I1: the only edge into a tool node is `<guard>.allow`."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from langgraph.graph import START, MessagesState, StateGraph

from edgeward.graphs.compiled import broken_edges, check_compiled
from edgeward.graphs.schema import load_strategy, shipped_strategies
from edgeward.policies.yaml_file import ConfigError
from tests.fakes import Recorder, agent_graph
from tests.invariants.wiring import strategies, wild_strategies

CHECKS = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
SETTINGS = settings(max_examples=60, deadline=None, suppress_health_check=CHECKS)


@SETTINGS
@given(text=wild_strategies())
def test_any_wiring(text: str, tmp_path: Path) -> None:
    """Of any wiring at all, what is loaded has no other edge into a tool node."""
    path = tmp_path / "s.yaml"
    path.write_text(text)
    try:
        strategy = load_strategy(path)
    except ConfigError:
        return
    for (name, outcome), target in strategy.edges.items():
        if target != "end" and strategy.nodes[target].kind.name == "tool":
            assert (strategy.nodes[name].kind.name, outcome) == ("guard", "allow")


@SETTINGS
@given(text=strategies())
def test_any_compiled_graph(text: str, tmp_path: Path) -> None:
    """What is compiled from a loaded strategy holds it too, also inside another graph."""
    path = tmp_path / "s.yaml"
    path.write_text(text)
    try:
        strategy = load_strategy(path)
    except ConfigError:
        return
    graph = agent_graph(["hello"], tools=[Recorder().tool("pay")], strategy=strategy)
    assert broken_edges(graph) == []
    parent = StateGraph(MessagesState)
    parent.add_node("agent", graph)
    parent.add_edge(START, "agent")
    check_compiled(parent.compile())


@pytest.mark.parametrize("name", shipped_strategies())
def test_shipped(name: str) -> None:
    """The shipped strategies hold it."""
    assert broken_edges(agent_graph(["hello"], strategy=name)) == []
