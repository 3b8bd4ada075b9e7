"""A compress node in front of another: one graph step, one picture, and the same result."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver

from edgeward.graphs.joined import in_front
from edgeward.graphs.schema import load_strategy
from tests.fakes import Recorder, agent_graph, ask, on, turn

Write = Callable[[str], Path]

OWN_STEP = """
strategy: own_step
start: act
nodes:
  act: act
  guard: guard
  tool: tool
  compress: {kind: compress, context_limit: 1024, reserved_buffer: 800, prune_protect: 60,
             prune_minimum: 0}
edges: {act.call: guard, act.answer: end, act.limit: end, guard.allow: tool, guard.block: act,
        tool.done: compress, compress.done: act}
"""
IN_FRONT = OWN_STEP.replace("start: act", "start: compress").replace(
    "guard.block: act", "guard.block: compress"
)


def test_which_nodes_run_together(strategy_file: Write) -> None:
    """Only where every way to a node leads through the compress node."""
    assert in_front(load_strategy("react")) == {"act": "compress"}
    assert in_front(load_strategy("plan_and_solve")) == {
        "plan": "before_plan",
        "act": "compress",
        "answer": "before_answer",
    }
    assert in_front(load_strategy(strategy_file(OWN_STEP))) == {}


def test_the_picture_shows_both() -> None:
    """Every node and edge of the strategy is drawn, with the start."""
    drawn = agent_graph([], strategy="react").get_graph()
    assert set(drawn.nodes) == {"__start__", "compress", "act", "guard", "tool", "__end__"}
    assert [e.target for e in drawn.edges if e.source == "__start__"] == ["compress"]


def replies(turns: list[Any]) -> Callable[[list[Any]], Any]:
    """The turns one by one, and a summary to whoever asks for one."""
    left = iter(turns)
    return lambda asked: "a summary" if "Sum up" in str(asked[-1]) else next(left)


def test_the_result_is_the_same(strategy_file: Write) -> None:
    """In a step of its own or in that of the next node: the same thread, the same requests."""
    threads = []
    calls = [turn(("pay", {"what": f"{n}" * 300}, f"c{n}")) for n in range(5)]
    for text in (OWN_STEP, IN_FRONT):
        graph = agent_graph(
            [replies([*calls, "done"])] * 30,
            tools=[Recorder().tool("pay")],
            strategy=strategy_file(text),
            order="call",
            checkpointer=InMemorySaver(),
        )
        graph.invoke(ask("task"), on())
        values = graph.get_state(on()).values
        threads.append([(m.type, m.text) for m in values["messages"]])
        assert values["run"]["tokens"]["total_tokens"] > 0
    assert threads[0] == threads[1]
    assert ("ai", "Summary of what came before:\na summary") in threads[0]


def test_a_summary_at_the_start_counts_for_the_run(strategy_file: Write) -> None:
    """A run that begins with a summary has its tokens, and what the user wrote in the ledger."""
    graph = agent_graph(
        ["x" * 900, "a summary", "done"],
        strategy=strategy_file(IN_FRONT),
        order="call",
        checkpointer=InMemorySaver(),
    )
    graph.invoke(ask("one " * 60), on())
    before = graph.get_state(on()).values["run"]
    graph.invoke(ask("two@corp.example " * 20), on())
    values = graph.get_state(on()).values
    assert values["run"]["id"] != before["id"]
    assert values["messages"][-1].text == "done"
    assert "two@corp.example" in str(values["ledger"])
    assert (
        values["run"]["spent"]
        > before["spent"] + values["messages"][-1].usage_metadata["total_tokens"]
    )
