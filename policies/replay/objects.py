"""The JSON objects of a file of exported conversations, each with the place where it stands."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path


def objects_in(path: Path) -> Iterator[tuple[str, object]]:
    """The objects of a file, each with its place: one a line, or all of one JSON text.

    Raises:
        ValueError: it is no JSON, and where. OSError: it cannot be read.
    """
    with path.open("rb") as file:
        first = next((line for line in file if line.strip()), b"")
        try:
            lines = isinstance(json.loads(first), list | dict)
        except (ValueError, RecursionError):
            lines = False
    if lines:
        yield from _of_lines(path)
        return
    try:
        whole = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: is no JSON ({_why(error)})") from None
    if isinstance(whole, list) and not any(_is_message(item) for item in whole[:1]):
        yield from ((f"{path}:[{number}]", item) for number, item in enumerate(whole))
    else:
        yield str(path), whole


def _of_lines(path: Path) -> Iterator[tuple[str, object]]:
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                found = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise ValueError(f"{path}:{number}: is no JSON ({_why(error)})") from None
            listed = isinstance(found, list) and found and not _is_message(found[0])
            if listed:
                yield from ((f"{path}:{number}[{at}]", item) for at, item in enumerate(found))
            else:
                yield f"{path}:{number}", found


def _is_message(item: object) -> bool:
    return isinstance(item, Mapping) and not {"messages", "inputs", "outputs"} & item.keys()


def _why(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg}, line {error.lineno}, column {error.colno}"
    return type(error).__name__
