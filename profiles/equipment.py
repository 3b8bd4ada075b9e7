"""What a profile equips an agent with: its tools, from every source, and what they keep open.

A source is a function that takes the profile and gives an `Equipment`; one file each, next to the
schema of its block. A library that a source needs is loaded when the profile turns the source on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool

from .llm import read_env
from .memory.memory import Mem0Memory, MemoryBackendConfig
from .memory.recall import recall_tool
from .schema import AgentProfile
from .tools.allowed_code import check_code
from .tools.limits import tool_timeouts
from .tools.python import load_python_tool
from .tools.skill_scripts import OVERTIME_S, script_tools
from .tools.skills import load_skill, reading_tool


@dataclass(frozen=True, slots=True)
class Equipment:
    """Tools, each with the words by which messages name its source, and how they are closed."""

    tools: tuple[tuple[BaseTool, str], ...] = ()
    closers: tuple[Callable[[], None], ...] = ()
    """Each is called once, from any thread, the last opened first."""
    timeout_s: Mapping[str, float] = field(default_factory=dict)
    """Seconds that calls of a tool may take, where its source knows."""
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    """What the parts were built with and nobody may see, by name."""
    memory: Any = None
    """What runs are kept in, where there is a memory."""

    def with_closer(self, closer: Callable[[], None]) -> Equipment:
        """With one more thing to close."""
        return replace(self, closers=(*self.closers, closer))

    def close(self) -> None:
        """Close all of it; what fails to close does not keep the rest open."""
        with ExitStack() as stack:
            for closer in self.closers:
                stack.callback(closer)


@dataclass(frozen=True, slots=True)
class Given:
    """What a program gives besides the profile. `env` None: read where a block needs it;
    `use_rag`, `use_memory` None: as the profile says, or on where a part is given.

    What is given ready-made, whoever made it closes.
    """

    model: BaseChatModel | None = None
    env: Mapping[str, str] | None = field(default=None, repr=False)
    rag: Any = None
    use_rag: bool | None = None
    memory: Any = None
    use_memory: bool | None = None
    memory_backend: MemoryBackendConfig | None = None
    allowed_code: Collection[str] | None = None
    """Globs of the code that the profile may have run; None: whatever it names."""


NOTHING_GIVEN = Given()


def equip(profile: AgentProfile, given: Given = NOTHING_GIVEN) -> Equipment:
    """Everything that the profile's blocks ask for.

    What was opened is closed again where a later source fails.

    Raises:
        ConfigError: a source cannot be built. MissingExtra: it needs an extra.
    """
    check_code(profile.tools, given.allowed_code)
    found: list[tuple[BaseTool, str]] = []
    timeouts: dict[str, float] = {}
    secrets: dict[str, str] = {}
    with ExitStack() as opened:
        kept = remembering(profile, given)
        opened.callback(kept.close)
        secrets.update(kept.secrets)
        for source in (_python, _skills, _mcp, _documents):
            part = source(profile, given)
            found.extend(part.tools)
            timeouts.update(part.timeout_s)
            secrets.update(part.secrets)
            opened.callback(part.close)
        closers = (opened.pop_all().close,)
        tools = (*found, *kept.tools)
        return Equipment(tools, closers, timeouts, secrets, kept.memory)


def remembering(profile: AgentProfile, given: Given = NOTHING_GIVEN) -> Equipment:
    """The memory and the tool that looks into it; nothing of either where none is wanted.

    Raises:
        TypeError: what was given as a memory is none.
    """
    use = given.use_memory
    if use is None:
        block = "memory" in profile.model_fields_set and profile.memory.is_retrieve
        use = block or given.memory is not None
    if not use:
        return Equipment()
    own = None
    if given.memory is None:
        own = Mem0Memory(profile, backend=given.memory_backend, env=given.env)
    memory = given.memory if own is None else own
    if not any(callable(getattr(memory, name, None)) for name in ("search_records", "add")):
        kind = type(memory).__name__
        raise TypeError(
            f"memory: a {kind} has neither search_records(query, …) nor add(notes, scope); give a"
            " Mem0Memory, or an object that has"
        )
    tools = ((recall_tool(memory, profile.id), "memory"),) if profile.memory.is_retrieve else ()
    return Equipment(
        tools, (own.close,) if own else (), secrets=own.secrets if own else {}, memory=memory
    )


def _python(profile: AgentProfile, given: Given) -> Equipment:
    entries = profile.tools.python
    return Equipment(
        tuple(
            (load_python_tool(entry, profile.base_dir), f"tools.python: {entry}")
            for entry in entries
        )
    )


def _skills(profile: AgentProfile, given: Given) -> Equipment:
    block = profile.tools
    tools: list[tuple[BaseTool, str]] = []
    timeouts: dict[str, float] = {}
    for entry in block.skills:
        skill = load_skill(entry, profile.base_dir)
        source = f"tools.skills: {entry}"
        tools.append((reading_tool(skill), source))
        if block.allow_skill_execution:
            for tool, file in script_tools(skill, limit_s=block.skill_execution_timeout):
                tools.append((tool, f"{source}/{file}"))
                timeouts[tool.name] = block.skill_execution_timeout + OVERTIME_S
    return Equipment(tuple(tools), timeout_s=timeouts)


def _mcp(profile: AgentProfile, given: Given) -> Equipment:
    if not profile.tools.mcp:
        return Equipment()
    from .tools.mcp.source import mcp_tools

    found = mcp_tools(profile, environ=given.env)
    return Equipment(found.tools, (found.close,), found.timeout_s, found.secrets)


def timeouts_of(
    profile: AgentProfile | None, equipment: Equipment, names: Collection[str]
) -> dict[str, float]:
    """Seconds by tool: what the profile says, or the tool's source.

    Raises:
        ToolRegistrationError: the profile names a tool that is not among `names`.
    """
    stated = profile.tools.timeout_s if profile else {}
    # A server's tool may be held back: its limit waits for it.
    complete = not (profile and profile.tools.mcp)
    return tool_timeouts(stated, equipment.timeout_s, names, complete=complete)


def _documents(profile: AgentProfile, given: Given) -> Equipment:
    block, use = profile.rag, given.use_rag
    if not (block.enabled or given.rag is not None if use is None else use):
        return Equipment()
    from .rag.tools import SEARCH_S, document_tools

    if given.rag is not None:  # its maker closes it
        source = f"rag: {type(given.rag).__name__}"
        tools = document_tools(given.rag, block, given.model)
        return Equipment(tuple((tool, source) for tool in tools))
    from .rag.rag import LlamaIndexRAG

    env = read_env() if given.env is None else given.env
    opened = LlamaIndexRAG(profile, env=env)
    key = block.embedding_api_key.get_secret_value() if block.embedding_api_key else ""
    return Equipment(
        tuple((tool, "rag") for tool in document_tools(opened, block, given.model)),
        (opened.close,),
        {"rag_search": SEARCH_S},
        secrets={"embedding_api_key": key.strip() or env.get("EMBEDDING_API_KEY", "").strip()},
    )
