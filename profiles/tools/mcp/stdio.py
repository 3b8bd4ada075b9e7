"""A server that is a program: started, spoken to in lines of JSON, ended with its children.

The SDK's own transport takes lines of any length, writes what is no message into the log with a
traceback, and hands the program this process's stderr, which may be somebody's terminal.
"""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import json
import os
import re
import signal
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCMessage
from pydantic import ValidationError

from ....guards.redact import Redactor
from .failures import one_line

MAX_MESSAGE_BYTES = 16_000_000
"""One message of a server; one that sends more is ended."""

GRACE_S = 2.0
"""Seconds for a program to end by itself, and once more when it was told to."""

_GLANCE_S = 0.2
_KEPT_BYTES = 4_000


class _Said:
    """The end of what a program wrote on stderr."""

    def __init__(self, secrets: Sequence[str]) -> None:
        self.tail = bytearray()
        self._secrets = sorted(secrets, key=len, reverse=True)
        self._cut = False

    def keep(self) -> None:
        """Forget all but the end."""
        self._cut = self._cut or len(self.tail) > _KEPT_BYTES
        del self.tail[:-_KEPT_BYTES]

    def last_line(self) -> str:
        """The last line, masked; empty where there is none."""
        text = self.tail.decode("utf-8", "replace")
        if self._cut:  # it begins in the middle of a word, which may be a key
            text = "".join(re.split(r"(\s)", text, maxsplit=1)[1:])
        lines = text.splitlines()
        last = next((line for line in reversed(lines) if line.strip()), "")
        for secret in self._secrets:
            last = last.replace(secret, "***")
        return one_line(Redactor().secrets(last)[0])


@asynccontextmanager
async def stdio_streams(
    command: str,
    args: list[str],
    *,
    env: Mapping[str, str],
    cwd: Path,
    secrets: Sequence[str],
    trouble: Callable[[str, Any], None],
) -> AsyncIterator[tuple[Any, Any]]:
    """Start the program; gives the streams that a client session reads and writes.

    `trouble` is told why a request (by its number) or the program (None) will give nothing any
    more, with the last line that it wrote on stderr; `secrets` are masked in that.

    Raises:
        OSError: it cannot be started.
    """
    process = await asyncio.create_subprocess_exec(
        command,
        *args,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=MAX_MESSAGE_BYTES,
        env=dict(env),
        cwd=cwd,
        start_new_session=sys.platform != "win32",
    )
    to_session, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write, from_session = anyio.create_memory_object_stream[SessionMessage](0)
    said = _Said(secrets)
    work = [
        asyncio.ensure_future(job)
        for job in (
            _reading(process, to_session, trouble, said),
            _writing(process, from_session),
            _keeping(process, said),
            _watching(process, to_session, trouble, said),
        )
    ]
    try:
        yield read, write
    finally:
        try:
            await _end(process)
        finally:
            for task in work:
                task.cancel()
            await asyncio.gather(*work, return_exceptions=True)
            for stream in (to_session, read, write, from_session):
                stream.close()
            process._transport.close()  # type: ignore[attr-defined]


async def _reading(
    process: asyncio.subprocess.Process,
    to_session: Any,
    trouble: Callable[[str, Any], None],
    said: _Said,
) -> None:
    assert process.stdout is not None
    with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        while True:
            try:
                line = await process.stdout.readline()
            except ValueError:  # beyond the limit
                trouble(f"it sent a message of more than {MAX_MESSAGE_BYTES:,} bytes", None)
                return
            if not line:
                # What ended is told by who waits for the process; a program that closes its
                # output and stays is of no use either.
                await _exited(process, GRACE_S)
                trouble(_ending(process, said), None)
                return
            try:
                message = JSONRPCMessage.model_validate_json(line.removeprefix(codecs.BOM_UTF8))
            except ValidationError:  # a program that prints to its output, too
                if (number := _answered(line)) is not None:
                    trouble("it answers what is no message of the protocol", number)
                continue
            await to_session.send(SessionMessage(message))


def _answered(line: bytes) -> Any:
    """The number of the request that this line, which is no message, would answer; else None."""
    try:
        read = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(read, dict) or "method" in read or not {"result", "error"} & read.keys():
        return None
    number = read.get("id")
    return number if isinstance(number, int | str) else None


async def _writing(process: asyncio.subprocess.Process, from_session: Any) -> None:
    assert process.stdin is not None
    with contextlib.suppress(OSError):  # it has ended: the reader says so
        async for item in from_session:
            text = item.message.model_dump_json(by_alias=True, exclude_none=True)
            process.stdin.write(text.encode() + b"\n")
            await process.stdin.drain()


async def _keeping(process: asyncio.subprocess.Process, said: _Said) -> None:
    """Read what it prints on stderr, and keep the end of it for whoever asks why it ended."""
    assert process.stderr is not None
    while chunk := await process.stderr.read(65_536):
        said.tail += chunk
        said.keep()


async def _watching(
    process: asyncio.subprocess.Process,
    to_session: Any,
    trouble: Callable[[str, Any], None],
    said: _Said,
) -> None:
    """See the end of a program whose output a child of it holds open."""
    while not await _exited(process, 60.0):
        pass
    await asyncio.sleep(GRACE_S / 2)
    trouble(_ending(process, said), None)
    to_session.close()


def _ending(process: asyncio.subprocess.Process, said: _Said) -> str:
    code = process.returncode
    if code is None:
        return "it closed its output"
    if code < 0:
        known = {number.value for number in signal.Signals}
        name = signal.Signals(-code).name if -code in known else f"signal {-code}"
        return f"it was ended by {name}"
    last = said.last_line()
    return f"it ended with exit code {code}" + (f" ({last})" if code and last else "")


async def _exited(process: asyncio.subprocess.Process, limit_s: float) -> bool:
    """Wait for the program's end. (`process.wait` also waits for whoever holds its pipes.)

    Glances are counted, and not the time: after a while in which the machine did not let us run we
    would say of a program that has ended that it has not.
    """
    glance_s = min(_GLANCE_S, limit_s / 10)
    for _ in range(round(limit_s / glance_s)):
        if process.returncode is not None:
            break
        await asyncio.sleep(glance_s)
    return process.returncode is not None


async def _end(process: asyncio.subprocess.Process) -> None:
    """End the program and its children: ask it, tell it, make it."""
    assert process.stdin is not None
    try:
        with contextlib.suppress(OSError, RuntimeError):
            process.stdin.close()
        if not await _exited(process, GRACE_S):
            _signal(process, signal.SIGTERM)
            await _exited(process, GRACE_S)
    finally:
        # Also where it has ended: its children are in its group, and may not have.
        _signal(process, getattr(signal, "SIGKILL", signal.SIGTERM))
        await _exited(process, GRACE_S)


def _signal(process: asyncio.subprocess.Process, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if sys.platform != "win32":
            os.killpg(process.pid, number)
        elif process.returncode is None:
            process.kill()
