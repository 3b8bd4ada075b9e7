"""A model file in this process: found, checked, loaded at the first question, freed at the end.

llama.cpp's server (the package `xllamacpp`) runs inside the process. It cannot be kept from
listening, so it listens on a socket file in a folder that is this user's alone, with a key made
for the purpose; no port is opened. One question is answered at a time, on a thread of the engine's
own: others wait in line, and nobody's event loop does.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from .failures import LLMProviderError

T = TypeVar("T")

Heard = Callable[[dict[str, Any]], bool]
"""Takes a piece of an answer; says whether to stop."""


class LocalEngine:
    """One model file. `close` frees its memory; a question afterwards is an error."""

    def __init__(
        self, path: str, *, context_tokens: int, threads: int | None, sha256: str | None
    ) -> None:
        self._made_from = (path, context_tokens, threads, sha256)
        self._threads = threads or max(1, (os.cpu_count() or 2) // 2)
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="edgeward-local")
        self._over = threading.Event()
        self._server: Any = None
        self._folder = ""

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, self._made_from

    @property
    def is_loaded(self) -> bool:
        """Whether the model is in memory."""
        return self._server is not None

    def submit(self, work: Callable[[], T]) -> Future[T]:
        """Have `work` done on the engine's thread, after what was asked for before.

        Raises:
            LLMProviderError: the engine is closed.
        """
        try:
            return self._worker.submit(work)
        except RuntimeError:
            raise _failed("the model is closed") from None

    def chat(self, request: dict[str, Any], heard: Heard) -> None:
        """One streamed answer, on the engine's thread; `heard` is given each piece.

        Raises:
            LLMProviderError: the model cannot be loaded, or the request is refused.
        """
        if self._over.is_set():
            raise _failed("the model is closed")
        if self._server is None:
            self._server = self._loaded()
        faults: list[BaseException] = []
        refused: list[dict[str, Any]] = []

        def callback(piece: Any) -> bool:
            # The package swallows what is raised here.
            try:
                pieces = piece if isinstance(piece, list) else [piece]
                for one in pieces:
                    if "error" in one:
                        refused.append(one["error"])
                        return True
                    if self._over.is_set() or heard(one):
                        return True
            except BaseException as error:  # noqa: BLE001 - raised again below
                faults.append(error)
                return True
            return False

        try:
            answer = self._server.handle_chat_completions({**request, "stream": True}, callback)
        except (RuntimeError, ValueError) as error:
            raise _failed(f"the request was refused: {error}", status=400) from error
        if faults:
            raise faults[0]
        if isinstance(answer, dict) and "error" in answer:
            refused.append(answer["error"])
        if refused:
            raise _refused(refused[0])
        if self._over.is_set():
            raise _failed("the model was closed while it answered")

    def close(self) -> None:
        """Stop what is being answered, drop what waits, free the memory. Closing twice is fine."""
        if not self._over.is_set():
            self._over.set()
            self._worker.submit(self._free)
        self._worker.shutdown(wait=True)

    def _free(self) -> None:
        self._server = None  # its destructor stops the threads and gives the memory back
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _loaded(self) -> Any:
        import xllamacpp

        path, context_tokens, _, sha256 = self._made_from
        if sha256 and digest_of(Path(path)) != sha256:
            raise _failed(f"{Path(path).name} is not the file whose sha256 the profile gives")
        params = xllamacpp.CommonParams()
        params.model.path = path
        params.n_ctx = context_tokens
        params.n_parallel = 1
        params.cache_ram_mib = 0
        params.verbosity = 0
        params.ui = params.endpoint_slots = params.endpoint_props = False
        params.cors_origins = "null"
        params.offline = True
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = self._threads
        params.n_threads_http = 1
        params.api_keys = [secrets.token_urlsafe(32)]
        self._folder = tempfile.mkdtemp(prefix="edgeward-")  # only this user may enter it
        params.hostnames = [f"{self._folder}/s.sock"]
        try:
            return xllamacpp.Server(params)
        except (RuntimeError, ValueError) as error:
            shutil.rmtree(self._folder, ignore_errors=True)
            name = Path(path).name
            why = "it is damaged, made for another version of llama.cpp, or memory is short"
            raise _failed(f"{name} cannot be loaded: {why}") from error


def digest_of(file: Path) -> str:
    """The SHA-256 of a file, as hexadecimal digits."""
    with file.open("rb") as read:
        return _digest(read)


def _digest(read: Any) -> str:
    found = hashlib.sha256()
    while block := read.read(1 << 20):
        found.update(block)
    return found.hexdigest()


def _remade(path: str, context_tokens: int, threads: int | None, sha256: str | None) -> LocalEngine:
    return LocalEngine(path, context_tokens=context_tokens, threads=threads, sha256=sha256)


def _refused(error: dict[str, Any]) -> LLMProviderError:
    text = str(error.get("message") or "the request was refused")
    if error.get("type") == "exceed_context_size_error":
        text += "; set llm.local.context_tokens higher"
    code = error.get("code")
    return _failed(text, status=code if isinstance(code, int) else None)


def _failed(text: str, *, status: int | None = None) -> LLMProviderError:
    return LLMProviderError(f"local: {text}", provider="local", status=status)
