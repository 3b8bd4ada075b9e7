"""The other side of `worker.py`: starts the process, asks it, and kills it where it hangs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from types import TracebackType

from typing_extensions import Self

from .content import NotExtracted, Source, StructuredChunk
from .wire import unpacked

TIMEOUT_S = 60.0
"""For one file, the start of the process included."""
MAX_ANSWER_BYTES = 100_000_000

_START = (
    "import json, sys; sys.path[:] = json.loads(sys.stdin.buffer.readline());"
    " from edgeward.profiles.rag.worker import main; main()"
)
_KEPT = ("PATH", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR", "LANG", "LC_ALL", "LC_CTYPE")
"""What it gets of the environment: no keys."""


class Reader:
    """Reads one document after the other, in a process that is started when it is needed."""

    def __init__(self, *, timeout_s: float = TIMEOUT_S) -> None:
        self._timeout_s = timeout_s
        self._process: subprocess.Popen[bytes] | None = None

    def extract(self, source: Source) -> list[StructuredChunk]:
        """The file's text.

        Raises:
            NotExtracted: there is none, it took too long, or the process broke on it.
        """
        if self._process is not None and self._process.poll() is not None:
            self.close()  # it ended on its own: this file is not to blame
        process = self._process or self._started()
        late = threading.Event()

        def end() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(self._timeout_s, end)
        timer.daemon = True
        timer.start()
        try:
            line = _asked(process, source)
        finally:
            timer.cancel()
        if not line.endswith(b"\n"):
            self.close()
            if late.is_set():
                raise NotExtracted(f"could not be read in {self._timeout_s:g} s")
            raise NotExtracted("broke what reads it (damaged, or too big for the memory)")
        return unpacked(line)

    def _started(self) -> subprocess.Popen[bytes]:
        self._process = process = subprocess.Popen(  # noqa: S603 - this Python
            [sys.executable, "-I", "-c", _START],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={name: os.environ[name] for name in _KEPT if name in os.environ},
            start_new_session=True,
        )
        assert process.stdin is not None
        process.stdin.write(json.dumps(sys.path).encode() + b"\n")
        return process

    def close(self) -> None:
        """End the process. Closing twice is fine."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            try:
                pipe.close()
            except OSError:  # what was not sent yet cannot be sent any more
                continue
        process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _asked(process: subprocess.Popen[bytes], source: Source) -> bytes:
    """The answer's line; an incomplete one where the process ended."""
    assert process.stdin is not None
    assert process.stdout is not None
    data = source.read_bytes()
    name = os.fsencode(source.path.name).replace(b"\n", b"_")
    try:
        process.stdin.write(b"%d %s\n" % (len(data), name) + data)
        process.stdin.flush()
    except OSError:
        return b""
    return process.stdout.readline(MAX_ANSWER_BYTES)
