"""Which embedder is used, where its settings come from, and what an endpoint may answer."""

from __future__ import annotations

import pickle

import pytest

from edgeward.profiles.embedding import (
    EmbeddingConfigError,
    EmbeddingError,
    EmbeddingSettings,
    EndpointEmbedder,
    build_embedder,
    resolve_embedding,
)
from edgeward.profiles.minilm import LocalEmbedder
from tests.wire.embeddings import vector, vectors
from tests.wire.server import Drop, Fail, Raw

KEY = "sk-proj-TESTTESTTESTTESTTEST"
GIVEN = {
    "provider": "openai",
    "model": "from-profile",
    "base_url": "https://profile.example/v1",
    "api_key": "profile-key",
    "dims": 11,
}
ENV = {
    "EMBEDDING_PROVIDER": "openai",
    "EMBEDDING_MODEL": "from-env",
    "EMBEDDING_BASE_URL": "https://env.example/v1",
    "EMBEDDING_API_KEY": "env-key",
    "EMBEDDING_DIMS": "22",
}


def endpoint(wire, **options):
    """An embedder that speaks with the local server."""
    options = {"model": "emb-1", "dims": 16, **options}
    return build_embedder(resolve_embedding({}, base_url=wire.openai_url, api_key=KEY, **options))


def test_C58_without_settings_the_local_embedder_serves():
    """The chat model's provider and key play no part: nothing goes to another service."""
    env = {"DEEPSEEK_API_KEY": "k", "OPENAI_API_KEY": "k", "LLM_API_KEY": "k"}
    settings = resolve_embedding(env)
    assert settings == EmbeddingSettings(sources=(("provider", "default"),))
    assert isinstance(build_embedder(settings), LocalEmbedder)


@pytest.mark.parametrize("field", GIVEN)
@pytest.mark.parametrize("blank", ["", "  ", "\t\n"])
def test_D033_D083_each_field_is_looked_up_on_its_own(field, blank):
    """The profile first, then EMBEDDING_*; a blank does not hide what stands below."""
    variable = f"EMBEDDING_{field.upper()}"

    def value(settings):
        found = getattr(settings, field)
        return found.get_secret_value() if field == "api_key" else str(found)

    both = resolve_embedding(ENV, **GIVEN)
    assert value(both) == str(GIVEN[field])
    assert dict(both.sources)[field] == "profile"
    blanked = {**GIVEN, field: None if field == "dims" else blank}
    below = resolve_embedding(ENV, **blanked)
    assert (value(below), dict(below.sources)[field]) == (ENV[variable], variable)


def test_what_openai_needs_is_known():
    """A key alone is enough for OpenAI's own endpoint: address, model and size have defaults."""
    settings = resolve_embedding({"EMBEDDING_API_KEY": KEY})
    assert settings.base_url == "https://api.openai.com/v1"
    assert (settings.model, settings.dims) == ("text-embedding-3-small", 1536)
    large = resolve_embedding(
        {"EMBEDDING_API_KEY": KEY, "EMBEDDING_MODEL": "text-embedding-3-large"}
    )
    assert large.dims == 3072


def test_an_endpoint_of_ones_own_may_need_no_key():
    """With an address given, no key is asked for, and a placeholder is sent."""
    settings = resolve_embedding({}, base_url="http://127.0.0.1:8000/v1", model="m")
    assert settings.api_key.get_secret_value() == "EMPTY"


@pytest.mark.parametrize(
    ("env", "told"),
    [
        ({"EMBEDDING_MODEL": "m"}, "EMBEDDING_API_KEY"),
        ({"EMBEDDING_BASE_URL": "http://localhost:1/v1"}, "EMBEDDING_MODEL"),
        ({"EMBEDDING_PROVIDER": "opnai"}, "did you mean openai"),
        ({"EMBEDDING_DIMS": "many"}, "whole number"),
        ({"EMBEDDING_DIMS": "0"}, "whole number"),
        ({"EMBEDDING_DIMS": "1536"}, "is 1536, and the local embedder gives 384"),
        ({"EMBEDDING_BASE_URL": "ftp://x", "EMBEDDING_MODEL": "m"}, "http"),
        ({"EMBEDDING_BASE_URL": "https://me:pw1234@x/v1", "EMBEDDING_MODEL": "m"}, "password"),
        ({"EMBEDDING_API_KEY": f"{KEY}\n x"}, "characters that no key has"),
    ],
)
def test_a_setting_that_cannot_work_is_one_clear_error(env, told):
    """Said before anything is built, with what to do and without the key."""
    with pytest.raises(EmbeddingConfigError) as caught:
        resolve_embedding(env)
    assert told in str(caught.value)
    assert KEY not in str(caught.value)
    assert "pw1234" not in str(caught.value)


