"""Every loop of a strategy is left after a bounded number of rounds, whatever a model says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from edgeward.graphs.schema import load_strategy
from edgeward.policies.yaml_file import ConfigError

Write = Callable[[str], Path]

ACT_LOOP = "{act.call: guard, act.limit: end, guard.allow: tool, guard.block: act, tool.done: act, "

ENDLESS = {
    "an answer that is asked for again": (
        "{act: act, guard: guard, tool: tool}",
        ACT_LOOP + "act.answer: act}",
    ),
    "a limit that leads back": (
        "{act: act, guard: guard, tool: tool}",
        ACT_LOOP.replace("act.limit: end", "act.limit: act") + "act.answer: end}",
    ),
    "a guard that finds nothing to decide, again and again": (
        "{act: act, guard: guard, tool: tool}",
        "{act.call: guard, act.answer: end, act.limit: end, guard.allow: tool, "
        "guard.block: guard, tool.done: act}",
    ),
    "a look back that counts nothing": (
        "{act: act, guard: guard, tool: tool, look: reflect}",
        "{act.call: guard, act.answer: end, act.limit: end, guard.allow: tool, "
        "guard.block: look, look.done: guard, tool.done: act}",
    ),
    "a plan that is done and goes on": (
        "{act: plan, work: act, guard: guard, tool: tool}",
        "{act.step: work, act.done: work, work.call: guard, work.answer: act, work.limit: end, "
        "guard.allow: tool, guard.block: work, tool.done: work}",
    ),
    "an answer without tools that is judged by a compress node": (
        "{act: act, guard: guard, tool: tool, say: {kind: act, tools: none}}",
        ACT_LOOP.replace("act.limit: end", "act.limit: say") + "act.answer: end, say.answer: act}",
    ),
}


@pytest.mark.parametrize("case", ENDLESS)
def test_unbounded_loop(case: str, strategy_file: Write) -> None:
    """A loop that a model could keep going for ever is refused at load."""
    nodes, edges = ENDLESS[case]
    text = f"strategy: s\nstart: act\nnodes: {nodes}\nedges: {edges}\n"
    with pytest.raises(ConfigError, match="loop"):
        load_strategy(strategy_file(text))


BOUNDED = {
    "plan, work, plan": (
        "{act: plan, work: act, guard: guard, tool: tool}",
        "{act.step: work, act.done: end, work.call: guard, work.answer: act, work.limit: act, "
        "guard.allow: tool, guard.block: work, tool.done: work}",
    ),
    "act, critic, act": (
        "{act: act, guard: guard, tool: tool, critic: {kind: reflect, mode: critique}}",
        ACT_LOOP + "act.answer: critic, critic.revise: act, critic.accept: end}",
    ),
    "a limit that leads to a last word": (
        "{act: act, guard: guard, tool: tool, say: {kind: act, tools: none}}",
        ACT_LOOP.replace("act.limit: end", "act.limit: say") + "act.answer: end, say.answer: end}",
    ),
}


@pytest.mark.parametrize("case", BOUNDED)
def test_bounded_loop(case: str, strategy_file: Write) -> None:
    """A loop through an outcome that is counted may stay."""
    nodes, edges = BOUNDED[case]
    text = f"strategy: s\nstart: act\nnodes: {nodes}\nedges: {edges}\n"
    assert load_strategy(strategy_file(text)).name == "s"
