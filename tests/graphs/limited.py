"""Graphs under `limits`, whose model uses a known number of tokens."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage

from edgeward.graphs.build import build_graph
from edgeward.profiles.scripted import ScriptedModel

from fakes import Recorder, on, turn

PRICES = {"scripted": {"input": 1000, "output": 2000}}
COST = (80 * 1000 + 20 * 2000) / 1e6
"""Of one reply of 100 tokens: 0.12 dollars."""


def said(*names: str, text: str = "", number: int = 0) -> AIMessage:
    """A reply of exactly 100 tokens that calls these tools."""
    calls = [(name, {"what": f"{number}.{at}"}, f"c{number}_{at}") for at, name in enumerate(names)]
    usage = {"input_tokens": 80, "output_tokens": 20, "total_tokens": 100}
    return turn(*calls, text=text).model_copy(update={"usage_metadata": usage})


def busy(text: str = "so far") -> list[AIMessage]:
    """A model that calls one tool after the other."""
    return [said("look", text=f"{text} {n}", number=n) for n in range(40)]


def rules(**limits: Any) -> dict[str, Any]:
    """A policy with these limits."""
    return {"version": 2, "default": "allow", "limits": limits}


def built(
    turns: Any, recorder: Recorder | None = None, strategy: str = "react", **options: Any
) -> tuple[Any, ScriptedModel]:
    """A graph that plays the turns in the order of the requests, and its model."""
    model = ScriptedModel(turns=turns, order="call")
    tools = [(recorder or Recorder()).tool("look")]
    options.setdefault("max_steps", 30)
    return build_graph(strategy, model=model, tools=tools, **options), model


def stopped(graph: Any, **config: Any) -> str:
    """Why the last run of a thread stopped."""
    return str(graph.get_state(on(**config)).values["run"]["stopped"])


def unanswered(messages: Any) -> set[str]:
    """The calls without an answer."""
    asked = {c["id"] for m in messages if isinstance(m, AIMessage) for c in m.tool_calls}
    return asked - {m.tool_call_id for m in messages if m.type == "tool"}


PRUNED = """
strategy: pruned
start: act
nodes:
  act: act
  guard: guard
  tool: tool
  compress: {kind: compress, context_limit: 1024, prune_protect: 10, prune_minimum: 0}
  critic: {kind: reflect, mode: critique, max_revisions: 2}
edges: {act.call: guard, act.answer: critic, act.limit: end, guard.allow: tool, guard.block: act,
        tool.done: compress, compress.done: act, critic.revise: act, critic.accept: end}
"""
