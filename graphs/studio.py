"""The graphs that `langgraph.json` names, for `langgraph dev` and LangGraph Studio.

Each factory gives a guarded graph without a checkpointer: the server brings its own. What they run
with is chosen by the environment:

- `EDGEWARD_PROFILE`: a profile's name or path; by default the shipped assistant;
- `EDGEWARD_POLICY`: a policy's name or path; by default that of the shipped assistant, and the
  shipped `default` for any other profile;
- `EDGEWARD_MODEL`: `PROVIDER:NAME`, or `scripted` for the model that plays the worst case; by
  default what the profile says and, for the shipped assistant, `scripted`: it starts without a key.
"""

from __future__ import annotations

import asyncio
import os
from functools import cache

from langchain_core.language_models import BaseChatModel

from .build import build_graph
from .locked import LockedGraph

PROFILE_VARIABLE = "EDGEWARD_PROFILE"
POLICY_VARIABLE = "EDGEWARD_POLICY"
MODEL_VARIABLE = "EDGEWARD_MODEL"

ASSISTANT = "assistant"
"""The shipped profile, and its policy."""
SCRIPTED = "scripted"
"""The model that needs no key."""


async def simple() -> LockedGraph:
    """The strategy `simple`."""
    return await _built("simple")


async def react() -> LockedGraph:
    """The strategy `react`."""
    return await _built("react")


async def plan_and_solve() -> LockedGraph:
    """The strategy `plan_and_solve`."""
    return await _built("plan_and_solve")


async def plan_and_execute() -> LockedGraph:
    """The strategy `plan_and_execute`."""
    return await _built("plan_and_execute")


async def reflexion() -> LockedGraph:
    """The strategy `reflexion`."""
    return await _built("reflexion")


async def _built(strategy: str) -> LockedGraph:
    chosen = (_set(name) for name in (PROFILE_VARIABLE, POLICY_VARIABLE, MODEL_VARIABLE))
    # Files are read and modules imported on the way: not on the server's event loop.
    return await asyncio.to_thread(_graph, strategy, *chosen)


def _set(variable: str) -> str:
    return os.environ.get(variable, "").strip()


@cache
def _graph(strategy: str, profile: str, policy: str, model: str) -> LockedGraph:
    shipped = profile in ("", ASSISTANT)
    return build_graph(
        strategy,
        profile=profile or ASSISTANT,
        policy=policy or (ASSISTANT if shipped else None),
        model=_model(model or (SCRIPTED if shipped else "")),
    )


def _model(chosen: str) -> str | BaseChatModel | None:
    if chosen != SCRIPTED:
        return chosen or None
    from ..profiles.obedient import ObedientModel

    return ObedientModel()
