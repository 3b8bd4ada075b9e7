"""How many rounds of calls a strategy allows in a run, as far as its file says."""

from __future__ import annotations

from pathlib import Path

import pytest

from edgeward.graphs.rounds import rounds_in_a_run
from edgeward.graphs.schema import load_strategy

LOOP = """
edges: {{act.call: guard, act.answer: {after}, act.limit: {after}, guard.allow: tool,
        guard.block: act, tool.done: act{more}}}
"""


def strategy(
    tmp_path: Path, nodes: str, *, after: str = "end", more: str = "", start: str = "act"
) -> Path:
    """A strategy in a file."""
    path = tmp_path / "s.yaml"
    head = f"strategy: s\nstart: {start}\nnodes: {{guard: guard, tool: tool, {nodes}}}"
    path.write_text(head + LOOP.format(after=after, more=more), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "rounds"), [("simple", 0), ("react", None), ("plan_and_execute", None)]
)
def test_of_the_shipped_strategies(name: str, rounds: int | None) -> None:
    """One runs no tool; the others leave it to the run."""
    assert rounds_in_a_run(load_strategy(name)) == rounds


def test_a_bound_of_the_file_counts(tmp_path: Path) -> None:
    """Each step of a plan has its rounds, also one that is planned anew."""
    acting = "act: {kind: act, max_substeps: 3}"
    assert rounds_in_a_run(load_strategy(strategy(tmp_path, acting))) == 3
    planned = f"{acting}, plan: {{kind: plan, max_steps: 2, max_replans: 1}}"
    more = ", plan.step: act, plan.done: end"
    path = strategy(tmp_path, planned, after="plan", more=more, start="plan")
    assert rounds_in_a_run(load_strategy(path)) == 12


def test_what_is_revised_begins_anew(tmp_path: Path) -> None:
    """So the file sets no bound."""
    nodes = "act: {kind: act, max_substeps: 3}, critic: {kind: reflect, mode: critique}"
    more = ", critic.revise: act, critic.accept: end"
    path = strategy(tmp_path, nodes, after="critic", more=more)
    assert rounds_in_a_run(load_strategy(path)) is None
