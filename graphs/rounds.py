"""How many rounds of tool calls a strategy allows in one run, as far as its file says."""

from __future__ import annotations

from ..nodes.act import Spec as Act
from ..nodes.plan import Spec as Plan
from ..nodes.reflect import Spec as Reflect
from .check import TOOL
from .schema import Strategy


def rounds_in_a_run(strategy: Strategy) -> int | None:
    """Rounds of tool calls in one run at most; 0 where the strategy runs no tool.

    None where the file sets no bound, and the run's own `max_steps` holds.
    """
    nodes = strategy.nodes.values()
    if all(node.kind.name != TOOL for node in nodes):
        return 0
    specs = [node.spec for node in nodes]
    if any(isinstance(spec, Reflect) and spec.mode == "critique" for spec in specs):
        return None  # what is revised has its rounds anew
    rounds = 0
    for spec in specs:
        if isinstance(spec, Act) and spec.tools == "all":
            if spec.max_substeps is None:
                return None
            rounds = max(rounds, spec.max_substeps)  # they count the same rounds
    for spec in specs:
        if isinstance(spec, Plan):
            if spec.max_steps is None:
                return None
            rounds *= spec.max_steps * (1 + spec.max_replans)
    return rounds
