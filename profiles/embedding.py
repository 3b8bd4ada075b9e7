"""Which embedder turns texts into vectors, for memory and documents alike.

Each setting is looked up on its own: the profile's block, then EMBEDDING_PROVIDER, _MODEL,
_BASE_URL, _API_KEY and _DIMS, then the default; blank counts as unset. Where neither says anything,
the local embedder is used: no key, no network. The chat model's settings play no part. A key is
never part of a message, a repr or a log.
"""

from __future__ import annotations

import importlib.util
import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Protocol, runtime_checkable
from urllib.parse import urlsplit

from pydantic import SecretStr

from ..extras import MissingExtra
from ..policies.problems import ConfigError, Problem, did_you_mean, either
from .failures import cleared
from .minilm import DIMS, NAME, LocalEmbedder

OPENAI_URL = "https://api.openai.com/v1"
OPENAI_MODEL = "text-embedding-3-small"
OPENAI_DIMS: Mapping[str, int] = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}
"""Sizes of vectors that need not be stated."""
TIMEOUT_S = 60.0
MAX_RETRIES = 2
BATCH = 64
MAX_BATCH_CHARS = 200_000
PROVIDERS = ("local", "openai")


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors. Any number of threads may use one at once."""

    @property
    def name(self) -> str:
        """What tells its vectors from those of others: vectors of two names do not mix."""
        ...

    @property
    def dims(self) -> int:
        """How many numbers a vector has."""
        ...

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector a text, in their order. It blocks: call it from a thread, not a loop."""
        ...


class EmbeddingConfigError(ConfigError):
    """The embedder's settings are missing, contradictory or unusable."""


class EmbeddingError(RuntimeError):
    """The embedding endpoint refused, failed or answered nonsense. The text holds no key."""


@dataclass(frozen=True, slots=True)
class EmbeddingSettings:
    """Everything needed to build an embedder. `dims` None: not stated, so learned from the first
    vector. `sources` says where each setting came from."""

    provider: str = "local"
    model: str = NAME
    base_url: str = ""
    api_key: SecretStr = field(default_factory=lambda: SecretStr(""))
    dims: int | None = DIMS
    sources: tuple[tuple[str, str], ...] = ()


def resolve_embedding(
    env: Mapping[str, str],
    *,
    block: str = "memory",
    provider: str | None = None,
    model: str | None = None,
    base_url: str | None = None,
    api_key: SecretStr | str | None = None,
    dims: int | None = None,
) -> EmbeddingSettings:
    """Find every setting of the embedder; the arguments are what the profile's `block` says.

    A provider, model, address or key, wherever it stands, means an endpoint that speaks OpenAI's
    language; `provider: local` means the local embedder whatever else is set.

    Raises:
        EmbeddingConfigError: with every fault at once, and where each could be set.
    """
    key = api_key.get_secret_value() if isinstance(api_key, SecretStr) else api_key
    look = _Lookup(env)
    chosen = look.find("provider", provider)
    found_model = look.find("model", model)
    url = look.find("base_url", base_url)
    found_key = look.find("api_key", key)
    size = look.size(dims)
    problems = list(look.problems)
    if chosen and chosen not in PROVIDERS:
        fix = did_you_mean(chosen, PROVIDERS)
        problems.append(
            Problem(look.sources["provider"], "", "is no embedder", either(PROVIDERS), fix)
        )
    if problems:
        raise EmbeddingConfigError(*problems)
    if chosen == "local" or not (chosen or found_model or url or found_key):
        if size not in (None, DIMS):
            wrong = f"is {size}, and the local embedder gives {DIMS}"
            fix = f"leave it out, or set {either(('EMBEDDING_MODEL', 'EMBEDDING_BASE_URL'))} too"
            raise EmbeddingConfigError(Problem(look.sources["dims"], "", wrong, fix=fix))
        return EmbeddingSettings(sources=(("provider", look.sources.get("provider", "default")),))
    theirs = not url or url.rstrip("/") == OPENAI_URL
    found_model = found_model or (OPENAI_MODEL if theirs else "")
    if not found_model:
        problems.append(_unset(block, "model"))
    if not found_key and theirs:
        problems.append(_unset(block, "api_key"))
    problems += _bad_url(look, url)
    if not all("!" <= letter <= "~" for letter in found_key):
        # The SDK's own complaint about such a header would quote it.
        problems.append(
            Problem(
                look.sources["api_key"],
                "",
                "holds characters that no key has",
                fix="copy the key again, without spaces or line breaks",
            )
        )
    if problems:
        raise EmbeddingConfigError(*problems)
    return EmbeddingSettings(
        provider="openai",
        model=found_model,
        base_url=url or OPENAI_URL,
        api_key=SecretStr(found_key or "EMPTY"),
        dims=size or OPENAI_DIMS.get(found_model),
        sources=tuple(look.sources.items()),
    )


def build_embedder(settings: EmbeddingSettings) -> Embedder:
    """The embedder for these settings. No request is made and no weights are loaded.

    Raises:
        MissingExtra: a package that it needs is not installed.
    """
    return local_embedder() if settings.provider == "local" else EndpointEmbedder(settings)


@cache
def local_embedder() -> LocalEmbedder:
    """The local embedder, one for the whole process."""
    return LocalEmbedder()


