"""The profile's `rag:` mapping.

rag:
  enabled: true
  documents_dir: rag_corpus
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, SecretStr, model_validator

from ...policies.yaml_file import Flag
from ..blocks import Block, Text


class RagBlock(Block):
    """The documents that the agent can search."""

    enabled: Flag = False
    documents_dir: Text | None = "rag_corpus"
    storage_dir: Text | None = "rag_index"
    embedding_provider: Literal["local", "openai", "huggingface"] = "openai"
    """Where neither this nor any other setting of the embedder is there, the local one is used."""
    embedding: str | None = None
    embedding_api_key: SecretStr | None = None
    embedding_base_url: str | None = None
    embedding_dims: int | None = Field(default=None, ge=1)
    chunk_size: int = Field(default=512, ge=1)
    chunk_overlap: int = Field(default=50, ge=0)
    top_k: int = Field(default=5, ge=1)
    score_threshold: float = Field(default=0.0, ge=0.0, le=1.0)
    retrieve_only: Flag = True
    use_huggingface: Flag = False

    @model_validator(mode="before")
    @classmethod
    def _shrink(cls, data: Any) -> Any:
        size = data.get("chunk_size") if isinstance(data, Mapping) else None
        if isinstance(size, int) and not isinstance(size, bool) and size >= 1:
            overlap = data.get("chunk_overlap")
            return {**data, "chunk_overlap": min(50, size // 10) if overlap is None else overlap}
        return data

    @model_validator(mode="after")
    def _fits(self) -> RagBlock:
        if self.chunk_overlap >= self.chunk_size:
            raise ValueError(
                f"chunk_overlap ({self.chunk_overlap}) must be smaller than chunk_size"
                f" ({self.chunk_size})"
            )
        return self
