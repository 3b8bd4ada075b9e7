"""The profile: who the agent is and what it is equipped with, read from one YAML file.

    agent:
      id: bot
      name: Helper

Everything else is optional. Unknown keys, wrong types and contradictions are errors at load, all
of them at once. Relative paths mean the profile's own folder, never the current directory.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import Field, PrivateAttr, field_validator

from ..arguments import refusal, require
from ..policies.yaml_file import (
    ConfigFileMissing,
    ConfigParseError,
    ConfigValidationError,
    Document,
    Problem,
    did_you_mean,
    either,
    from_data,
    read_yaml,
    speak,
    validate,
)
from .blocks import Block, CognitiveBlock, Text
from .images import ImagesBlock
from .llm import LLMBlock
from .memory.block import MemoryBlock
from .prompt import PromptBlock, Template, load_template
from .rag.block import RagBlock
from .tools.block import ToolsBlock

FILE = "profile.yaml"
_BARE = re.compile(r"[A-Za-z][A-Za-z0-9_-]*\Z")
_UNSAFE_ID = re.compile(r"[\x00-\x1f\x7f/\\:]|\A\.|\.\Z")


class AgentProfile(Block):
    """One agent's profile. Build it with `from_yaml`, or `from_mapping` for data in Python."""

    id: Annotated[Text, Field(max_length=128)]
    name: Text
    age: int | None = Field(default=None, ge=0)
    traits: str = ""
    backstory: str = ""
    initial_plan: str = ""
    llm: LLMBlock = LLMBlock()
    images: ImagesBlock = ImagesBlock()
    cognitive: CognitiveBlock = CognitiveBlock()
    memory: MemoryBlock = MemoryBlock()
    rag: RagBlock = RagBlock()
    tools: ToolsBlock = ToolsBlock()
    prompt: PromptBlock = PromptBlock()

    _base_dir: Path = PrivateAttr(default_factory=Path.cwd)
    _source: str = PrivateAttr(default="")
    _template: Template | None = PrivateAttr(default=None)

    @field_validator("id")
    @classmethod
    def _names_files(cls, value: str) -> str:
        # It becomes part of file names and storage paths.
        if _UNSAFE_ID.search(value):
            raise ValueError(
                "is not usable as a file name; leave out / \\ : and control characters,"
                " and dots at either end"
            )
        return value

    @classmethod
    def from_yaml(cls, path: str | Path) -> AgentProfile:
        """The profile in a file, in a folder's `profile.yaml`, or of a shipped bundle's name.

        A bare word that names a shipped bundle always means that bundle; write `./word` for a
        folder of the current directory.

        Raises:
            ConfigFileMissing: there is no such file.
            ConfigParseError: not YAML, or no `agent:` mapping at the top.
            ConfigValidationError: every other fault, all at once, each with its line.
            TypeError: it is no name and no path.
        """
        require("profile", path, str | Path, "a shipped name or a path")
        file = _find(path)
        return cls._load(read_yaml(file), file.resolve().parent)

    @classmethod
    def of(cls, given: str | Path | AgentProfile) -> AgentProfile:
        """A profile as it is; `from_yaml` of a name or a path.

        Raises:
            ConfigError: as `from_yaml`. TypeError: it is none of these.
        """
        if isinstance(given, cls):
            return given
        if not isinstance(given, str | Path):
            raise refusal("profile", given, "a shipped name, a path, or an AgentProfile")
        return cls.from_yaml(given)

    @classmethod
    def from_mapping(
        cls, agent: Mapping[str, object], *, base_dir: str | Path | None = None
    ) -> AgentProfile:
        """The profile whose `agent:` mapping is `agent`; `base_dir` is what paths are relative to.

        Raises:
            ConfigValidationError: every fault, all at once.
        """
        base = Path.cwd() if base_dir is None else Path(base_dir)
        return cls._load(from_data({"agent": agent}, name="<profile>"), base.resolve())

    @classmethod
    def _load(cls, document: Document, base_dir: Path) -> AgentProfile:
        profile = validate(cls, _agent(document), document, at=("agent",))
        profile._base_dir = base_dir
        profile._source = document.name
        profile._template = load_template(profile.prompt, document, base_dir)
        return profile

    @property
    def base_dir(self) -> Path:
        """The profile's folder: what relative paths in it are relative to."""
        return self._base_dir

    @property
    def source(self) -> str:
        """The file that the profile came from, as messages name it; empty for data in Python."""
        return self._source

    @property
    def template(self) -> Template | None:
        """The checked prompt template, read once at load; None where the prompt is auto-built."""
        if self._template is None:  # made by the constructor, not loaded
            document = from_data({}, name="<profile>")
            self._template = load_template(self.prompt, document, self._base_dir)
        return self._template

    def resolve(self, path: str | Path) -> Path:
        """`path` as this profile means it: relative to its folder."""
        return self._base_dir / path

    @property
    def storage_dir(self) -> Path:
        """Where memory is kept: `memory.storage_path`, by default `memory/` in the folder."""
        return self.resolve(self.memory.storage_path or "memory")


def shipped_bundles() -> list[str]:
    """The names of the bundles that come with the package."""
    return sorted(file.parent.name for file in Path(__file__).parent.glob(f"*/{FILE}"))


def _find(path: str | Path) -> Path:
    if isinstance(path, str) and _BARE.match(path):
        shipped = Path(__file__).parent / path / FILE
        if shipped.is_file():
            return shipped
    file = Path(path)
    if file.is_dir():
        return file / FILE
    if isinstance(path, str) and _BARE.match(path) and not file.exists():
        names = shipped_bundles()
        fix = did_you_mean(path, names) or "give the path of a profile.yaml"
        raise ConfigFileMissing(
            Problem(speak(path), "", "is neither a file nor a shipped profile", either(names), fix)
        )
    return file


def _agent(document: Document) -> Mapping[str, object]:
    data = document.data
    agent = data.get("agent") if isinstance(data, Mapping) else None
    if not isinstance(data, Mapping) or "agent" not in data:
        raise ConfigParseError(
            Problem(
                document.where(),
                "",
                "has no `agent:` mapping at the top",
                fix="put the profile's keys under `agent:`",
            )
        )
    if not isinstance(agent, Mapping):
        raise ConfigParseError(
            Problem(
                document.where(("agent",)),
                "agent",
                "is not a mapping",
                "a mapping (`key: value` lines)",
            )
        )
    strangers = [key for key in data if key != "agent"]
    if strangers:
        raise ConfigValidationError(
            *(
                Problem(
                    document.where((key,)),
                    speak(key),
                    "unknown key",
                    "agent",
                    "move it under `agent:`, or remove it",
                    "extra_forbidden",
                )
                for key in strangers
            )
        )
    return agent