def test_local_can_be_asked_for_by_name():
    """`provider: local` beats whatever else the environment says of an endpoint."""
    settings = resolve_embedding({**ENV, "EMBEDDING_DIMS": ""}, provider="local")
    assert (settings.provider, settings.dims) == ("local", 384)


def test_an_endpoint_is_asked_in_its_own_format(wire):
    """Order is by index, floats are asked for, no size is sent, an empty text is not sent."""
    wire.script(vectors(16))
    found = endpoint(wire).embed(["one two", "", "three"])
    assert found == [vector(text, 16) for text in ("one two", "(empty)", "three")]
    (seen,) = wire.requests
    assert seen.path == "/v1/embeddings"
    assert seen.headers["authorization"] == f"Bearer {KEY}"
    assert seen.body == {
        "input": ["one two", "(empty)", "three"],
        "model": "emb-1",
        "encoding_format": "float",
    }


@pytest.mark.parametrize("number", [{}, {"index": None}])
def test_vectors_without_numbers_are_in_the_order_of_the_texts(wire, number):
    """As servers that are not quite OpenAI's send them."""
    wire.script(Raw({"data": [{"embedding": [1.0, n], **number} for n in range(3)]}))
    assert endpoint(wire, dims=2).embed(["a", "b", "c"]) == [[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]


def test_requests_are_bounded(wire):
    """Many texts are several requests, by number and by characters; none is lost."""
    wire.script(*[vectors(16)] * 4)
    embedder = endpoint(wire)
    assert len(embedder.embed([f"t{n}" for n in range(150)])) == 150
    assert [len(seen.body["input"]) for seen in wire.requests] == [64, 64, 22]
    wire.script(*[vectors(16)] * 2)
    assert len(embedder.embed(["x" * 150_000, "y" * 150_000])) == 2
    assert len(wire.requests) == 5
    assert embedder.embed([]) == []
    assert len(wire.requests) == 5


def test_D034_C20_another_size_is_reported_with_both_numbers(wire):
    """A model that gives 8 numbers where 16 were stated: nothing is returned to be written."""
    wire.script(vectors(8))
    with pytest.raises(EmbeddingError, match=r"of 8 numbers, and 16 were expected.*EMBEDDING_DIMS"):
        endpoint(wire).embed(["hello"])


def test_a_size_that_nobody_stated_is_learned_once(wire):
    """One small request, and the size is known."""
    wire.script(vectors(24))
    embedder = endpoint(wire, dims=None)
    assert (embedder.dims, embedder.dims) == (24, 24)
    assert len(wire.requests) == 1


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (Fail(401, f"Incorrect API key provided: {KEY}"), "AuthenticationError"),
        (Raw({"object": "list", "data": []}), "No embedding data received|gave 0 vectors"),
        (Raw("not json", content_type="text/plain"), "without a list of vectors"),
        (Raw({"error": {"message": "overloaded"}}), "without a list of vectors"),
        (Raw({"data": [{"index": 0, "embedding": [0.0] * 16}]}), "none"),
        (Raw('{"data": [{"index": 0, "embedding": [' + "NaN," * 15 + "NaN]}]}"), "none|failed"),
    ],
)
def test_a_failing_endpoint_is_one_error_without_the_key(wire, reply, told):
    """Whatever comes back, what is raised names the endpoint and holds no key, its causes too."""
    wire.script(*[reply] * 3)
    with pytest.raises(EmbeddingError, match=told) as caught:
        endpoint(wire).embed(["hello"])
    assert KEY not in f"{caught.value} {caught.value.__cause__} {caught.value.__context__}"
    assert "127.0.0.1" in str(caught.value)


def test_a_broken_connection_is_tried_again(wire):
    """Two resets cost time, not the answer."""
    wire.script(Drop(), Drop(), vectors(16))
    assert len(endpoint(wire).embed(["hello"])) == 1


def test_the_key_is_not_shown():
    """Neither the settings nor the embedder print it."""
    settings = resolve_embedding({"EMBEDDING_API_KEY": KEY})
    embedder = build_embedder(settings)
    assert isinstance(embedder, EndpointEmbedder)
    assert KEY not in f"{settings!r} {embedder!r} {embedder.__dict__}"
    assert pickle.loads(pickle.dumps(embedder)).name == embedder.name
    assert pickle.loads(pickle.dumps(settings)) == settings
