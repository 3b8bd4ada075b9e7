"""The switches of `AgentConfig` that take nodes out of a strategy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from edgeward import AgentConfig, AgentProfile, ScriptedModel, create_agent

STRATEGY = """
strategy: long
start: shrink
nodes:
  shrink: {kind: compress, context_limit: 2048}
  act: {kind: act, tools: none}
edges: {shrink.done: act, act.answer: end}
"""


@pytest.mark.parametrize(
    ("switches", "left"), [({}, {"shrink", "act"}), ({"use_compressor": False}, {"act"})]
)
async def test_switch_takes_its_node_out(
    switches: dict[str, bool], left: set[str], strategy_file: Callable[[str], Path]
) -> None:
    """What is switched off is no node of the graph, and the ways lead past it."""
    config = AgentConfig(
        profile=AgentProfile(id="a", name="A"), llm=ScriptedModel(turns=["Done."]), **switches
    )
    agent = create_agent(config, strategy=strategy_file(STRATEGY))
    drawn = agent.graph.get_graph()
    assert set(drawn.nodes) - {"__start__", "__end__"} == left
    assert (await agent.run("Do it.")).final_answer == "Done."
