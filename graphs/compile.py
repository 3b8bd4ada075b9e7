"""A checked strategy and its parts become a LangGraph graph; the only place that builds one.

Every strategy node is one graph node under the same name; every outcome is a labelled edge. What
the guard approved travels to the tool node as one task a call, so that calls run side by side and
a crash repeats only those that had not finished.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable, RunnableBinding
from langchain_core.tools import BaseTool
from langgraph.graph import END as GRAPH_END
from langgraph.graph import START, StateGraph

from ..guards.decide import Policy
from ..guards.langchain.model import held
from ..guards.limits import Spending
from ..guards.ticket import TicketKey
from ..guards.vault import Vault
from ..nodes._base import DEFAULT_MAX_STEPS, Here
from ..profiles.equipment import Equipment
from .budget import budget_for
from .catalog import ToolCatalog
from .check import TOOL
from .compiled import check_compiled
from .context import RunContext
from .drive import NodeRunnable, Work
from .locked import LockedGraph
from .runner import ToolRunner
from .schema import END, Node, Strategy
from .state import HiddenInput, Input, Output, State


@dataclass(frozen=True, slots=True)
class Parts:
    """All that a strategy needs to run. Nodes get from it what their kind declares, no more."""

    policy: Policy
    model: BaseChatModel | None = None
    tools: Mapping[str, BaseTool] = field(default_factory=dict)
    tickets: TicketKey = field(default_factory=TicketKey)
    prompt: str = ""
    agent_id: str = ""
    max_steps: int = DEFAULT_MAX_STEPS
    clock: Callable[[], float] = time.time
    """The time by which approvals end, and by which `seconds` are counted."""
    spending: Spending = field(default_factory=Spending)
    """What callers have used; shared by the graphs that are given the same one."""
    equipment: Equipment = field(default_factory=Equipment)
    """What the graph closes when it is closed; a graph that is unpickled closes nothing."""
    timeout_s: Mapping[str, float] = field(default_factory=dict)
    """Seconds that a call may take, for tools with a limit of their own."""


def compile_strategy(
    strategy: Strategy, parts: Parts, *, checkpointer: Any = None, store: Any = None
) -> LockedGraph:
    """The strategy as a locked LangGraph graph.

    Raises:
        ValueError: a part is missing that a node needs, or (never seen) the compiled graph does
            not hold the invariants of the strategy.
    """
    if parts.model is None:
        raise ValueError(f"the strategy {strategy.name!r} calls a model, and none was given")
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(
        State, context_schema=RunContext, input_schema=HiddenInput, output_schema=Output
    )
    builder._add_schema(Input)
    catalog = ToolCatalog(parts.tools)
    vault = _vault(parts)
    work = replace(_work(parts, catalog), vault=vault)
    boundary = parts.tickets.boundary if parts.policy.results.boundary else _no_boundary
    for node in strategy.nodes.values():
        exits = {o: _target(strategy.edges[node.name, o]) for o in node.spec.outcomes()}
        runnable = NodeRunnable(
            name=node.name,
            kind=node.kind,
            spec=node.spec,
            here=_here(node, parts, catalog, has_store=store is not None),
            work=work if node.kind.name == TOOL else replace(work, runner=None),
            exits=exits,
            boundary=boundary,
        )
        builder.add_node(node.name, runnable, metadata={"kind": node.kind.name})
    builder.add_edge(START, strategy.start)
    # A graph is pickled as what it was made from: the library's own sentinels do not survive it.
    remade = replace(parts, tools=dict(parts.tools), equipment=Equipment())
    builder.recipe = partial(compile_strategy, strategy, remade)  # type: ignore[attr-defined]
    builder.close = weakref.finalize(builder, parts.equipment.close)  # type: ignore[attr-defined]
    builder.vault = vault  # type: ignore[attr-defined]
    builder.redactor = parts.policy.redactor  # type: ignore[attr-defined]
    graph = builder.compile(checkpointer=checkpointer, store=store, name=strategy.name)
    # What callers may give; the rest the graph adds to it itself.
    builder.input_schema = Input
    graph.channels[START].typ = Input  # type: ignore[union-attr]
    for name in strategy.nodes:
        graph.nodes[name].writers.clear()  # see drive.py: our nodes write for themselves
    # The library builds its own class; ours adds refusals and no state, so it can take its place.
    graph.__class__ = LockedGraph
    assert isinstance(graph, LockedGraph)
    graph.stream_mode = "values"  # so that a graph in the middle of a sequence streams its state
    check_compiled(graph)
    return graph


def _no_boundary(thread: str) -> str:
    return ""


def _target(name: str) -> str:
    return GRAPH_END if name == END else name


def _here(node: Node, parts: Parts, catalog: ToolCatalog, *, has_store: bool) -> Here:
    """What one node is given: the policy's redaction always, the rest as its kind declares."""
    given: dict[str, Any] = {
        "prompt": parts.prompt,
        "catalog": catalog,
        "tickets": parts.tickets,
        "has_store": has_store,
        "agent_id": parts.agent_id,
    }
    needed = {name: given[name] for name in node.spec.needs if name in given}
    return Here(policy=parts.policy, max_steps=parts.max_steps, clock=parts.clock, **needed)


def _vault(parts: Parts) -> Vault | None:
    """What hides personal data, where the policy says so."""
    hides = parts.policy.hides
    return Vault(parts.tickets, parts.policy.redactor.personal, hides) if hides else None


def _work(parts: Parts, catalog: ToolCatalog) -> Work:
    """Model and tools behind the two effects a step can ask for."""
    assert parts.model is not None
    # Whoever listens to a run (token streams, callbacks, tracing) hears what is masked.
    model = held(parts.model, parts.policy.redactor)
    with_tools: Runnable[Any, Any] = model
    options: Mapping[str, Any] = {}
    if len(catalog):
        bound: Any = model.bind_tools(catalog.descriptions)
        if isinstance(bound, RunnableBinding) and not (bound.config or bound.config_factories):
            # What the binding would merge on every call, merged once.
            with_tools, options = bound.bound, bound.kwargs
        else:
            with_tools = bound
    runner = ToolRunner(
        parts.tools, parts.tickets, policy=parts.policy.digest, timeout_s=parts.timeout_s
    )
    budget = budget_for(
        parts.policy, parts.model, catalog.descriptions, spending=parts.spending, clock=parts.clock
    )
    detectors = parts.policy.results.detectors
    return Work(model, with_tools, options, runner, budget=budget, detectors=detectors)
