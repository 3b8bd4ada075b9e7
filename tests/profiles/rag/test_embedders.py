"""The documents' embedder: by the profile, by the environment, by hand."""

from __future__ import annotations

import sys
import types

import pytest

from edgeward import ConfigError, MissingExtra
from edgeward.profiles.embedding import EndpointEmbedder, local_embedder
from edgeward.profiles.rag.block import RagBlock
from edgeward.profiles.rag.embedders import LlamaIndexEmbedder, as_embedder, embedder_for, window
from tests.wire.embeddings import vectors

from .conftest import Counting

KEY = "sk-proj-TESTTESTTESTTESTTEST"


def block(**settings) -> RagBlock:
    """A `rag` block."""
    return RagBlock.model_validate(settings)


def test_where_nothing_is_said_the_local_one_serves():
    """No key, no network, whatever the chat model has."""
    assert embedder_for(block(), {"OPENAI_API_KEY": KEY, "LLM_API_KEY": KEY}) is local_embedder()
    assert embedder_for(block(embedding_provider="local"), {}) is local_embedder()
    assert window(local_embedder()) == 254
    assert window(Counting()) is None


@pytest.mark.parametrize("field", ["embedding", "embedding_base_url", "embedding_dims"])
@pytest.mark.parametrize("blank", [None, "  "])
def test_d083_each_field_falls_back_to_the_environment(field, blank):
    """The profile's first; a blank one does not hide the environment's."""
    env = {
        "EMBEDDING_MODEL": "env",
        "EMBEDDING_BASE_URL": "http://env.example/v1",
        "EMBEDDING_API_KEY": KEY,
        "EMBEDDING_DIMS": "22",
    }
    mine = {
        "embedding": "mine",
        "embedding_base_url": "http://mine.example/v1",
        "embedding_api_key": KEY,
        "embedding_dims": 11,
    }
    theirs = {"embedding": "env", "embedding_base_url": "http://env.example/v1"}
    if field == "embedding_dims" and blank:
        blank = None

    def seen(settings) -> dict[str, object]:
        found = embedder_for(block(**settings), env)
        assert isinstance(found, EndpointEmbedder)
        url = found._settings.base_url
        return {"embedding": found.name, "embedding_base_url": url, "embedding_dims": found.dims}

    assert seen(mine) == {name: mine[name] for name in seen(mine)}
    fallen = {**theirs, "embedding_dims": 22}[field]
    assert seen({**mine, field: blank}) == {**seen(mine), field: fallen}


def test_d082_openai_needs_its_key_where_it_was_asked_for():
    """By name, and not by a call to somebody else."""
    with pytest.raises(ConfigError, match="EMBEDDING_API_KEY"):
        embedder_for(block(embedding_provider="openai"), {"OPENAI_API_KEY": KEY})


def test_d082_an_endpoint_is_asked_in_openais_language(bundle, wire):
    """Documents are embedded there, in as many requests as needed; a second process asks only for
    its query."""
    wire.script(vectors(16), vectors(16), vectors(16))
    bundle.write("a.md", "apples")
    settings = {
        "embedding": "emb-1",
        "embedding_api_key": KEY,
        "embedding_base_url": wire.openai_url,
        "embedding_dims": 16,
    }
    from edgeward.profiles.rag.rag import LlamaIndexRAG

    first = LlamaIndexRAG(bundle.profile(**settings), env={})
    assert first.search("apples")[0]["score"] == pytest.approx(1.0)
    again = LlamaIndexRAG(bundle.profile(**settings), env={})
    assert again.refresh().unchanged == 1
    assert again.search("apples")[0]["score"] == pytest.approx(1.0)
    assert [seen.body["input"] for seen in wire.requests] == [["apples"]] * 3


@pytest.mark.parametrize(
    "settings",
    [
        {"embedding_provider": "huggingface"},
        {"use_huggingface": True},
        {
            "embedding_provider": "huggingface",
            "embedding": "sentence-transformers/all-MiniLM-L6-v2",
        },
    ],
)
def test_d082_huggingfaces_minilm_comes_with_the_package(settings):
    """It works offline, without torch."""
    assert embedder_for(block(**settings), {}) is local_embedder()


def test_d082_another_model_of_huggingfaces_needs_its_libraries():
    """The message says which, and what works without."""
    wanted = block(embedding_provider="huggingface", embedding="BAAI/bge-large-en-v1.5")
    with pytest.raises(MissingExtra, match="pip install llama-index-embeddings-huggingface"):
        embedder_for(wanted, {})


class Theirs:
    """An embedding as LlamaIndex has it."""

    model_name = "m"

    def __init__(self, **options):
        self.options = options

    def get_text_embedding_batch(self, texts):
        """A vector a text."""
        return [[1.0, 0.0] for _ in texts]


@pytest.mark.parametrize(("download", "options"), [(False, {"local_files_only": True}), (True, {})])
def test_d082_with_them_it_is_used_and_downloads_only_if_told_to(monkeypatch, download, options):
    """`use_huggingface: true` is the leave to fetch weights."""
    stub = types.ModuleType("llama_index.embeddings.huggingface")
    stub.HuggingFaceEmbedding = Theirs
    monkeypatch.setitem(sys.modules, "llama_index.embeddings.huggingface", stub)
    monkeypatch.setattr("edgeward.profiles.rag.embedders._installed", lambda name: True)
    wanted = block(embedding_provider="huggingface", embedding="a/b", use_huggingface=download)
    found = embedder_for(wanted, {})
    assert isinstance(found, LlamaIndexEmbedder)
    assert found._embedding.options == {"model_name": "a/b", **options}
    assert (found.name, found.dims) == ("Theirs/m", 2)


def test_an_embedder_of_ones_own_may_be_of_either_form():
    """Ours as it is; anything else is refused with what it must have."""
    mine = Counting()
    assert as_embedder(mine) is mine
    assert as_embedder(Theirs()).embed(["x"]) == [[1.0, 0.0]]
    with pytest.raises(TypeError, match=r"name, dims and embed\(texts\)"):
        as_embedder(object())
