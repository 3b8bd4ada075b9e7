"""Puts an agent together: what its config names becomes the parts of a graph."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from langchain_core.language_models import BaseChatModel

from ..arguments import require
from ..guards.limits import Spending
from ..policies.context import ContextNumbers
from ..policies.schema import policy_source
from ..profiles.adapter import LLM
from ..profiles.equipment import Given, equip, remembering, timeouts_of
from ..profiles.llm import read_env
from ..profiles.memory.memory import MemoryBackendConfig
from ..profiles.prompt import system_prompt
from ..profiles.schema import AgentProfile
from ..profiles.tools.registry import ToolRegistry
from .build import (
    MODELS,
    chat_model_for,
    closed_on_failure,
    closing_model,
    registry_with,
    with_secrets,
)
from .checkpoints import Saver, tickets_for
from .compile import Parts, compile_strategy
from .config import AgentConfig
from .fitted import as_wanted
from .locked import LockedGraph
from .logger import AgentLogger
from .remember import own_model, remembers
from .schema import Strategy, load_strategy

_PARTS = (
    ("llm", str | BaseChatModel | LLM | None, MODELS),
    ("tool_registry", ToolRegistry | None, "a ToolRegistry or None"),
    ("memory_backend", MemoryBackendConfig | None, "a MemoryBackendConfig or None"),
    ("compressor", ContextNumbers | None, "a ContextCompressor or None"),
)


def assembled(
    config: AgentConfig, profile: AgentProfile, saver: Saver | None, source: str | Path | Strategy
) -> LockedGraph:
    """The graph of an agent.

    Raises:
        ConfigError: with every problem of a file at once.
        ValueError: the profile asks for what is not there.
        TypeError: a part is nothing of its kind.
    """
    for name, kinds, wanted in _PARTS:
        require(name, getattr(config, name), kinds, wanted)
    env = read_env(load_env=config.load_env, dotenv_path=config.dotenv_path)
    model, secrets = chat_model_for(profile, config.llm, env=env)
    given, registry = given_by(config, model, env), config.tool_registry
    if registry is None and config.use_tools:
        equipment = equip(profile, given)
    else:
        equipment = remembering(profile, given)
    equipment = closing_model(equipment, model, given=config.llm)
    with closed_on_failure(equipment):
        reflects, more = own_model(config, env)
        known = {**secrets, **equipment.secrets, **more}
        registry = registry_with(equipment, registry, config.tools)
        tools = registry.tools if config.use_tools else {}
        strategy = as_wanted(load_strategy(source), profile, config)
        parts = Parts(
            policy=with_secrets(policy_source(config.policy), known),
            model=model,
            tools=tools,
            sources=registry.sources,
            equipment=equipment,
            index_above=profile.tools.index_above,
            timeout_s=timeouts_of(profile, equipment, tools) if tools else {},
            remembers=remembers(equipment.memory, profile, config, model=reflects),
            tickets=tickets_for(saver),
            prompt=system_prompt(profile, extra=config.extra_instructions),
            agent_id=profile.id,
            agent_name=profile.name,
            max_steps=config.max_steps or profile.cognitive.max_steps_per_cycle,
            spending=config.spending if config.spending is not None else Spending(),
        )
        return compile_strategy(strategy, parts, checkpointer=saver, store=config.store)


def logger_of(config: AgentConfig, profile: AgentProfile) -> AgentLogger | None:
    """The log of the agent's runs; None where there is to be none."""
    given = (config.logger or config.log_dir) if config.use_logger else None
    if given is None or isinstance(given, AgentLogger):
        return given
    require("logger", given, str | Path, "a folder, an AgentLogger, or None")
    return AgentLogger(Path(given) / f"{profile.id}.log")


def profile_of(config: AgentConfig) -> AgentProfile:
    """The profile that the config names or holds.

    Raises:
        ConfigError: it is wrong, with every problem at once.
    """
    profile = AgentProfile.of(config.profile)
    if config.storage_path is None:
        return profile
    folder = str(Path(config.storage_path).absolute())
    return profile.model_copy(
        update={"memory": profile.memory.model_copy(update={"storage_path": folder})}
    )


def given_by(config: AgentConfig, model: BaseChatModel, env: Mapping[str, str]) -> Given:
    """What the config gives the agent's blocks besides the profile."""
    return Given(
        model=model,
        env=env,
        rag=config.rag,
        use_rag=config.use_rag,
        memory=config.memory,
        use_memory=config.use_memory,
        memory_backend=config.memory_backend,
        allowed_code=config.allowed_code,
    )
