"""Which part of which tool's output may be believed (version 2).

Threat: what tools bring back is written by others; taken at its word, a mail names the account to
pay. Nothing is believed but what an entry here names: `tool` (names or globs), `fields` of its
records, only records `where` a field has a value (`$me`: one of the user's own; `$user`,
`$tenant`: the caller's), only records that the user's request names (`named`), only calls whose
`args` fit. A value counts as a whole;
with `text` every word of it does. With `ask`, what stands there counts once a person has agreed.

    me: [ann@corp.example]
    trust:
      - {tool: search_contacts, fields: [email]}
      - {tool: list_files, fields: [id_, shared_with], where: {owner: $me}}
      - {tool: search_events, fields: [id_, participants], named: true}
      - {tool: read_file, args: {path: "/user/*"}, text: true}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict
from pydantic import Field as Limits

from ..caller import NOBODY, OWN_VALUES, Caller, variable_fault
from ..names import glob_pattern
from ..naming import Steps, steps_to
from ..outputs import Believed, Record, believed, key_of, tool_globs
from ..patterns import compile_pattern
from ..verdict import ToolCall
from . import Check, Context, Name, Where, silent

KEY = "trust"

ME = "$me"
"""Stands for every value of `me`."""

Scalar = str | int | float | bool
Names = Name | Annotated[list[Name], Limits(min_length=1)]


class Source(BaseModel):
    """One part of the outputs that may be believed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tool: Names
    fields: Names | None = None
    where: dict[Name, Scalar | Annotated[list[Scalar], Limits(min_length=1)]] = {}
    args: dict[Name, Scalar | Annotated[list[Scalar], Limits(min_length=1)]] = {}
    named: bool | Names = False
    """Only records that the user's request names; by which fields, where it lists some."""
    text: bool = False
    ask: bool = False


Field = list[Source]
DEFAULT: list[Source] = []


@dataclass(frozen=True, slots=True)
class Trust:
    """Objects to no call; says of outputs what in them counts as known."""

    rows: tuple[Believed, ...]
    rule: str = KEY

    __call__ = silent

    @property
    def of_caller(self) -> bool:
        """Whether what is believed depends on who asks."""
        return any(row.of_caller for row in self.rows)

    def believed(self, call: ToolCall, data: object, caller: Caller = NOBODY) -> list[Record]:
        """The records of an output that may be believed, for this caller."""
        return believed([row.for_caller(caller) for row in self.rows], call, data)


def build(value: list[Source], where: Where, context: Context) -> Check | None:
    """The check; None where nothing is trusted.

    Raises:
        ValueError: in a version 1 file, `$me` without `me`, or another `$name`.
    """
    if not value:
        return None
    if context.version < 2:
        raise ValueError("`trust` needs `version: 2`")
    me = context.values.get("me") or []
    if not me and any(ME in _listed(v) for source in value for v in source.where.values()):
        raise ValueError("`$me` is nobody: write `me: [...]`, the values that are the user's own")
    for source in value:
        for item in (v for values in source.where.values() for v in _listed(values)):
            if fault := variable_fault(item, (ME, *OWN_VALUES)):
                raise ValueError(fault)
    return Trust(tuple(_compiled(source, me) for source in value))


def _compiled(source: Source, me: list[str]) -> Believed:
    return Believed(
        tools=tool_globs(str(name) for name in _listed(source.tool)),
        fields=None if source.fields is None else _fields(source.fields),
        where=tuple((steps_to(name), _allowed(value, me)) for name, value in source.where.items()),
        args=tuple(_globs(source.args)),
        named=bool(source.named),
        names=None if isinstance(source.named, bool) else _fields(source.named),
        text=source.text,
        ask=source.ask,
    )


def _fields(names: object) -> frozenset[Steps]:
    return frozenset(steps_to(str(name)) for name in _listed(names))


def _allowed(value: object, me: list[str]) -> frozenset[str]:
    given = [v for item in _listed(value) for v in (me if item == ME else [item])]
    # A key holds no `$`: what stands for a value of the caller's equals none until it is filled in.
    return frozenset(v if v in OWN_VALUES else key_of(v) for v in given) - {""}


def _globs(args: Mapping[str, object]) -> Iterable[tuple[str, tuple[Any, ...]]]:
    for name, value in args.items():
        globs = (glob_pattern(str(item)).pattern for item in _listed(value))
        yield name, tuple(compile_pattern(f"(?s){glob}") for glob in globs)


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]
