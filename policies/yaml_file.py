"""The one YAML reader: policies, profiles and strategies all come in through here.

Text becomes plain data (dicts with text keys, lists, text, numbers, booleans, None) that still
knows on which line each value stands. What a file may not hold is refused here, with file and
line: repeated keys, tags, self-reference, several documents, and anything beyond the bounds of
size, count and depth. What the data must look like is said by a pydantic model: `validate`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn, TypeAlias

import yaml  # type: ignore[import-untyped]

from ..guards.faults import words_of
from . import composer
from .problems import (
    ConfigError,
    ConfigFileMissing,
    ConfigParseError,
    ConfigValidationError,
    FieldPath,
    Problem,
    did_you_mean,
    either,
    speak,
    spell,
)
from .validation import Flag, Model, check

__all__ = [
    "MAX_BYTES",
    "ConfigError",
    "ConfigFileMissing",
    "ConfigParseError",
    "ConfigValidationError",
    "Document",
    "FieldPath",
    "Flag",
    "Plain",
    "Problem",
    "did_you_mean",
    "either",
    "from_data",
    "parse_bytes",
    "parse_yaml",
    "read_yaml",
    "speak",
    "spell",
    "too_big",
    "validate",
]

MAX_BYTES = 1_000_000
"""Size of one file."""

Plain: TypeAlias = "str | int | float | bool | list[Plain] | dict[str, Plain] | None"
"""What a document's data is made of."""


@dataclass(frozen=True, slots=True)
class Document:
    """One file's data, and where each value stands. `data` is to be read, not changed."""

    data: Plain
    name: str
    root: composer.Node | None = field(default=None, repr=False, compare=False)
    text: str = field(default="", repr=False, compare=False)
    """As it was read; nothing for data that came from no file."""

    def line(self, path: FieldPath) -> int:
        """The line (from 1) of the key or list item at `path`, or of its nearest parent.

        0 for data that came from no file.
        """
        return composer.at(self.root, path)

    def where(self, path: FieldPath = ()) -> str:
        """`file:line` of `path`; the name alone for data that came from no file."""
        line = self.line(path)
        return f"{self.name}:{line}" if line else self.name


def read_yaml(path: Path | str, *, name: str | None = None) -> Document:
    """Read one YAML file. `name` is how messages call it; by default, the path as given.

    Raises:
        ConfigFileMissing: if there is no such file, or it cannot be read.
        ConfigParseError: see `parse_yaml`; also for a file that is too big or not UTF-8.
    """
    name = str(path) if name is None else name
    return parse_bytes(read_bytes(path, name=name), name=name)


def read_bytes(path: Path | str, *, name: str) -> bytes:
    """What a YAML file holds; of one that is too big, as much as shows it.

    Raises:
        ConfigFileMissing: if there is no such file, or it cannot be read.
    """
    problem = None
    try:
        with Path(path).open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except (FileNotFoundError, ValueError):  # no file has a name with a NUL in it
        problem = Problem(speak(name), "", "there is no such file", fix="check the path")
    except IsADirectoryError:
        problem = Problem(
            speak(name), "", "is a folder", allowed="a YAML file", fix="name one in it"
        )
    except OSError as error:
        problem = Problem(speak(name), "", f"cannot be read ({words_of(error)})")
    # Raised out here, so that the system's own error does not hang on as context.
    raise ConfigFileMissing(problem)


def parse_bytes(raw: bytes, *, name: str) -> Document:
    """Turn the bytes of a YAML file into a `Document`; `name` stands for the file in messages.

    Raises:
        ConfigParseError: see `parse_yaml`; also for a file that is too big or not UTF-8.
    """
    if len(raw) > MAX_BYTES:
        raise ConfigParseError(too_big(name))
    problem = None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        problem = Problem(f"{name}:{line}", "", "is not UTF-8", fix="save the file as UTF-8")
    if problem is not None:
        raise ConfigParseError(problem)
    return parse_yaml(text, name=name)


