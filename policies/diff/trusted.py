"""What results tell a policy: whether the new one believes more of them, or keeps less private."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ...guards.caller import Caller
from ...guards.names import glob_pattern
from ...guards.naming import steps_to
from ...guards.outputs import Believed, speaks_of, tool_globs
from ...guards.rules.trust import Source, Trust
from ..cases import Ran
from ..globs import covers
from .flows import SPELT
from .names import Pattern, classes
from .points import Point
from .side import Side

NAMED = "Zqina Plan"
"""How the user names a record."""

LONG = "zqa zqb zqc zqd zqe zqf zqg zqh zqi zqj zqk zql zqm zqn"
"""More words than a name has."""

VALUES: tuple[tuple[Any, Any], ...] = (
    *((value, value) for value in (SPELT, "Zqarst Quilno", "ZQ-7155-KX", 77153, "2031-03-09")),
    ("/qzq/qzz", "/qzq/qzz"),
    ("Zqarst Quilno", "Quilno Zqarst"),
    (LONG, "zqc zqb"),
    (LONG, "zqb zqc"),
)
"""What a result says, and a value that is believed for it."""


@dataclass(frozen=True, slots=True)
class _Entry:
    source: Source
    row: Believed

    def names(self, tool: str) -> bool:
        return speaks_of(self.row.tools, tool)

    def within(self, other: _Entry) -> bool:
        """Whether all that this entry believes of a result the other does, too."""
        one, two = self.row, other.row
        fields = two.fields is None or (one.fields is not None and one.fields <= two.fields)
        mine = dict(one.where)
        where = all(name in mine and mine[name] <= allowed for name, allowed in two.where)
        flags = one.named >= two.named and one.text <= two.text and one.ask >= two.ask
        names = (
            not two.named
            or one.names == two.names
            or bool(one.names and two.names and one.names <= two.names)
        )
        return fields and where and flags and names and self._has_args(other)

    def _has_args(self, other: _Entry) -> bool:
        mine = {name: _listed(value) for name, value in self.source.args.items()}
        return all(
            name in mine
            and all(any(covers(wide, glob) for wide in _listed(value)) for glob in mine[name])
            for name, value in other.source.args.items()
        )


def believed(old: Side, new: Side) -> tuple[tuple[Any, Point], ...]:
    """Values that the new policy believes and the old one does not, with a past that shows it;
    none where it believes no more."""
    return tuple(_more(_entries(old), _entries(new), new))


def believes_no_more(old: Side, new: Side) -> bool:
    """Whether whatever the new policy takes at its word the old one does."""
    return new.me <= old.me and not list(_uncovered(_entries(old), _entries(new)))


def _entries(side: Side) -> list[_Entry]:
    check = side.checks.get("trust")
    rows = check.rows if isinstance(check, Trust) else ()
    return [_Entry(*both) for both in zip(side.listed("trust"), rows, strict=False)]


def _uncovered(old: Sequence[_Entry], new: Sequence[_Entry]) -> Iterator[tuple[_Entry, str]]:
    """Entries of the new policy, each with a tool of which it believes more."""
    patterns = [Pattern(name) for e in (*old, *new) for name in _listed(e.source.tool)]
    names = classes(patterns) if patterns else []
    for entry in new:
        wider = [other for other in old if entry.within(other)]
        for name in names:
            if entry.names(name) and not any(other.names(name) for other in wider):
                yield entry, name


def _more(old: Sequence[_Entry], new: Sequence[_Entry], side: Side) -> Iterator[tuple[Any, Point]]:
    own = Caller("q7user", "q7tenant")
    values = {"$user": own.user, "$tenant": own.tenant, "$me": (side.values["me"] or [""])[0]}
    for entry, tool in _uncovered(old, new):
        source = entry.source
        caller = own if entry.row.of_caller else None
        said = (NAMED,) if source.named else ()
        for arguments in _choices(source.args):
            given = {name: _filled(value) for name, value in arguments.items()}
            for where in _choices(source.where):
                row = _record({name: values.get(str(v), v) for name, v in where.items()})
                for told, value in VALUES:
                    for result in _results(source, row, told):
                        ran = Ran(tool=tool, arguments=given, result=result)
                        asked = (
                            said if isinstance(result, list) else (*said, *map(str, given.values()))
                        )
                        yield value, Point(said=asked, ran=(ran,), caller=caller)


def _choices(named: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """One value for each name: the first of each, and each other one once."""
    plain = {name: _listed(value)[0] for name, value in named.items()}
    yield plain
    for name, value in named.items():
        yield from ({**plain, name: other} for other in _listed(value)[1:])


def _results(source: Source, row: dict[str, Any], value: Any) -> Iterator[Any]:
    """Results that the entry believes, with a value."""
    by = source.named if isinstance(source.named, str | list) else "title"
    named = {_listed(by)[0]: NAMED} if source.named else {}
    for name in ["value"] if source.fields is None else _listed(source.fields):
        yield [_record({**named, name: value}, row)]
    if source.fields is None and not source.where:
        yield str(value)


def _record(values: dict[str, Any], base: dict[str, Any] | None = None) -> dict[str, Any]:
    """A record with values at these fields (`organizer.email`), beside those of another."""
    made = {**(base or {})}
    for field, value in values.items():
        *way, last = steps_to(field)
        inner = made
        for step in way:
            below = inner.get(step)
            inner[step] = inner = {**below} if isinstance(below, dict) else {}
        inner[last] = value
    return made


def unhidden(old: Side, new: Side) -> tuple[tuple[Any, Point], ...]:
    """Values that are private under the old policy only, each with a past that shows it."""
    before, after = old.private, new.private
    kept = tool_globs(after)
    found: list[tuple[Any, Point]] = []
    for name in classes(map(Pattern, (*before, *after))) if before else ():
        if any(glob_pattern(glob).fullmatch(name) for glob in before) and not speaks_of(kept, name):
            for value in ("QX-5512-9921", 551299217, "551299217"):
                ran = Ran(tool=name, result={"code": str(value)})
                found.append((value, Point(ran=(ran,))))
    return tuple(found)


def _filled(glob: object) -> object:
    return glob.replace("*", "q7").replace("?", "q") if isinstance(glob, str) else glob


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
