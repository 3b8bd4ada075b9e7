"""The embedder of a profile's documents, and others that may be given in its place."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from typing import Any

from ...extras import MissingExtra
from ..embedding import Embedder, build_embedder, local_embedder, resolve_embedding
from ..minilm import MAX_TOKENS, LocalEmbedder
from .block import RagBlock

LOCAL_MODEL = "all-minilm-l6-v2"
"""The one model of Hugging Face's that comes with the package, by the last part of its name."""
_MARKS = 2
"""Tokens that the local embedder puts around a text."""


def embedder_for(block: RagBlock, env: Mapping[str, str]) -> Embedder:
    """The embedder that the block and the environment name. No request is made.

    Each field that the block leaves out comes from `EMBEDDING_*`. Where nobody says anything, it is
    the local one.

    Raises:
        ConfigError: the settings do not make an embedder. MissingExtra: a package is missing.
    """
    if block.embedding_provider == "huggingface" or block.use_huggingface:
        return _hugging_face(block, env)
    stated = "embedding_provider" in block.model_fields_set
    settings = resolve_embedding(
        env,
        block="rag",
        provider=block.embedding_provider if stated else None,
        model=block.embedding,
        base_url=block.embedding_base_url,
        api_key=block.embedding_api_key,
        dims=block.embedding_dims,
    )
    return build_embedder(settings)


def _hugging_face(block: RagBlock, env: Mapping[str, str]) -> Embedder:
    model = (block.embedding or "").strip() or env.get("EMBEDDING_MODEL", "").strip()
    if not model or model.rpartition("/")[2].lower() == LOCAL_MODEL:
        return local_embedder()
    package = "llama_index.embeddings"
    if not _installed(package) or not _installed(f"{package}.huggingface"):
        raise MissingExtra(
            f"rag.embedding {model} needs Hugging Face's libraries:"
            " pip install llama-index-embeddings-huggingface; without them, leave rag.embedding out"
            " for the model that comes with this package"
        )
    from llama_index.embeddings.huggingface import HuggingFaceEmbedding

    only = {} if block.use_huggingface else {"local_files_only": True}
    return LlamaIndexEmbedder(HuggingFaceEmbedding(model_name=model, **only))


def _installed(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


class LlamaIndexEmbedder:
    """Any embedding of LlamaIndex's."""

    def __init__(self, embedding: Any) -> None:
        """`embedding` is a `BaseEmbedding`."""
        self._embedding = embedding
        self.name = f"{type(embedding).__name__}/{embedding.model_name}"
        self._dims = 0

    @property
    def dims(self) -> int:
        """How many numbers a vector has: asked for once."""
        self._dims = self._dims or len(self.embed(["size"])[0])
        return self._dims

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector a text, in their order."""
        vectors: list[list[float]] = self._embedding.get_text_embedding_batch(list(texts))
        return vectors


def as_embedder(given: Any) -> Embedder:
    """An embedder that was given in Python: ours as it is, one of LlamaIndex's in our form.

    Raises:
        TypeError: it is neither.
    """
    if callable(getattr(given, "embed", None)) and hasattr(given, "name"):
        return given  # type: ignore[no-any-return]
    if callable(getattr(given, "get_text_embedding_batch", None)):
        return LlamaIndexEmbedder(given)
    raise TypeError(
        f"a {type(given).__name__} is no embedder; give an object with name, dims and embed(texts),"
        " or an embedding of LlamaIndex's"
    )


def window(embedder: Embedder) -> int | None:
    """How many tokens of a text the embedder takes notice of; None: of as many as it gets."""
    return MAX_TOKENS - _MARKS if isinstance(embedder, LocalEmbedder) else None