def parse_yaml(text: str, *, name: str) -> Document:
    """Turn YAML text into a `Document`; `name` stands for the file in every message.

    A text without any value gives `data` None.

    Raises:
        ConfigParseError: for bad syntax, repeated keys (all of them at once, each with both
            lines), tags outside YAML's safe core, keys that are no text, an alias that contains
            itself, a second document, or a text beyond the bounds of size, count and depth.
    """
    if len(text) > MAX_BYTES:
        raise ConfigParseError(too_big(name))
    problem = None
    try:
        root = composer.compose(text, name=name)
    except yaml.YAMLError as error:
        problem = _syntax(error, text, name)
    except UnicodeEncodeError as error:
        problem = _bad_character(text, error.start, name)
    if problem is not None:
        raise ConfigParseError(problem)
    return Document(root.plain() if root is not None else None, name, root, text)


def from_data(data: Mapping[str, object], *, name: str = "<data>") -> Document:
    """A `Document` of data that came from no file: checked to be plain, and copied.

    Raises:
        ConfigValidationError: if it holds what YAML could not hold here (objects, keys that are
            no text, NaN), contains itself, or is beyond the bounds of count and depth.
    """
    return Document(_Copy(name).plain(data, ()), name)


@dataclass(slots=True)
class _Copy:
    name: str
    seen: int = 0

    def plain(self, value: object, path: FieldPath) -> Plain:
        self.seen += 1
        if len(path) > composer.MAX_DEPTH or self.seen > composer.MAX_NODES:
            allowed = f"{composer.MAX_DEPTH} levels, {composer.MAX_NODES} values"
            self.refuse(path, "the data is too deep or too large", allowed)
        if isinstance(value, Mapping):
            if not all(isinstance(key, str) for key in value):
                self.refuse(path, "a key is not text", "text")
            return {key: self.plain(item, (*path, key)) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.plain(item, (*path, at)) for at, item in enumerate(value)]
        if isinstance(value, str | int | None):
            return value
        if isinstance(value, float) and math.isfinite(value):
            return value
        allowed = "dicts, lists, text, finite numbers, booleans, None"
        return self.refuse(path, f"{type(value).__name__} is not plain data", allowed)

    def refuse(self, path: FieldPath, wrong: str, allowed: str) -> NoReturn:
        raise ConfigValidationError(Problem(self.name, spell(path), wrong, allowed))


def validate(model: type[Model], data: object, document: Document, *, at: FieldPath = ()) -> Model:
    """Check `data`, which stands at path `at` of `document`, against a pydantic model.

    Strict as for JSON (text is never taken for a number, nor a number for text, true for 1, or a
    lone value for a list), whatever the model says of itself; unknown keys are the model's to
    forbid. A field with a blank value counts as omitted.

    Raises:
        ConfigValidationError: with every problem at once, in the order of the file's lines.
    """
    checked = check(model, data, at)
    if isinstance(checked, model):
        return checked
    assert isinstance(checked, list)
    checked.sort(key=lambda fault: (document.line(fault.path), fault.path_text))
    raise ConfigValidationError(*(fault.problem(document.where(fault.path)) for fault in checked))


def too_big(name: str) -> Problem:
    """What is wrong with a file of more than `MAX_BYTES`."""
    return Problem(name, "", "the file is too big", allowed=f"{MAX_BYTES:,} bytes")


def _syntax(error: yaml.YAMLError, text: str, name: str) -> Problem:
    """PyYAML's error in our form; without the line's text, which may hold a secret."""
    position = getattr(error, "position", None)
    if isinstance(position, int):
        return _bad_character(text, position, name)
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    wrong = f"this is not YAML: {getattr(error, 'problem', None) or 'bad syntax'}"
    context, since = getattr(error, "context", None), getattr(error, "context_mark", None)
    if context:
        wrong += f" ({context} that begins in line {since.line + 1})" if since else f" ({context})"
    where = f"{name}:{mark.line + 1}" if mark else name
    return Problem(where, "", wrong, fix="check indentation, colons, quotes and brackets")


def _bad_character(text: str, position: int, name: str) -> Problem:
    line = text.count("\n", 0, position) + 1
    return Problem(f"{name}:{line}", "", "a control character or half a character", fix="remove it")
