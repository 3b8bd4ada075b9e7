"""A checked strategy and its parts become a LangGraph graph; the only place that builds one.

Every strategy node is one graph node under the same name, but for compress nodes (`joined.py`);
every outcome is a labelled edge. What the guard approved travels to the tool node as one task a
call, so that calls run side by side and a crash repeats only those that had not finished.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import RunnableBinding
from langchain_core.tools import BaseTool
from langgraph.graph import END as GRAPH_END
from langgraph.graph import START, StateGraph

from ..guards.decide import Policy
from ..guards.langchain.chats import facts_of
from ..guards.langchain.model import held
from ..guards.limits import Spending
from ..guards.receipts.receipt import Place
from ..guards.ticket import TicketKey
from ..guards.vault import Vault
from ..nodes._base import DEFAULT_MAX_STEPS, Here
from ..nodes._sizes import text_tokens
from ..profiles.equipment import Equipment
from .budget import budget_for
from .catalog import ToolCatalog
from .check import TOOL
from .compiled import check_compiled
from .context import RunContext
from .drive import Asked, NodeRunnable, Work
from .joined import in_front, join, target_of
from .locked import LockedGraph
from .remember import Keeper, Remembers
from .rest import rest_tool
from .runner import ToolRunner
from .schema import END, Strategy
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
            not hold the invariants of the strategy.
    """
    if parts.model is None:
        raise ValueError(f"the strategy {strategy.name!r} calls a model, and none was given")
    builder: StateGraph[Any, Any, Any, Any] = StateGraph(
        State, context_schema=RunContext, input_schema=HiddenInput, output_schema=Output
    )
    builder._add_schema(Input)
    catalog = ToolCatalog(parts.tools, index_above=parts.index_above)
    overhead = text_tokens(parts.prompt) + catalog.overhead
    rest = rest_tool(strategy, parts.policy, parts.tools, overhead=overhead)
    # A graph is pickled as what it was made from: the library's own sentinels do not survive it.
    remade = replace(parts, tools=dict(parts.tools), equipment=Equipment())
    if rest is not None:
        parts = replace(parts, tools={**parts.tools, rest.name: rest})
        catalog = ToolCatalog(parts.tools, unshown=rest.name, index_above=parts.index_above)
    given = {
        "overhead": overhead,
        "index": catalog.index,
        "readable": rest is not None,
        "has_store": store is not None,
        "place": Place("graph", parts.agent_id, strategy.digest),
    }
    vault = _vault(parts)
    work = replace(_work(parts, catalog), vault=vault)
    boundary = parts.tickets.boundary if parts.policy.results.boundary else _no_boundary
    joined = in_front(strategy)
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
            work=work if node.kind.name == TOOL else replace(work, runner=None),
            exits=exits,
            boundary=boundary,
            first=first.name if first else None,
        )
        builder.add_node(node.name, runnable, metadata={"kind": node.kind.name})
    builder.add_edge(START, target_of(strategy, joined, strategy.start))
    builder.recipe = partial(compile_strategy, strategy, remade)  # type: ignore[attr-defined]
    builder.close = weakref.finalize(builder, parts.equipment.close)  # type: ignore[attr-defined]
    builder.vault = vault  # type: ignore[attr-defined]
    builder.redactor = parts.policy.redactor  # type: ignore[attr-defined]
    builder.facts = _facts(parts, work)  # type: ignore[attr-defined]
    builder.keeper = Keeper.of(parts.remembers, parts.policy, work)  # type: ignore[attr-defined]
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


def _facts(parts: Parts, work: Work) -> dict[str, Any]:
    """What telemetry is told of the agent."""
    agent = {"gen_ai.agent.id": parts.agent_id, "gen_ai.agent.name": parts.agent_name}
    return {name: value for name, value in {**agent, **work.facts}.items() if value}


def _no_boundary(thread: str) -> str:
    return ""


def _target(name: str) -> str:
    return GRAPH_END if name == END else name


def _here(
    needs: frozenset[str], parts: Parts, catalog: ToolCatalog, more: Mapping[str, Any]
) -> Here:
    """What one node is given: the policy's redaction always, the rest as its kind declares."""
    given: dict[str, Any] = {
        "prompt": parts.prompt,
        "catalog": catalog,
        "tickets": parts.tickets,
        "agent_id": parts.agent_id,
        **more,
    }
    needed = {name: given[name] for name in needs if name in given}
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
    more = _MoreTools(model, catalog)
    runner = ToolRunner(
        parts.tools,
        parts.tickets,
        policy=parts.policy.digest,
        redactor=parts.policy.redactor,
        timeout_s=parts.timeout_s,
    )
    budget = budget_for(
        parts.policy,
        parts.model,
        catalog.shown,
        more=catalog.unshown,
        spending=parts.spending,
        clock=parts.clock,
    )
    detectors = parts.policy.results.detectors
    return Work(
        model,
        more(()),
        more,
        runner,
        budget=budget,
        detectors=detectors,
        redactor=parts.policy.redactor,
        facts=facts_of(model),
    )


class _MoreTools:
    """The model with the tools that it is always shown, and others by name; each set bound once."""

    def __init__(self, model: BaseChatModel, catalog: ToolCatalog) -> None:
        self._model = model
        self._shown = catalog.shown
        self._told = {told["function"]["name"]: told for told in catalog.all_descriptions}
        self._bound: dict[tuple[str, ...], Asked] = {}

    def __call__(self, more: tuple[str, ...]) -> Asked:
        asked = self._bound.get(more)
        if asked is None:
            also = [self._told[name] for name in more if name in self._told]
            if len(self._bound) >= MAX_BOUND:
                self._bound.clear()
            asked = self._bound[more] = _with_tools(self._model, [*self._shown, *also])
        return asked


MAX_BOUND = 128
"""Sets of tools that are kept ready for a model."""


def _with_tools(model: BaseChatModel, descriptions: Sequence[Any]) -> Asked:
    """The model with these tools, and the keyword arguments that make it know them."""
    if not descriptions:
        return model, {}
    bound: Any = model.bind_tools(descriptions)
    if isinstance(bound, RunnableBinding) and not (bound.config or bound.config_factories):
        # What the binding would merge on every call, merged once.
        return bound.bound, bound.kwargs
    return bound, {}
