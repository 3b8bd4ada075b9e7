"""Patterns that must not occur in the arguments of (some) tools.

Threat: an allowed tool is handed something that breaks out of what it is for. Each key and value
is searched as it stands and in every decoded view, never the JSON text around it. `tools` are
names or globs, `*` (the default) means every tool. `args`, where it is given, are the arguments
that are searched, whole or with what lies below them, in every spelling: `path` (`Path`, too),
`options.target`.

    arg_rules:
      - {name: path_traversal, reason: leaves its folder, regex: '\\.\\./', tools: [read_doc]}
      - {name: keys, reason: a file of keys, regex: '(^|/)\\.env$', args: [path]}
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from ..ledger import History
from ..names import ForbiddenNames, bare_argument
from ..normalise import Examined
from ..patterns import compile_pattern, searchable
from ..redact import Redactor
from ..shadow import Shadow
from ..verdict import Finding
from . import Check, Context, Name, Regex, Where

KEY = "arg_rules"

_SHOWN = 120
_POSITION = re.compile(r"\[[0-9]+\]")


class ArgRule(BaseModel):
    """One entry: what is forbidden, in which tools, and what is said when it is found."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Name
    reason: str = ""
    regex: Regex
    tools: list[Name] = ["*"]
    args: list[Name] = []
    """The arguments that are searched; all of them where it is empty."""
    examples: list[str] = []
    """Texts that the pattern matches: `edgeward lint` holds it to them."""


Field = list[ArgRule]
DEFAULT: list[ArgRule] = []


@dataclass(frozen=True, slots=True)
class Row:
    """One compiled rule. `tools` is None for every tool."""

    name: str
    reason: str
    pattern: Any
    tools: ForbiddenNames | None
    args: frozenset[str]
    place: str


@dataclass(frozen=True, slots=True)
class ArgRules:
    """Blocks a call in whose arguments a forbidden pattern occurs."""

    rows: dict[int, Row]
    redactor: Redactor
    rule: str = KEY
    on_hits_only: ClassVar[bool] = True

    @property
    def parts(self) -> list[str]:
        """The rules by name."""
        return [f"{KEY}.{row.name}" for row in self.rows.values()]

    def enforced(self, shadow: Shadow) -> ArgRules | None:
        """Those that are not in shadow."""
        left = {n: row for n, row in self.rows.items() if not shadow.holds(f"{KEY}.{row.name}")}
        return replace(self, rows=left) if left else None

    def arguments(self, name: str) -> set[str]:
        """The arguments of this tool at which a rule looks by name."""
        rows = [r for r in self.rows.values() if r.tools is None or r.tools.find(name) is not None]
        return {arg.partition(".")[0] for row in rows for arg in row.args}

    def __call__(self, call: Examined, history: History) -> Iterable[Finding]:
        if not call.hits or self.rows.keys().isdisjoint(call.hits):
            return ()
        return self._findings(call, history, call.hits & self.rows.keys())

    def _findings(self, call: Examined, history: History, hits: Iterable[int]) -> Iterator[Finding]:
        for number in sorted(hits):
            row = self.rows[number]
            if row.tools is not None and row.tools.find(call.name) is None:
                continue
            found = first_match(call, row.pattern, row.args)
            if found is None:
                continue
            index, text, start, end = found
            yield Finding(
                f"{KEY}.{row.name}",
                "block",
                row.reason or f"argument matches the rule '{row.name}'",
                row.place,
                call.path(index),
                around(self.redactor.secrets(text)[0], text[start:end]),
                history.origin(text) or history.origin(text[start:end]),
                allowed="a call without this argument"
                if _is_name(call, index, text)
                else f"a value in which {row.pattern.pattern} finds nothing",
            )


def first_match(
    call: Examined, pattern: Any, args: frozenset[str] = frozenset()
) -> tuple[int, str, int, int] | None:
    """The first text of the call that the pattern matches: leaf (-1: joined), text, start, end.

    `args` are the arguments that count; all, and what they say together, where it is empty. An
    argument's name is the match where no value is.
    """
    name = None
    for index, text in (*call.texts(), *((-1, joined) for joined in call.joined)):
        if args and not (index >= 0 and _lies_in(call.path(index), args)):
            continue
        text = searchable(text)
        match = pattern.search(text)
        if match is None:
            continue
        found = (index, text, *match.span())
        if not _is_name(call, index, text):
            return found
        name = name or found
    return name


def _is_name(call: Examined, index: int, text: str) -> bool:
    """Whether a text is the name of the argument, or of the part of one, that it stands at."""
    path = call.path(index)
    return path == text or path.endswith(f".{text}")


def _lies_in(path: str, args: frozenset[str]) -> bool:
    """Whether the path is one of `args` or lies below one; positions in lists do not count."""
    steps = _steps(_POSITION.sub("", path))
    return any(".".join(steps[:end]) in args for end in range(1, len(steps) + 1))


def _steps(path: str) -> list[str]:
    return [bare_argument(step) for step in path.split(".")]


def around(text: str, match: str) -> str:
    """At most 120 characters of `text`, with the match in them where it is still there."""
    if len(text) <= _SHOWN:
        return text
    at = max(text.find(match[:_SHOWN]) - _SHOWN // 4, 0)
    return ("..." if at else "") + text[at : at + _SHOWN] + "..."


def build(value: list[ArgRule], where: Where, context: Context) -> Check | None:
    """The check; None for an empty list."""
    rows = {}
    for i, entry in enumerate(value):
        tools = None if "*" in entry.tools else ForbiddenNames(entry.tools)
        number = context.patterns.add(entry.regex)
        pattern = compile_pattern(entry.regex)
        args = frozenset(".".join(_steps(arg)) for arg in entry.args)
        rows[number] = Row(entry.name, entry.reason, pattern, tools, args, where(i))
    return ArgRules(rows, context.redactor) if rows else None
