"""A policy file as `lint` reads it: its plain data, by what is said of which tool, with places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .problems import FieldPath, Problem, spell
from .yaml_file import Document


@dataclass(frozen=True, slots=True)
class Reading:
    """A policy file that loads."""

    document: Document

    @property
    def data(self) -> Mapping[str, Any]:
        """The file's content."""
        return self.document.data if isinstance(self.document.data, dict) else {}

    @property
    def tools(self) -> Mapping[str, Any]:
        """The entries of `tools`."""
        found = self.data.get("tools")
        return found if isinstance(found, dict) else {}

    @property
    def closed(self) -> bool:
        """Whether a tool that nothing names may not run."""
        return bool(self.data.get("default", "block") == "block")

    def listed(self, key: str) -> Sequence[Any]:
        """The entries of a list."""
        return _listed(self.data.get(key))

    def problem(self, kind: str, path: FieldPath, wrong: str, fix: str) -> Problem:
        """A problem at a path."""
        return Problem(self.document.where(path), spell(path), wrong, fix=fix, kind=kind)

    def named_tools(self) -> Iterator[tuple[FieldPath, str]]:
        """The tools of which something else than `tools` speaks, each with its place."""
        for number, source in enumerate(self.listed("trust")):
            for name in _names(source.get("tool")):
                yield ("trust", number, "tool"), name
        for number, name in enumerate(self.listed("private")):
            yield ("private", number), name
        for number, rule in enumerate(self.listed("arg_rules")):
            for name in rule.get("tools") or ():
                yield ("arg_rules", number, "tools"), name
        for number, rule in enumerate(self.listed("sequence")):
            for key in ("after", "ask", "block"):
                for name in _names(rule.get(key)):
                    yield ("sequence", number, key), name

    def conditions(self) -> Iterator[tuple[FieldPath, Mapping[str, Any]]]:
        """The conditions on arguments that are mappings, each with its place."""
        for place, condition, _ in self._wanted():
            if isinstance(condition, dict):
                yield place, condition

    def worded(self, word: str) -> Iterator[FieldPath]:
        """Where this word is the condition on an argument that its entry binds to no other one."""
        for place, condition, bound in self._wanted():
            if condition == word and not bound:
                yield place

    def _wanted(self) -> Iterator[tuple[FieldPath, Any, bool]]:
        """What is said of arguments: place, condition, and whether `together` or `at_most` binds
        the argument, too."""
        for name, entry in self.tools.items():
            for at, way in _each(entry, ("tools", name)):
                if not isinstance(way, dict):
                    continue
                tied = {*(way.get("together") or ()), *(way.get("at_most") or ())}
                for argument, wanted in (way.get("args") or {}).items():
                    for place, condition in _each(wanted, (*at, "args", argument)):
                        yield place, condition, argument in tied


def texts(value: object, path: FieldPath = ()) -> Iterator[tuple[FieldPath, str]]:
    """Each text in a file's data, with its place."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from texts(item, (*path, key))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from texts(item, (*path, number))


def _each(value: object, path: FieldPath) -> Iterator[tuple[FieldPath, object]]:
    """The items of a list, or the one thing that stands there alone."""
    if isinstance(value, list):
        yield from (((*path, number), item) for number, item in enumerate(value))
    else:
        yield path, value


def _names(value: object) -> list[str]:
    return [item for item in _listed(value) if isinstance(item, str)]


def _listed(value: object) -> Sequence[Any]:
    return [value] if isinstance(value, str) else value if isinstance(value, list) else []
