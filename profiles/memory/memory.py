"""The memory of an agent: kept by mem0, found by meaning, one scope never seen from another.

    memory = Mem0Memory("profile.yaml")
    memory.add([Note("Emma prefers tea.", "trajectory", role="user", trust="user")], scope)
    memory.search_records("What does Emma drink?", scope=scope)

Every method blocks for a moment and may be called from any thread, never from an event loop.
"""

from __future__ import annotations

import importlib.util
import threading
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from pydantic import SecretStr
from typing_extensions import Self

from ...extras import MissingExtra
from ...guards.redact import Redactor
from ..embedding import Embedder, EmbeddingSettings, build_embedder, resolve_embedding
from ..llm import LLMBlock, build_model, read_env, resolve_llm
from ..schema import AgentProfile
from .block import MemoryBlock
from .records import MAX_CHARS, Note, Record, Scope
from .storage import Storage, acquire, release

THRESHOLD = 0.1
"""The likeness below which a record does not answer a query (mem0's default)."""
URL_VARIABLE = "MEMORY_QDRANT_URL"
KEY_VARIABLE = "MEMORY_QDRANT_API_KEY"

_REDACTOR = Redactor()


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryBackendConfig:
    """The memory's own embedder, store and model, set in Python; None: as the profile says.

    The model is the one that reflects, in place of the agent's: nothing else of a memory asks one.
    """

    embedder_provider: str | None = None
    embedder_model: str | None = None
    embedder_base_url: str | None = None
    embedder_api_key: str | None = field(default=None, repr=False)
    embedder_dims: int | None = None
    llm_provider: str | None = None
    llm_model: str | None = None
    llm_base_url: str | None = None
    llm_api_key: str | None = field(default=None, repr=False)
    qdrant_url: str | None = None
    qdrant_api_key: str | None = field(default=None, repr=False)

    def model(self, env: Mapping[str, str]) -> tuple[BaseChatModel, dict[str, str]] | None:
        """The model that reflects, and what nobody may see of it; None: the agent's own.

        Raises:
            ConfigError: its settings do not make a model.
        """
        if not (self.llm_provider or self.llm_model):
            return None
        key = SecretStr(self.llm_api_key) if self.llm_api_key else None
        block = LLMBlock(
            provider=self.llm_provider,
            model=self.llm_model,
            base_url=self.llm_base_url,
            api_key=key,
        )
        settings = resolve_llm(block, env)
        return build_model(settings), {f"memory_{n}": v for n, v in settings.secrets().items()}


