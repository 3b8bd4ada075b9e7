"""A strategy as a profile and a configuration want it: their numbers in its nodes, and without the
nodes that are switched off."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..nodes import kinds
from ..nodes.compress import Spec as Compress
from ..policies.context import ContextNumbers
from ..profiles.schema import AgentProfile
from .schema import Node, Strategy

if TYPE_CHECKING:
    from .config import AgentConfig

NUMBERS = tuple(ContextNumbers.model_fields)


def with_numbers(strategy: Strategy, numbers: ContextNumbers | None) -> Strategy:
    """The strategy with these numbers in each compress node that has no `context_limit` of its own;
    what else such a node says stays.

    Raises:
        ValueError: the numbers do not go together.
    """
    if numbers is None:
        return strategy
    nodes = dict(strategy.nodes)
    for name, node in nodes.items():
        own = node.spec.model_fields_set
        if isinstance(node.spec, Compress) and "context_limit" not in own:
            given = {n: getattr(numbers, n) for n in NUMBERS if n not in own}
            spec = Compress.model_validate({**node.spec.model_dump(), **given})
            nodes[name] = replace(node, spec=spec)
    return replace(strategy, nodes=nodes)


def with_recall(strategy: Strategy, profile: AgentProfile | None) -> Strategy:
    """The strategy, with a look into the memory in front where the profile wants one each run: a
    node that proposes the call, and a guard and a tool node for it alone."""
    if profile is None or profile.memory.recall != "always":
        return strategy
    known = kinds()
    recall, guard, tool = names = [f"{name}_first" for name in ("recall", "guard", "tool")]
    if any(node.kind.name == "recall" for node in strategy.nodes.values()):
        return strategy  # it looks where its author wants it
    if taken := [name for name in names if name in strategy.nodes]:
        raise ValueError(
            f"strategy {strategy.name!r} has a node {taken[0]!r}, which `memory.recall: always` of"
            " the profile adds; rename it"
        )
    first = {
        name: Node(name, known[kind], known[kind].spec.model_validate({"kind": kind}))
        for name, kind in zip(names, ("recall", "guard", "tool"), strict=True)
    }
    edges = {
        (recall, "call"): guard,
        (recall, "skip"): strategy.start,
        (guard, "allow"): tool,
        (guard, "block"): strategy.start,
        (tool, "done"): strategy.start,
    }
    return replace(
        strategy, start=recall, nodes={**first, **strategy.nodes}, edges={**edges, **strategy.edges}
    )


def as_wanted(strategy: Strategy, profile: AgentProfile, config: AgentConfig) -> Strategy:
    """The strategy as the profile's numbers and the configuration's switches and bounds want it."""
    strategy = with_numbers(strategy, config.compressor or profile.memory)
    strategy = _with_substeps(_without_what_is_off(strategy, config), config)
    return with_recall(strategy, profile)


def _without_what_is_off(strategy: Strategy, config: AgentConfig) -> Strategy:
    """The strategy without the nodes that the config switches off; ways lead past them."""
    if config.use_compressor:
        return strategy
    off = {name for name, node in strategy.nodes.items() if node.kind.name == "compress"}

    def past(name: str) -> str:
        while name in off:
            name = strategy.edges[name, "done"]
        return name

    nodes = {name: node for name, node in strategy.nodes.items() if name not in off}
    edges = {key: past(target) for key, target in strategy.edges.items() if key[0] in nodes}
    return replace(strategy, start=past(strategy.start), nodes=nodes, edges=edges)


def _with_substeps(strategy: Strategy, config: AgentConfig) -> Strategy:
    """The strategy with the config's bound where a node has one for the steps of a plan."""
    limit = {"max_substeps": config.max_substeps_per_step}
    nodes = {
        name: replace(node, spec=node.spec.model_copy(update=limit))
        if getattr(node.spec, "max_substeps", None) is not None
        else node
        for name, node in strategy.nodes.items()
    }
    return replace(strategy, nodes=nodes)
