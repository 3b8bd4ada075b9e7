"""The profile's `memory:` mapping: what is kept between runs, and how much of a run is kept."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr

from ...policies.context import ContextNumbers
from ...policies.yaml_file import Flag
from ..blocks import Block, Text


class MemoryBlock(ContextNumbers, Block):
    """What is kept between runs, and how much of a run is kept before the model."""

    is_retrieve: Flag = True
    recall: Literal["asked", "always"] = "asked"
    """`asked`: when the model calls `memory_recall`. `always`: also before it is asked, once a run,
    with the user's words."""
    history_mode: Literal["add", "overwrite"] = "add"
    search_limit: int = Field(default=10, ge=1)
    ignore_roles: list[Text] = Field(default=["tool", "system"])
    ignore_fields: list[Text] = Field(default=["reasoning_content"])
    storage_path: Text | None = None
    embedding_provider: Text | None = None
    embedding: Text | None = None
    embedding_base_url: Text | None = None
    embedding_api_key: SecretStr | None = None
    embedding_dims: int | None = Field(default=None, ge=1)
    qdrant_url: Text | None = None
    """A Qdrant server, for several processes that share one memory; also MEMORY_QDRANT_URL."""
    qdrant_api_key: SecretStr | None = None