class Mem0Memory:
    """One profile's memory. Agents and graphs can share one; whoever made it closes it."""

    def __init__(
        self,
        profile: AgentProfile | str | Path,
        *,
        embedder: Embedder | None = None,
        backend: MemoryBackendConfig | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        """Find the settings. A folder that is there is taken now; none is made.

        Raises:
            ConfigError: the embedder's settings cannot work. MissingExtra: a package is missing.
            MemoryLocked: another process holds the folder. StoreMismatch: another embedder wrote
                it.
        """
        if importlib.util.find_spec("mem0") is None:
            raise MissingExtra("memory needs mem0: pip install 'edgeward[memory]'")
        profile = AgentProfile.of(profile)
        self.agent = profile.id
        self.block = profile.memory
        self.folder = profile.storage_dir
        settings, self._url, self._key = _settings(self.block, backend, env)
        self._embedding_key = settings.api_key
        self._lock = threading.RLock()
        self._storage: Storage | None = None
        self._release: weakref.finalize[..., Mem0Memory] | None = None
        self.embedder = build_embedder(settings) if embedder is None else embedder
        known = embedder is not None or settings.dims is not None
        if self.folder.exists():
            storage = self._opened()
            try:
                if known and not self._url:
                    storage.open(self.embedder)
            except BaseException:
                self.close()
                raise

    @property
    def secrets(self) -> dict[str, str]:
        """What it was built with and nobody may see, by name."""
        keys = {"memory_embedding_key": self._embedding_key, "qdrant_api_key": self._key}
        return {name: key.get_secret_value() for name, key in keys.items()}

    def add(self, notes: Sequence[Note], scope: Scope, *, block: str | None = None) -> list[str]:
        """Keep texts, secrets masked; the ids of their records. Blank ones are left out.

        `block` names what belongs together, such as the task of a run: with `history_mode:
        overwrite` it takes the place of the last block of that name, and the same again changes
        nothing. `rollback` brings back what was replaced.
        """
        kept = [_fit(note) for note in notes if note.text.strip()]
        if not kept:
            return []
        name = sha256((block or kept[0].text).encode("utf-8", "replace")).hexdigest()
        digest = sha256("".join(note.digest for note in kept).encode()).hexdigest()
        storage = self._opened()
        mem0 = self._mem0(storage)
        if self.block.history_mode == "add":
            ids = list(map(str, mem0.keep(kept, scope)))
            storage.cache.put(scope, name, digest, ids, [])
        else:
            with storage.lock:
                now = storage.cache.current(scope, name)
                if now is not None and now[1] == digest:
                    return now[2]
                ids = list(map(str, mem0.keep(kept, scope)))
                self._delete(mem0, now[2] if now else [], scope)
                storage.cache.put(scope, name, digest, ids, kept)
        fresh = [one for one, note in zip(ids, kept, strict=True) if _counts(note)]
        storage.cache.awaits(scope, fresh)
        return ids

    def search_records(
        self, query: str, *, scope: Scope, top_k: int = 5, memory_type: str = ""
    ) -> list[Record]:
        """The records of one scope that are nearest to the query, at most `search_limit`."""
        few = min(max(top_k, 1), self.block.search_limit)
        if not query.strip() or self._nothing_yet:
            return []
        filters: dict[str, Any] = dict(scope.ids)
        if memory_type:
            filters["memory_type"] = memory_type
        mem0 = self._mem0(self._opened())
        found = mem0.search(query, filters=filters, top_k=few, threshold=THRESHOLD)
        return [Record.of(item) for item in found["results"]]

    def records(self, scope: Scope, *, top_k: int = 100, memory_type: str = "") -> list[Record]:
        """The newest records of one scope, oldest first."""
        if self._nothing_yet:
            return []
        filters = {**scope.ids, **({"memory_type": memory_type} if memory_type else {})}
        found = self._mem0(self._opened()).get_all(filters=filters, top_k=top_k)["results"]
        return sorted(map(Record.of, found), key=lambda r: r.created_at)[-top_k:]

    def forget(self, scope: Scope, ids: Sequence[str] | None = None) -> int:
        """Delete records of one scope, all of them where no ids are given; how many there were."""
        if self._nothing_yet:
            return 0
        mem0 = self._mem0(self._opened())
        if ids is not None:
            return self._delete(mem0, ids, scope)
        deleted = 0
        while found := mem0.get_all(filters=scope.ids, top_k=500)["results"]:
            deleted += self._delete(mem0, [str(item["id"]) for item in found], scope)
        return deleted

    def rollback(self, scope: Scope, *, block: str | None = None) -> bool:
        """Undo the last overwrite of a block (of the one that was written last, if none is named).

        False where nothing was replaced.

        Raises:
            ValueError: `history_mode` is not `overwrite`: nothing is ever replaced.
        """
        if self.block.history_mode != "overwrite":
            raise ValueError("a roll-back needs memory.history_mode: overwrite")
        if self._nothing_yet:
            return False
        storage = self._opened()
        with storage.lock:
            name = sha256(block.encode()).hexdigest() if block else storage.cache.newest(scope)
            now = storage.cache.current(scope, name) if name else None
            former = storage.cache.former(scope, name) if name else None
            if name is None or now is None or former is None:
                return False
            mem0 = self._mem0(storage)
            ids = list(map(str, mem0.keep(former, scope)))
            self._delete(mem0, now[2], scope)
            storage.cache.take_back(scope, name)
            digest = sha256("".join(note.digest for note in former).encode()).hexdigest()
            storage.cache.put(scope, name, digest, ids, former)
        return True

    def unreflected(self, scope: Scope) -> int:
        """How many records came since the last reflection."""
        return self._opened().cache.unreflected(scope) if not self._nothing_yet else 0

    def take_unreflected(self, scope: Scope) -> list[Record]:
        """Those records; from now on they count as reflected on."""
        storage = self._opened()
        mem0 = self._mem0(storage)
        found = (self._get(mem0, one, scope) for one in storage.cache.reflected(scope))
        return [record for record in found if record is not None]

    def give_back(self, scope: Scope, records: Sequence[Record]) -> None:
        """Let records wait for the next reflection after all."""
        self._opened().cache.awaits(scope, [record.id for record in records])

    def close(self) -> None:
        """Let go of the folder. Closing twice is fine; a later use takes it again."""
        with self._lock:
            self._storage = None
            if self._release is not None:
                self._release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        opened = ("_lock", "_storage", "_release")
        return {k: v for k, v in self.__dict__.items() if k not in opened}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.RLock(), _storage=None, _release=None)

    @property
    def _nothing_yet(self) -> bool:
        """Whether nothing was ever kept: then no folder is made to look into."""
        return not self._url and not self.folder.exists()

    def _opened(self) -> Storage:
        with self._lock:
            if self._storage is None:
                self._storage = acquire(self.folder, alone=not self._url)
                self._release = weakref.finalize(self, release, self._storage)
            return self._storage

    def _mem0(self, storage: Storage) -> Any:
        return storage.mem0(self.embedder, url=self._url, key=self._key.get_secret_value())

    def _get(self, mem0: Any, record_id: str, scope: Scope) -> Record | None:
        """A record, if it is this scope's."""
        item = mem0.get(record_id)
        mine = item is not None and all(item.get(k) == v for k, v in scope.ids.items())
        return Record.of(item) if mine else None

    def _delete(self, mem0: Any, ids: Sequence[str], scope: Scope) -> int:
        mine = [one for one in ids if self._get(mem0, one, scope) is not None]
        for one in mine:
            mem0.delete(one)
        return len(mine)


def _settings(
    block: MemoryBlock, backend: MemoryBackendConfig | None, env: Mapping[str, str] | None
) -> tuple[EmbeddingSettings, str, SecretStr]:
    """The embedder's settings, and the Qdrant server's address and key."""
    given, names = backend or MemoryBackendConfig(), read_env() if env is None else env
    key = block.qdrant_api_key.get_secret_value() if block.qdrant_api_key else ""
    url = given.qdrant_url or block.qdrant_url or names.get(URL_VARIABLE, "").strip()
    secret = given.qdrant_api_key or key or names.get(KEY_VARIABLE, "").strip()
    settings = resolve_embedding(
        names,
        provider=given.embedder_provider or block.embedding_provider,
        model=given.embedder_model or block.embedding,
        base_url=given.embedder_base_url or block.embedding_base_url,
        api_key=given.embedder_api_key or block.embedding_api_key,
        dims=given.embedder_dims or block.embedding_dims,
    )
    return settings, url, SecretStr(secret)


def _fit(note: Note) -> Note:
    """The note as it is stored: no secret, not too long, no half character."""
    # Masked before it is cut: half a secret is none that a pattern knows.
    text = _REDACTOR.secrets(note.text)[0][:MAX_CHARS]
    return replace(note, text=text.encode("utf-8", "replace").decode())


def _counts(note: Note) -> bool:
    return note.memory_type != "reflection"