class EndpointEmbedder:
    """An endpoint that speaks OpenAI's embeddings."""

    def __init__(self, settings: EmbeddingSettings) -> None:
        """No request is made yet.

        Raises:
            MissingExtra: the extra `openai` is not installed.
        """
        if importlib.util.find_spec("openai") is None:
            text = "an embedding endpoint needs the openai package"
            raise MissingExtra(f"{text}: pip install 'edgeward[openai]'")
        self.name = settings.model
        self._settings = settings
        self._lock = threading.Lock()
        self._dims = settings.dims
        self._client: Any = None

    def __reduce__(self) -> tuple[object, ...]:
        return EndpointEmbedder, (self._settings,)

    def __repr__(self) -> str:
        return f"EndpointEmbedder({self.name!r}, {self._settings.base_url!r})"

    @property
    def dims(self) -> int:
        """What was stated; otherwise what the endpoint gives, asked for once."""
        if self._dims is None:
            self.embed(["size"])
        assert self._dims is not None
        return self._dims

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector a text, in their order, in requests of bounded size.

        Raises:
            EmbeddingError: the endpoint failed, or a vector is not of the size that was stated.
        """
        vectors: list[list[float]] = []
        for batch in _batches(texts):
            vectors += self._asked(batch)
        return vectors

    def _asked(self, texts: list[str]) -> list[list[float]]:
        import openai

        with self._lock:
            self._client = client = self._client or self._connected(openai)
        failure = None
        try:
            # Not base64, the SDK's default: some compatible servers do not know it.
            answer = client.embeddings.create(model=self.name, input=texts, encoding_format="float")
            vectors = _vectors(answer)
        except Exception as error:  # noqa: BLE001 - whatever it is, its text may hold the key
            told = cleared(str(error), self._settings.api_key)
            failure = f"{self._where()} failed: {type(error).__name__}: {told[:500]}"
        if failure is not None:  # not while handling it: what it quotes must not come along
            raise EmbeddingError(failure)
        return self._checked(texts, vectors)

    def _connected(self, openai: Any) -> Any:
        from .connections import client

        return openai.OpenAI(
            api_key=self._settings.api_key.get_secret_value(),
            base_url=self._settings.base_url,
            max_retries=MAX_RETRIES,
            http_client=client(TIMEOUT_S, self._settings.base_url),
        )

    def _checked(self, texts: list[str], vectors: list[list[float]]) -> list[list[float]]:
        if len(vectors) != len(texts):
            raise EmbeddingError(f"{self._where()} gave {len(vectors)} vectors for {len(texts)}")
        for vector in vectors:
            if self._dims is None and vector:
                self._dims = len(vector)
            if len(vector) != self._dims:
                raise EmbeddingError(
                    f"{self._where()} gave a vector of {len(vector)} numbers, and"
                    f" {self._dims} were expected; set EMBEDDING_DIMS (or the profile's key) to"
                    f" {len(vector)}, or name the model that is meant"
                )
            if not all(map(math.isfinite, vector)) or not any(vector):
                raise EmbeddingError(f"{self._where()} gave a vector that is none (NaN or zero)")
        return vectors

    def _where(self) -> str:
        return f"the embedder {self.name} at {urlsplit(self._settings.base_url).netloc}"


def _vectors(answer: Any) -> list[list[float]]:
    """The vectors of an answer in the order of the texts; some servers do not number them.

    Raises:
        ValueError, TypeError: it is no answer with vectors.
    """
    data = getattr(answer, "data", None)
    if not isinstance(data, list):
        raise ValueError("it answers without a list of vectors")
    if all(isinstance(getattr(one, "index", None), int) for one in data):
        data = sorted(data, key=lambda one: one.index)
    return [list(map(float, one.embedding)) for one in data]


def _batches(texts: Sequence[str]) -> list[list[str]]:
    """The texts in requests: bounded in number and characters; no text is empty, for endpoints
    refuse one that is."""
    batches: list[list[str]] = [[]]
    size = 0
    for text in texts:
        clean = text.encode("utf-8", "replace").decode()
        if batches[-1] and (len(batches[-1]) >= BATCH or size + len(clean) > MAX_BATCH_CHARS):
            batches.append([])
            size = 0
        batches[-1].append(clean if clean.strip() else "(empty)")
        size += len(clean)
    return [batch for batch in batches if batch]


class _Lookup:
    """A search through profile and environment, noting what was found where."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self.env = env
        self.sources: dict[str, str] = {}
        self.problems: list[Problem] = []

    def find(self, name: str, profile: str | None) -> str:
        variable = f"EMBEDDING_{name.upper()}"
        for source, value in (("profile", profile), (variable, self.env.get(variable))):
            if found := (value or "").strip():
                self.sources[name] = source
                return found
        return ""

    def size(self, profile: int | None) -> int | None:
        text = self.find("dims", None if profile is None else str(profile))
        if not text:
            return None
        if text.isascii() and text.isdigit() and 1 <= len(text) <= 6 and int(text):
            return int(text)
        self.problems.append(
            Problem(self.sources["dims"], "", "is not a size", "a whole number of 1 or more")
        )
        return None


def _unset(block: str, name: str) -> Problem:
    fix = f"set it in the profile, or EMBEDDING_{name.upper()} in the environment or in .env"
    return Problem("profile", f"{block}: embedding {name}", "is not set", fix=fix)


def _bad_url(look: _Lookup, url: str) -> list[Problem]:
    if not url:
        return []
    where = look.sources["base_url"]
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        good, parts = False, urlsplit("")
    if not good:
        return [Problem(where, "", "is not an http(s) address")]
    if parts.username or parts.password:
        fix = "put the key into EMBEDDING_API_KEY"
        return [Problem(where, "", "holds a user name or password", fix=fix)]
    return []
