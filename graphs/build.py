"""`build_graph`: names and files in, a guarded graph out."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from langchain_core.language_models import BaseChatModel

from ..arguments import require
from ..guards.decide import Policy
from ..guards.following import Following, Source
from ..guards.limits import Spending
from ..nodes._base import DEFAULT_MAX_STEPS
from ..policies.schema import PolicySource, policy_source
from ..profiles.adapter import LLM
from ..profiles.equipment import Equipment, Given, equip, timeouts_of
from ..profiles.llm import build_model, read_env, resolve_llm
from ..profiles.prompt import system_prompt
from ..profiles.schema import AgentProfile
from ..profiles.tools.python import as_tool
from ..profiles.tools.registry import ToolLike, ToolRegistry, listed
from .checkpoints import Saver, open_checkpointer, tickets_for
from .compile import Parts, compile_strategy
from .fitted import with_numbers, with_recall
from .locked import LockedGraph
from .remember import Remembers
from .schema import Strategy, load_strategy

MODELS = "a LangChain chat model, an LLM, PROVIDER:NAME, or None: as the profile says"
"""What names a model, in words."""


def build_graph(
    strategy: str | Path | Strategy,
    *,
    profile: str | Path | AgentProfile | None = None,
    policy: PolicySource = None,
    model: str | BaseChatModel | LLM | None = None,
    tools: Sequence[ToolLike] | None = None,
    checkpointer: str | Path | Saver | Literal[True] | None = None,
    store: Any = None,
    max_steps: int | None = None,
    spending: Spending | None = None,
    allowed_code: Collection[str] | None = None,
) -> LockedGraph:
    """A guarded LangGraph graph: a Runnable that takes and gives `{"messages": [...]}`.

    `strategy` is a shipped name (`react`) or a path; `policy` a shipped name, a path, a mapping, a
    `Policy`, or a `PolicyFile`, which is followed, and the shipped `default` where none is given;
    `model` a chat model or
    `PROVIDER:NAME`; `tools` (callables or LangChain tools) come on top of the profile's. The
    profile may be left out where model and tools are given. `max_steps` bounds the tool rounds of
    a run. `checkpointer` is what `open_checkpointer` takes, or True: a node of another graph, in
    whose threads this one's go on. `spending` counts what each caller uses, for `limits`; graphs
    that are given the same one count together. `allowed_code` bounds what code the profile may have
    run (see `AgentConfig`).

    Raises:
        ConfigError: a file or name is wrong, with every problem at once.
        ValueError: there is no model, or a bound is below 1.
    """
    loaded = None if profile is None else AgentProfile.of(profile)
    chat_model, secrets = chat_model_for(loaded, model)
    require("max_steps", max_steps, int | None, "a whole number or None")
    if max_steps is not None and max_steps < 1:
        raise ValueError(f"max_steps is {max_steps}; it must be 1 or more")
    saver: Saver | Literal[True] | None = True
    if checkpointer is not True:
        saver = open_checkpointer(checkpointer)
    steps = loaded.cognitive.max_steps_per_cycle if loaded else DEFAULT_MAX_STEPS
    equipment = (
        equip(loaded, Given(model=chat_model, allowed_code=allowed_code)) if loaded else Equipment()
    )
    equipment = closing_model(equipment, chat_model, given=model)
    with closed_on_failure(equipment):
        registry = registry_for(equipment, tools or ())
        parts = Parts(
            policy=with_secrets(policy_source(policy), {**secrets, **equipment.secrets}),
            model=chat_model,
            tools=registry.tools,
            sources=registry.sources,
            index_above=loaded.tools.index_above if loaded else None,
            timeout_s=timeouts_of(loaded, equipment, registry.tools),
            equipment=equipment,
            remembers=Remembers.by_default(equipment.memory, loaded) if loaded else None,
            tickets=tickets_for(saver),
            prompt=system_prompt(loaded) if loaded else "",
            agent_id=loaded.id if loaded else "",
            agent_name=loaded.name if loaded else "",
            max_steps=max_steps or steps,
            spending=spending if spending is not None else Spending(),
        )
        wanted = with_numbers(load_strategy(strategy), loaded.memory if loaded else None)
        wanted = with_recall(wanted, loaded)
        return compile_strategy(wanted, parts, checkpointer=saver, store=store)


@contextmanager
def closed_on_failure(equipment: Equipment) -> Iterator[None]:
    """Close what was opened if nothing comes of this block."""
    try:
        yield
    except BaseException:
        equipment.close()
        raise


def chat_model_for(
    profile: AgentProfile | None,
    model: str | BaseChatModel | LLM | None,
    *,
    env: Mapping[str, str] | None = None,
) -> tuple[BaseChatModel, dict[str, str]]:
    """The chat model, and the secrets that it was built with (by name, for masking).

    Raises:
        ConfigError: the settings do not make a model. ValueError: there are none. TypeError: what
            is given is nothing that names one.
    """
    if isinstance(model, LLM):
        return model.model, model.secrets
    if isinstance(model, BaseChatModel):
        return model, {}
    if model is not None:
        require("model", model, str, MODELS)
    elif profile is None:
        raise ValueError("no model: give `model=` (a chat model or PROVIDER:NAME) or `profile=`")
    block = (profile or AgentProfile(id="agent", name="agent")).llm
    settings = resolve_llm(
        block,
        read_env() if env is None else env,
        model_override=model,
        base_dir=profile.base_dir if profile else None,
    )
    return build_model(settings), settings.secrets()


def closing_model(
    equipment: Equipment, model: BaseChatModel, *, given: str | BaseChatModel | LLM | None
) -> Equipment:
    """The equipment, which closes the model too where it was made here and can be closed."""
    close = getattr(model, "close", None)
    ours = model is not given and not isinstance(given, LLM) and callable(close)
    return equipment.with_closer(close) if ours and close else equipment


def registry_for(equipment: Equipment, tools: Sequence[ToolLike]) -> ToolRegistry:
    """The profile's tools and those given in Python.

    Raises:
        ConfigError: a tool cannot be loaded, or two have one name. TypeError: it is no list.
    """
    given = [(as_tool(tool), "the `tools` argument") for tool in listed(tools)]
    return ToolRegistry([*equipment.tools, *given])


def registry_with(
    equipment: Equipment, given: ToolRegistry | None, tools: Sequence[ToolLike]
) -> ToolRegistry:
    """A registry that was made already, with the equipment's tools; or the one of `registry_for`.

    Raises:
        ConfigError: as `registry_for`.
    """
    if given is None:
        return registry_for(equipment, tools)
    held = [(tool, given.source(name)) for name, tool in given.tools.items()]
    return ToolRegistry([*held, *equipment.tools]) if equipment.tools else given


def with_secrets(policy: Source, secrets: Mapping[str, str]) -> Source:
    """The policy, masking these strings too wherever they turn up."""
    known = {name: text for name, text in secrets.items() if len(text) >= MIN_SECRET_CHARS}
    return Following(policy, partial(_masking, secrets=known)) if known else policy


def _masking(policy: Policy, _: Policy | None, *, secrets: Mapping[str, str]) -> Policy:
    return replace(policy, redactor=policy.redactor.with_literals(secrets))


MIN_SECRET_CHARS = 8
"""Placeholders such as `EMPTY` are no secrets; masking them would garble ordinary text."""
