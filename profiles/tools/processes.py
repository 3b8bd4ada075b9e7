"""Runs a program and leaves nothing of it behind: for the scripts of skills.

No shell, a folder, an environment of a few names, a process group of its own; bounded in time and
in what it writes. When it ends, is ended or nobody waits for it any more, everything that it
started is killed: its group, and on Linux what left the group, known by a mark in its environment.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import secrets
import selectors
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

KEPT_HEAD, KEPT_TAIL = 64_000, 16_000
"""Bytes of each stream that are kept: its beginning and its end."""

MAX_WRITTEN = 20_000_000
"""Bytes of both streams after which the program is ended."""

MARK = "EDGEWARD_SCRIPT"
_INHERITED = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TEMP", "TMP")
_POLL_S = 0.05
_LAST_WORDS_S = 1.0
_MOST_LATE = 32
"""Readings after that: what two pipes can hold, at a MiB each."""
_ROUNDS = 5

HAS_GROUPS = hasattr(os, "killpg")
"""Whether this system can end a program with all that it started."""

End = Literal["ended", "time", "output", "stopped"]


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended, and what it wrote. `code` is None where it was ended."""

    why: End
    code: int | None
    stdout: str
    stderr: str


def small_environment(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """What a program needs to find its way: paths, home, language, time. No key is among it."""
    given = os.environ if environment is None else environment
    names = [name for name in given if name in _INHERITED or name.startswith("LC_")]
    return {name: given[name] for name in names}


async def run_program(
    command: Sequence[str], *, folder: Path, stdin: str = "", limit_s: float
) -> Ended:
    """Run a program to its end; it is killed when the task that waits for it is cancelled.

    Raises:
        OSError: it cannot be started. ValueError: an argument holds a NUL character.
    """
    program = _Program(command, folder=folder, stdin=stdin, limit_s=limit_s)
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Ended] = loop.create_future()

    def settle(ended: Ended | None, error: Exception | None) -> None:
        if future.done():
            return
        if ended is not None:
            future.set_result(ended)
        elif error is not None:
            future.set_exception(error)

    def work() -> None:
        outcome: tuple[Ended | None, Exception | None]
        try:
            outcome = program.run(), None
        except Exception as error:  # noqa: BLE001 - handed to the awaiting task
            outcome = None, error
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, *outcome)

    # A daemon of its own: an executor's threads would keep the program that we are from ending.
    threading.Thread(target=work, name="edgeward script", daemon=True).start()
    try:
        return await future
    finally:
        program.stop()


class _Program:
    """One run of a program, watched by one thread; `stop` may be called from any."""

    def __init__(self, command: Sequence[str], *, folder: Path, stdin: str, limit_s: float) -> None:
        self._command = list(command)
        self._folder = folder
        self._stdin = stdin
        self._limit_s = limit_s
        self._mark = secrets.token_hex(16)
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._alive: subprocess.Popen[bytes] | None = None
        """The process until it is waited for: from then on its number may be another's."""

    def run(self) -> Ended:
        """Start it and watch it to its end."""
        out, err = _Kept(), _Kept()
        with tempfile.TemporaryFile() as given, selectors.DefaultSelector() as selector:
            given.write(self._stdin.encode("utf-8", "replace"))
            given.seek(0)
            with self._started(given.fileno()) as process:
                _running.add(self)
                try:
                    for stream, kept in ((process.stdout, out), (process.stderr, err)):
                        assert stream is not None
                        os.set_blocking(stream.fileno(), False)
                        selector.register(stream, selectors.EVENT_READ, kept)
                    why = self._watch(process, selector, (out, err))
                finally:
                    self.end()
                    with self._lock:
                        code = process.wait()
                        self._alive = None
                    _running.discard(self)
        return Ended(why, code if why == "ended" else None, out.text(), err.text())

    def stop(self) -> None:
        """Let `run` come to its end, and end the program's group at once."""
        self._stopped.set()
        with self._lock:
            if self._alive is not None:
                _killed(os.killpg, self._alive.pid)

    def end(self) -> None:
        """Kill the program and all that it started."""
        self.stop()
        mark = f"{MARK}={self._mark}".encode()
        for _ in range(_ROUNDS):  # one that is just forking may be missed
            strays = _marked(mark)
            for stray in strays:
                _killed(os.kill, stray)
            if not strays:
                return

    def _started(self, stdin: int) -> subprocess.Popen[bytes]:
        own = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONIOENCODING": "utf-8", MARK: self._mark}
        with self._lock:
            self._alive = subprocess.Popen(  # noqa: S603 - a list, and no shell
                self._command,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=self._folder,
                env={**small_environment(), **own},
                start_new_session=True,
            )
            return self._alive

    def _watch(
        self,
        process: subprocess.Popen[bytes],
        selector: selectors.BaseSelector,
        kept: Sequence[_Kept],
    ) -> End:
        deadline = time.monotonic() + self._limit_s
        while (why := self._over(process, kept, deadline)) is None:
            _read(selector, process)
        self.end()
        # What it wrote before its end still stands in the pipes, however late we come to read it;
        # one that hid from us may hold them open, and write for ever.
        until, late = time.monotonic() + _LAST_WORDS_S, 0
        while selector.get_map() and late < _MOST_LATE:
            late += time.monotonic() >= until
            if not _read(selector, process) and late:
                break
        return why

    def _over(
        self, process: subprocess.Popen[bytes], kept: Sequence[_Kept], deadline: float
    ) -> End | None:
        if process.poll() is not None:
            return "stopped" if self._stopped.is_set() else "ended"
        if self._stopped.is_set():
            return "stopped"
        if time.monotonic() >= deadline:
            return "time"
        return "output" if _size(kept) > MAX_WRITTEN else None


class _Kept:
    """The beginning and the end of a stream."""

    def __init__(self) -> None:
        self.size = 0
        self._head = bytearray()
        self._tail = bytearray()

    def add(self, data: bytes) -> None:
        self.size += len(data)
        room = KEPT_HEAD - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        if len(self._tail) > 2 * KEPT_TAIL:
            del self._tail[:-KEPT_TAIL]

    def text(self) -> str:
        tail = self._tail[-KEPT_TAIL:]
        left_out = self.size - len(self._head) - len(tail)
        parts = (self._head, tail) if left_out else (self._head + tail,)
        note = f"\n[left out here: {left_out} bytes]\n"
        return note.join(part.decode("utf-8", "replace") for part in parts)


def _size(kept: Sequence[_Kept]) -> int:
    """Bytes that were written so far."""
    return sum(stream.size for stream in kept)


def _read(selector: selectors.BaseSelector, process: subprocess.Popen[bytes]) -> bool:
    """Wait a moment for something to read, or for the end. Whether there was something."""
    if not selector.get_map():
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_POLL_S)
        return False
    found = selector.select(_POLL_S)
    for key, _ in found:
        data = os.read(key.fd, 65_536)
        if data:
            key.data.add(data)
        else:
            selector.unregister(key.fileobj)
    return bool(found)


def _killed(kill: Callable[[int, int], None], number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        kill(number, signal.SIGKILL)


def _marked(mark: bytes) -> list[int]:
    """The processes that have this in their environment, where the system shows environments."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc"):
            if name.isdecimal():
                with contextlib.suppress(OSError), open(f"/proc/{name}/environ", "rb") as file:
                    if mark in file.read().split(b"\0"):
                        found.append(int(name))
    return found


_running: set[_Program] = set()


@atexit.register
def _end_all() -> None:
    for program in list(_running):
        program.end()
