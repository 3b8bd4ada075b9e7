"""What an agent is built from."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Any

from ..arguments import require
from ..later import Later

if TYPE_CHECKING:
    from langchain_core import language_models

    from ..guards import limits
    from ..policies import context as numbers
    from ..policies import schema as policies
    from ..profiles import adapter
    from ..profiles import schema as profiles
    from ..profiles.memory import memory as memories
    from ..profiles.tools import registry
    from . import checkpoints
    from . import logger as logs
else:
    language_models, limits = (
        Later("langchain_core.language_models"),
        Later("edgeward.guards.limits"),
    )
    numbers, policies = Later("edgeward.policies.context"), Later("edgeward.policies.schema")
    adapter, profiles = Later("edgeward.profiles.adapter"), Later("edgeward.profiles.schema")
    memories = Later("edgeward.profiles.memory.memory")
    registry = Later("edgeward.profiles.tools.registry")
    checkpoints, logs = Later("edgeward.graphs.checkpoints"), Later("edgeward.graphs.logger")

_FIELDS: tuple[tuple[type | UnionType, str, str], ...] = (
    (
        bool,
        "True or False",
        "use_tools use_logger use_reflection use_compressor reflect_after_run save_outcome"
        " save_trajectory load_env",
    ),
    (bool | None, "True, False, or None: as the profile says", "use_memory use_rag"),
    (int, "a whole number", "max_substeps_per_step"),
    (int | None, "a whole number or None", "max_steps"),
    (str | None, "a text or None", "extra_instructions"),
    (str | Path | None, "a path or None", "storage_path log_dir dotenv_path"),
)
"""What fields may be that nothing has to be loaded for; the others are looked at when the agent is
built."""


@dataclass(frozen=True, kw_only=True)
class AgentConfig:
    """What an agent is built from. Each part may be given ready-made instead of by name.

    `policy` is a shipped name, a path, a mapping, a `Policy`, or a `PolicyFile`, which is followed.
    `llm` is a chat model, an `LLM` or `PROVIDER:NAME`; with a model given, no environment is read
    for it. `rag` is what the agent searches in place of the profile's documents: any object with
    `search(query, top_k)`, sync or async. `memory` is one that was made already and may be shared
    (whoever made it closes it); `memory_backend` its embedder and store, set in Python; `reflector`
    one's own in place of the profile's. `use_memory`, `use_rag`: None follows the profile (or is
    on where one is given). `checkpointer`: `"memory"`, `"sqlite"`, a
    path, a Postgres URL or a LangGraph saver. `use_reflection`, `reflect_after_run`, `save_outcome`
    and `save_trajectory` have a say only where there is a memory to write to; `use_compressor` only
    where the strategy has a compress node, `use_logger` where there is a `logger`: a folder, in
    which `<id>.log` gets a line for each event, or an `AgentLogger` that was made already (whoever
    made it closes it). `compressor`: numbers for the compress nodes in place of the profile's.
    `spending` counts what each caller uses, for `limits`; agents that are given the same one count
    together. `storage_path` is the memory's folder, `log_dir` that of the log where `logger` is not
    set, `max_steps` the bound on a run's tool rounds in place of the profile's. `allowed_code`:
    globs of the Python functions, skills with scripts and commands of
    servers that the profile may have run; None: whatever it names.
    """

    profile: str | Path | profiles.AgentProfile
    policy: policies.PolicySource = None
    llm: str | language_models.BaseChatModel | adapter.LLM | None = None
    tools: Sequence[registry.ToolLike] = ()
    tool_registry: registry.ToolRegistry | None = None
    rag: Any = None
    allowed_code: Collection[str] | None = None
    checkpointer: str | Path | checkpoints.Saver = "memory"
    store: Any = None
    spending: limits.Spending | None = None
    use_tools: bool = True
    use_memory: bool | None = None
    use_rag: bool | None = None
    memory: Any = None
    memory_backend: memories.MemoryBackendConfig | None = None
    reflector: Any = None
    compressor: numbers.ContextNumbers | None = None
    storage_path: str | Path | None = None
    logger: str | Path | logs.AgentLogger | None = None
    log_dir: str | Path | None = None
    use_logger: bool = True
    use_reflection: bool = True
    use_compressor: bool = True
    reflect_after_run: bool = True
    save_outcome: bool = True
    save_trajectory: bool = True
    extra_instructions: str | None = None
    max_substeps_per_step: int = 3
    max_steps: int | None = None
    load_env: bool = True
    dotenv_path: str | Path | None = None

    def __post_init__(self) -> None:
        """Refuse what is of no type that its field may have; what names a part is read later.

        Raises:
            TypeError: naming the field. ValueError: a bound is below 1.
        """
        for kinds, wanted, names in _FIELDS:
            for name in names.split():
                require(name, getattr(self, name), kinds, wanted)
        for name in ("max_substeps_per_step", "max_steps"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"{name} is {value}; it must be 1 or more")
