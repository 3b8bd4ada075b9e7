"""`mcp.lock`: the definitions of tools that were accepted, beside the profile.

JSON that a person can read in a diff: descriptions line by line, everything in ASCII, so that what
is hidden shows. Each definition carries its hash, and the whole file one over all of it: a file
that was changed by anything but this module is refused.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ....guards.faults import words_of
from ....policies.problems import Problem
from .definitions import Definition, canonical
from .failures import McpServerError

FILE = "mcp.lock"
MAX_BYTES = 32_000_000

Pins = dict[str, dict[str, Definition]]
"""The accepted definitions: by server, then by tool."""

_writing = threading.Lock()


class LockDamaged(McpServerError):
    """The lock file is not as it was written."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)


class _Tool(_Strict):
    hash: str
    description: list[str]
    input_schema: dict[str, Any] = Field(alias="schema")


class _File(_Strict):
    version: int = Field(ge=1, le=1)
    servers: dict[str, dict[str, _Tool]]
    hash: str


def read_pins(path: Path) -> Pins:
    """The accepted definitions; none where there is no file.

    Raises:
        LockDamaged: the file was changed, cut short, or is none of this version.
    """
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return {}
    except OSError as error:
        _damaged(path, f"cannot be read ({words_of(error)})")
    if len(raw) > MAX_BYTES:
        _damaged(path, "is too big")
    try:
        data = json.loads(raw, object_pairs_hook=_once)
        found = _File.model_validate(data)
    except (ValidationError, ValueError, RecursionError):
        _damaged(path, "is not as it was written")
    pins = {
        server: {
            name: Definition(name, "\n".join(tool.description), canonical(tool.input_schema))
            for name, tool in tools.items()
        }
        for server, tools in found.servers.items()
    }
    told = {s: {n: tool.hash for n, tool in tools.items()} for s, tools in found.servers.items()}
    if told != _hashes(pins) or found.hash != _hash_of(pins):
        _damaged(path, "is not as it was written")
    return pins


def write_pins(path: Path, added: Mapping[str, Mapping[str, Definition]]) -> None:
    """Put the definitions of these servers in place of what the file says of them.

    The other servers of the file stay as they are, unless it is damaged: then it is made anew.

    Raises:
        McpServerError: the file cannot be written.
    """
    with _writing:
        try:
            pins = read_pins(path)
        except LockDamaged:
            pins = {}
        pins.update({server: dict(tools) for server, tools in added.items()})
        try:
            _replace(path, _text(pins))
        except OSError as error:
            problem = Problem(
                str(path),
                "",
                f"cannot be written ({words_of(error)})",
                fix="write it where the folder can be written, and ship it with the profile",
            )
            raise McpServerError(problem) from None


def _text(pins: Pins) -> str:
    servers = {
        server: {
            name: {
                "hash": one.digest,
                "description": one.description.split("\n"),
                "schema": one.schema,
            }
            for name, one in sorted(tools.items())
        }
        for server, tools in sorted(pins.items())
    }
    data = {"version": 1, "servers": servers, "hash": _hash_of(pins)}
    return json.dumps(data, indent=2, ensure_ascii=True) + "\n"


def _hashes(pins: Pins) -> dict[str, dict[str, str]]:
    return {s: {n: one.digest for n, one in tools.items()} for s, tools in pins.items()}


def _hash_of(pins: Pins) -> str:
    return "sha256:" + hashlib.sha256(canonical(_hashes(pins)).encode()).hexdigest()


def _replace(path: Path, text: str) -> None:
    """Write the file whole or not at all."""
    handle, name = tempfile.mkstemp(prefix=f"{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="ascii", newline="\n") as file:
            file.write(text)
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _damaged(path: Path, wrong: str) -> NoReturn:
    fix = "restore it; or look at the tools with `edgeward tools PROFILE` and --accept them again"
    raise LockDamaged(Problem(str(path), "", wrong, fix=fix)) from None
