"""The profile's `llm.local:` mapping: how a model file is run in this process."""

from __future__ import annotations

from pydantic import Field

from ..policies.yaml_file import Flag
from .blocks import Block, Text


class LocalBlock(Block):
    """How a model file is run in this process; only for `provider: local`."""

    context_tokens: int = Field(default=4096, ge=512)
    """What the model reads and writes at most in one call."""
    threads: int | None = Field(default=None, ge=1)
    """Processor threads; None: one for each two cores. More than are free makes it slower."""
    download: Flag = False
    """Whether an `hf:` model that is not in the local cache may be fetched from the hub."""
    sha256: str | None = Field(default=None, pattern="^[0-9a-f]{64}$")
    """What the model file must be."""
    tool_rounds: int = Field(default=1, ge=0)
    """Rounds of tools for one question; then the model answers: small ones do not know when."""
    examples: dict[Text, list[Text]] = Field(default={})
    """What people say when they mean a tool, by its name; `answer` for no tool. Where given, the
    nearest by meaning picks the tool, and the model writes its arguments only."""
