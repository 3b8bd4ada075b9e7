"""A checked strategy and its parts become a LangGraph graph; the only place that builds one.

Every strategy node is one graph node under the same name, but for compress nodes (`joined.py`);
every outcome is a labelled edge. What the guard approved travels to the tool node as one task a
call, so that calls run side by side and a crash repeats only those that had not finished.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool
from langgraph.graph import END as GRAPH_END
from langgraph.graph import START, StateGraph
from langgraph.store.base import BaseStore

from ..arguments import require
from ..guards.following import Following, Source
from ..guards.limits import Spending
from ..guards.receipts.receipt import Place
from ..guards.ticket import TicketKey
from ..nodes._base import DEFAULT_MAX_STEPS, Here
from ..nodes._sizes import text_tokens
from ..profiles.equipment import Equipment
from .catalog import ToolCatalog
from .check import TOOL
from .compiled import check_compiled
from .context import RunContext
from .drive import NodeRunnable
from .joined import in_front, join, target_of
from .locked import LockedGraph
from .remember import Remembers
from .rest import rest_tool
from .ruled import Ruled
from .runner import ToolRunner
from .schema import END, Strategy
from .state import HiddenInput, Input, Output, State
from .straight import lead_on


@dataclass(frozen=True, slots=True)
class Parts:
    """All that a strategy needs to run. Nodes get from it what their kind declares, no more."""

    policy: Source
    model: BaseChatModel | None = None
    tools: Mapping[str, BaseTool] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    """Where a tool is from, in words."""
    tickets: TicketKey = field(default_factory=TicketKey)
    prompt: str = ""
    agent_id: str = ""
    agent_name: str = ""
    max_steps: int = DEFAULT_MAX_STEPS
    clock: Callable[[], float] = time.time
    """The time by which approvals end, and by which `seconds` are counted."""
    spending: Spending = field(default_factory=Spending)
    """What callers have used; shared by the graphs that are given the same one."""
    equipment: Equipment = field(default_factory=Equipment)
    """What the graph closes when it is closed; a graph that is unpickled closes nothing."""
    timeout_s: Mapping[str, float] = field(default_factory=dict)
    """Seconds that a call may take, for tools with a limit of their own."""
    remembers: Remembers | None = None
    """What is kept of runs, and where."""
    index_above: int | None = None
    """Of more tools than that the model is shown a list; None: it is shown all of them."""


def compile_strategy(
    strategy: Strategy, parts: Parts, *, checkpointer: Any = None, store: Any = None
) -> LockedGraph:
    """The strategy as a locked LangGraph graph.

    Raises:
        ValueError: a part is missing that a node needs, or (never seen) the compiled graph does
            not hold the invariants of the strategy. TypeError: a part is nothing of its kind.
    """
    require("spending", parts.spending, Spending, "a Spending or None")
    require("store", store, BaseStore | None, "a LangGraph store or None")
    if parts.model is None:
        raise ValueError(f"the strategy {strategy.name!r} calls a model, and none was given")
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(
        State, context_schema=RunContext, input_schema=HiddenInput, output_schema=Output
    )
    builder._add_schema(Input)
    told, sources = partial(ToolCatalog, index_above=parts.index_above), parts.sources
    catalog = told(parts.tools, sources=sources)
    overhead = text_tokens(parts.prompt) + catalog.overhead
    policy = parts.policy.current
    rest = rest_tool(strategy, policy, parts.tools, sources=sources, overhead=overhead)
    # A graph is pickled as what it was made from: the library's own sentinels do not survive it.
    remade = replace(parts, tools=dict(parts.tools), sources=dict(sources), equipment=Equipment())
    if rest is not None:
        parts = replace(parts, tools={**parts.tools, rest.name: rest})
        catalog = told(parts.tools, unshown=rest.name)
    given = {
        "overhead": overhead,
        "index": catalog.index,
        "readable": rest is not None,
        "has_store": store is not None,
        "place": Place("graph", parts.agent_id, strategy.digest),
    }
    # Every node reaches these, and only a tool node the tools.
    bare = replace(parts, tools={}, equipment=Equipment())
    ruled = Following(parts.policy, partial(Ruled.of, parts=bare, catalog=catalog))
    runner = ToolRunner(
        parts.tools,
        parts.tickets,
        redactor=lambda: ruled.current.policy.redactor,
        timeout_s=parts.timeout_s,
    )
    joined = in_front(strategy)
    runnables: dict[str, NodeRunnable] = {}
    for node in strategy.nodes.values():
        if node.name in joined.values():
            continue
        first = strategy.nodes[joined[node.name]] if node.name in joined else None
        made = node if first is None else join(first, node)
        exits = {
            o: _target(target_of(strategy, joined, strategy.edges[node.name, o]))
            for o in node.spec.outcomes()
        }
        needs = node.spec.needs | (first.spec.needs if first else frozenset())
        runnable = NodeRunnable(
            name=node.name,
            kind=made.kind,
            spec=made.spec,
            here=_here(needs, parts, catalog, given),
            ruled=ruled,
            runner=runner if node.kind.name == TOOL else None,
            exits=exits,
            first=first.name if first else None,
        )
        runnables[node.name] = runnable
        builder.add_node(node.name, runnable, metadata={"kind": node.kind.name})
    lead_on(runnables)
    builder.add_edge(START, target_of(strategy, joined, strategy.start))
    builder.recipe = partial(compile_strategy, strategy, remade)  # type: ignore[attr-defined]
    builder.close = weakref.finalize(builder, parts.equipment.close)  # type: ignore[attr-defined]
    builder.ruled = ruled  # type: ignore[attr-defined]
    graph = builder.compile(checkpointer=checkpointer, store=store, name=strategy.name)
    # What callers may give; the rest the graph adds to it itself.
    builder.input_schema = Input
    graph.channels[START].typ = Input  # type: ignore[union-attr]
    for name in builder.nodes:
        graph.nodes[name].writers.clear()  # see drive.py: our nodes write for themselves
    # The library builds its own class; ours adds refusals and no state, so it can take its place.
    graph.__class__ = LockedGraph
    assert isinstance(graph, LockedGraph)
    graph.stream_mode = "values"  # so that a graph in the middle of a sequence streams its state
    check_compiled(graph)
    return graph


def _target(name: str) -> str:
    return GRAPH_END if name == END else name


def _here(
    needs: frozenset[str], parts: Parts, catalog: ToolCatalog, more: Mapping[str, Any]
) -> Here:
    """What one node is given: a policy always, the rest as its kind declares."""
    given: dict[str, Any] = {
        "prompt": parts.prompt,
        "catalog": catalog,
        "tickets": parts.tickets,
        "agent_id": parts.agent_id,
        **more,
    }
    needed = {name: given[name] for name in needs if name in given}
    return Here(policy=parts.policy.current, max_steps=parts.max_steps, clock=parts.clock, **needed)
