"""From what was asked for on the command line to an agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .options import DEFAULT_STRATEGY
from .threads import Wanted

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from ..graphs.agent import BaseAgent
    from ..policies.policy_file import PolicyFile

OBEDIENT = ("scripted", "scripted:obedient")
"""What names the model that needs no key: it works by rules, and obeys whatever it reads."""


def build_agent(wanted: Wanted, *, checkpointer: Any = None) -> BaseAgent:
    """The agent; `checkpointer` instead of the one that `wanted` names.

    Raises:
        ConfigError, ValueError: a file, a name or an option is wrong.
    """
    from ..graphs.agent import create_agent
    from ..graphs.config import AgentConfig

    config = AgentConfig(
        profile=wanted.profile,
        policy=_followed(wanted) if wanted.reload else policy_for(wanted),
        llm=chosen_model(wanted.model),
        checkpointer=checkpointer or wanted.checkpointer,
    )
    return create_agent(config, strategy=wanted.strategy)


def _followed(wanted: Wanted) -> PolicyFile:
    """The policy's file, to be followed.

    Raises:
        ConfigError: it is no policy. ValueError: it is a shipped one, which does not change.
    """
    from ..policies.policy_file import PolicyFile
    from ..policies.schema import shipped_file

    name = policy_for(wanted)
    if shipped_file(name) is not None:
        raise ValueError(f"--reload follows a policy file; {name} is shipped: name a path, -p FILE")
    return PolicyFile(name)


def policy_for(wanted: Wanted) -> str:
    """The policy that was named; else the shipped one of the profile's name; else the default."""
    from ..policies.schema import DEFAULT_POLICY, shipped_policies

    if wanted.policy is not None:
        return wanted.policy
    return wanted.profile if wanted.profile in shipped_policies() else DEFAULT_POLICY


def chosen_model(name: str | None) -> str | BaseChatModel | None:
    """The model to hand to an agent: `scripted:obedient` is made here, a name is passed on.

    Raises:
        ValueError: there is no scripted model of that name.
    """
    if name not in OBEDIENT:
        if name is not None and name.startswith("scripted:"):
            raise ValueError("--model: no such scripted model; allowed: scripted:obedient")
        return name
    from ..profiles.obedient import ObedientModel

    return ObedientModel()


def model_line(agent: BaseAgent, wanted: Wanted) -> str:
    """The model in words: the provider and the name, or what the scripted one does."""
    if wanted.model in OBEDIENT:
        from ..profiles.obedient import ABOUT

        return ABOUT
    from ..profiles.llm import read_env, resolve_llm

    settings = resolve_llm(agent.profile.llm, read_env(), model_override=wanted.model)
    return f"{settings.provider}:{settings.model}"


def shadow_line(wanted: Wanted) -> str:
    """What of the policy is in shadow; empty where nothing is."""
    from ..policies.schema import load_policy

    shadow = load_policy(policy_for(wanted)).shadow
    return f"in shadow, deciding nothing: {shadow.told}" if shadow else ""


def heading(agent: BaseAgent, wanted: Wanted) -> list[tuple[str, str]]:
    """What runs here, as labels and texts: the model first."""
    policy = f"{policy_for(wanted)}{', followed' if wanted.reload else ''}"
    rows = [("model", model_line(agent, wanted)), ("policy", policy)]
    if wanted.strategy != DEFAULT_STRATEGY:
        rows.append(("strategy", str(agent.graph.name)))
    return rows
