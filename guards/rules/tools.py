"""Which tools may run, and with what arguments (version 2).

Threat: a tool that nobody thought of, or one that was, with values that nobody meant. An exact
name wins over a glob, a longer glob over a shorter; `default` is for tools that nothing names.
What blocks or asks matches every spelling of a name, what allows only its own.

    tools:
      "get_*": allow
      delete_file: ask
      send_money:
        requested: [pay, send, transfer]
        args: {amount: {max: 1000}, recipient: [known, {in: [DE89370400440532013000]}]}
        together: [recipient, amount]
        max_calls: 3
        callers: {roles: [accountant]}
        otherwise: ask

An entry with conditions also asks of every text argument that it does not name to be `clean`, and
of every number to be nothing private. A number of up to three digits that a tool gave is known only
to tools and arguments whose names speak of the same (`list_files`, `file_id`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Tag
from pydantic import Field as Limits

from ..caller import CallerTest
from ..conditions import Condition, requirement, steps_of
from ..entries import Conditions
from ..flow import Facts, holds_nothing_private
from ..json_parts import with_parts
from ..ledger import History
from ..names import bare_name, folded_name, glob_pattern, shown_name, spellings
from ..nearest import nearest
from ..normalise import Examined
from ..outputs import key_of
from ..redact import Redactor
from ..referring import without_references
from ..requests import requested
from ..shadow import Shadow
from ..tokens import subjects
from ..verdict import STRICTNESS, Finding, Word, strictest
from . import Check, Context, Name, Where

KEY = "tools"


class ToolEntry(BaseModel):
    """What a named tool's arguments must be, and what happens where they are not."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    requested: Annotated[list[Name], Limits(min_length=1)] | None = None
    """The user's own words contain one of these."""
    args: dict[Name, Condition | Annotated[list[Condition], Limits(min_length=1)]] = {}
    together: Annotated[list[Name], Limits(min_length=2)] | None = None
    """Arguments whose values stand in one message of the user or one trusted record."""
    at_most: Annotated[dict[Name, Name], Limits(min_length=1)] | None = None
    """`{amount: recipient}`: the number is not above every number that stands with the other
    argument's value in one message of the user or one trusted record."""
    max_calls: Annotated[int, Limits(ge=1)] | None = None
    """How often the tool may run in one run."""
    callers: CallerTest | None = None
    """On whose behalf the tool may run."""
    otherwise: Literal["block", "ask"] | None = None


def _form(value: object) -> str:
    if isinstance(value, list):
        return "ways"
    return "entry" if isinstance(value, dict | ToolEntry) else "word"


Ways = Annotated[list[ToolEntry], Limits(min_length=1)]
"""Entries of which one has to hold as a whole."""

Entry = Word | ToolEntry | list[ToolEntry]

Field = dict[
    Name,
    Annotated[
        Annotated[Word, Tag("word")]
        | Annotated[ToolEntry, Tag("entry")]
        | Annotated[Ways, Tag("ways")],
        Discriminator(_form),
    ],
]
DEFAULT: dict[str, Entry] = {}

MAX_NAMES = 4_096
"""Names of tools for which the entries that were found are kept."""


@dataclass(frozen=True, slots=True)
class Row:
    """One compiled entry: a word, or (`ways`) conditions of which one set has to hold."""

    name: str
    word: Word
    place: str
    ways: tuple[tuple[Conditions, Word], ...] = ()
    """Each with what happens where it does not hold."""


@dataclass(frozen=True, slots=True)
class ToolTable:
    """The entries of `tools`, by how exactly they name a tool."""

    exact: Mapping[str, Row]
    globs: tuple[tuple[Any, Row], ...]
    """Longest first."""
    default: Row
    whole: ToolTable | None = None
    """The table with the entries in shadow, where this is what is left without them."""
    found: dict[str, tuple[Row, ...]] = field(default_factory=dict, repr=False)
    """What `rows` gave, by name."""

    def rows(self, name: str) -> tuple[Row, ...]:
        """The entry for the tool and, where it is stricter, that of another spelling's name."""
        found = self.found.get(name)
        if found is None:
            found = self._look_up(name)
            if len(self.found) < MAX_NAMES:
                self.found[name] = found
        return found

    def _look_up(self, name: str) -> tuple[Row, ...]:
        own = list(self._matching(name))
        rows = self._best(own) or [self._unnamed(name)]
        if name in self.exact:
            return tuple(rows)
        for text in spellings(name):
            others = [row for row in self._folded(text) if row not in own]
            rows += [row for row in self._best(others) if row.word != "allow" or row.ways]
        return tuple(dict.fromkeys(rows))

    def _unnamed(self, name: str) -> Row:
        if self.whole is not None and any(self.whole._matching(name)):
            return replace(self.default, word="allow")
        return self.default

    def enforced(self, shadow: Shadow) -> ToolTable:
        """What is left without the entries in shadow.

        A tool that an entry in shadow names, and no other, may run: `default` is for tools that
        nothing names. Where an enforced entry names it as well, that one counts.
        """
        exact = {name: row for name, row in self.exact.items() if not _held(row, shadow)}
        globs = tuple(glob for glob in self.globs if not _held(glob[1], shadow))
        default = self.default
        if shadow.holds("default"):
            default = replace(default, word="allow")
        return ToolTable(exact, globs, default, self)

    @property
    def names(self) -> list[str]:
        """The names of its entries."""
        return [*self.exact, *(row.name for _, row in self.globs)]

    def _matching(self, name: str) -> Iterator[Row]:
        row = self.exact.get(name)
        if row is not None:
            yield row
        yield from (row for pattern, row in self.globs if pattern.fullmatch(name))

    def _folded(self, text: str) -> Iterator[Row]:
        bare = bare_name(text)
        yield from (r for name, r in self.exact.items() if bare_name(folded_name(name)) == bare)
        for _, row in self.globs:
            if glob_pattern(folded_name(row.name)).fullmatch(text):
                yield row

    def near(self, name: str) -> str:
        """The entries that let a tool run and are most like this name; if there are none, those
        that ask."""
        if self.whole is not None:
            return self.whole.near(name)
        rows = [*self.exact.values(), *(row for _, row in self.globs)]
        found = nearest(name, (row.name for row in rows if row.word in ("allow", "redact")))
        asked = nearest(name, (row.name for row in rows if row.word == "ask"))
        return found or (asked and f"{asked}, once a person approves") or "no tool"

    @staticmethod
    def _best(rows: list[Row]) -> list[Row]:
        """The most exact of them; of two globs of one length both, so that the stricter wins."""
        if not rows:
            return []
        if not _is_glob(rows[0].name):
            return rows[:1]
        return [row for row in rows if len(row.name) == len(rows[0].name)]


@dataclass(frozen=True, slots=True)
class Tools:
    """Says for each call what its tool's entry says."""

    table: ToolTable
    redactor: Redactor
    me: frozenset[str] = frozenset()
    rule: str = KEY

    @property
    def parts(self) -> list[str]:
        """The entries by name, and `default`."""
        return ["default", *(f"{KEY}.{name}" for name in self.table.names)]

    def enforced(self, shadow: Shadow) -> Tools:
        """The same without the entries in shadow."""
        return replace(self, table=self.table.enforced(shadow))

    def __call__(self, call: Examined, history: History) -> Iterable[Finding]:
        rows = self.table.found.get(call.name) or self.table.rows(call.name)
        if history.granted and call.name in history.granted:
            rows = tuple(row for row in rows if row is not self.table.default)
        if len(rows) == 1 and rows[0].word in ("allow", "redact"):
            return self._ways(rows[0], call, history) if rows[0].ways else ()
        return self._findings(call, history, rows)

    def wishes(self, name: str) -> list[str]:
        """The words of the wishes that a call of this tool carries out."""
        wanted = [way.requested for row in self.table.rows(name) for way, _ in row.ways]
        return list(dict.fromkeys(word for one in wanted if one for word in one.words))

    def arguments(self, name: str) -> set[str]:
        """The arguments of this tool of which something is asked."""
        ways = [way for row in self.table.rows(name) for way, _ in row.ways]
        return {argument for way in ways for argument in way.asked}

    def _findings(
        self, call: Examined, history: History, rows: tuple[Row, ...]
    ) -> Iterator[Finding]:
        tool = shown_name(call.name)
        for row in rows:
            rule = f"{KEY}.{row.name}" if row.name else "default"
            if row.word == "block":
                denied = f"tool {tool} is denied"
                unnamed = f"tool {tool} is not on the allowlist: no entry of `tools` names it"
                allowed = self.table.near(call.name)
                reason = denied if row.name else unnamed
                yield Finding(rule, "block", reason, row.place, allowed=allowed)
            elif row.word == "ask":
                reason = f"tool {tool} needs approval"
                allowed = "each call that a person approves"
                yield Finding(rule, "ask", reason, row.place, allowed=allowed, rests_on=())
            if row.ways:
                yield from self._ways(row, call, history)

    def _ways(self, row: Row, call: Examined, history: History) -> Iterable[Finding]:
        """Nothing where one way holds; else what is wrong with the one that comes closest."""
        ledger, about = history.ledger, (subjects(call.name),)
        clear = holds_nothing_private(call, ledger)
        beside = None
        if not clear and (rest := without_references(call, ledger)) is not call:
            clear, beside = holds_nothing_private(rest, ledger), rest
        facts = Facts(ledger, self.me, False, about, history.caller, call.decoded, clear, beside)
        closest: list[Finding] = []
        for conditions, otherwise in row.ways:
            if conditions.deep and (opened := with_parts(call, conditions.tree)) is not call:
                one = replace(row, ways=((conditions, otherwise),))
                found = list(self._ways(one, opened, history))
            else:
                failures = conditions.failures(call, history, facts)
                if not failures:
                    return ()
                found = [f.finding(row.name, otherwise, history, self.redactor) for f in failures]
            if not found:
                return ()
            if not closest or _strictness(found) < _strictness(closest):
                closest = found
        return closest


def _strictness(findings: list[Finding]) -> tuple[int, int]:
    return STRICTNESS[strictest(findings)], len(findings)


def _is_glob(name: str) -> bool:
    return "*" in name or "?" in name


def _held(row: Row, shadow: Shadow) -> bool:
    return shadow.holds(f"{KEY}.{row.name}")


def tool_table(
    value: Mapping[str, Entry], where: Where, *, default: Word, otherwise: Word
) -> ToolTable:
    """The compiled entries."""
    exact: dict[str, Row] = {}
    globs: list[tuple[Any, Row]] = []
    for name, entry in value.items():
        row = _row(name, entry, where, otherwise)
        if _is_glob(name):
            globs.append((glob_pattern(name), row))
        else:
            exact[name] = row
    globs.sort(key=lambda g: (-len(g[1].name), -STRICTNESS[g[1].word], g[1].name))
    return ToolTable(exact, tuple(globs), Row("", default, where()))


def _row(name: str, entry: Entry, where: Where, otherwise: Word) -> Row:
    if isinstance(entry, str):
        return Row(name, entry, where(name))
    if isinstance(entry, ToolEntry):
        ways = [_way(entry, where, (name,))]
    else:
        ways = [_way(way, where, (name, number)) for number, way in enumerate(entry)]
    listed = [entry] if isinstance(entry, ToolEntry) else entry
    words = [way.otherwise or otherwise for way in listed]
    return Row(name, "allow", where(name), tuple(zip(ways, words, strict=True)))


def _way(entry: ToolEntry, where: Where, at: tuple[str | int, ...]) -> Conditions:
    requirements = tuple(
        (requirement(path, conditions, entry.args), where(*at, "args", path))
        for path, conditions in entry.args.items()
    )
    given = ("requested", "max_calls", "together", "at_most", "callers")
    return Conditions(
        requirements=requirements,
        requested=requested(map(str, entry.requested)) if entry.requested else None,
        max_calls=entry.max_calls,
        callers=entry.callers,
        together=tuple(steps_of(path) for path in entry.together or ()),
        at_most=tuple((steps_of(a), steps_of(b)) for a, b in (entry.at_most or {}).items()),
        many=_is_glob(str(at[0])),
        default=where(*at),
        places={key: where(*at, key) for key in given if getattr(entry, key) is not None},
    )


def build(value: dict[str, Entry], where: Where, context: Context) -> Check | None:
    """The check; None where the file has no `tools`.

    Raises:
        ValueError: in a version 1 file.
    """
    if KEY not in context.given:
        return None
    if context.version < 2:
        raise ValueError("`tools` needs `version: 2`")
    me = frozenset(map(key_of, context.values.get("me") or ()))
    return Tools(_table(value, where, context), context.redactor, me)


def _table(value: Mapping[str, Entry], where: Where, context: Context) -> ToolTable:
    return tool_table(
        value,
        where,
        default=context.values.get("default", "block"),
        otherwise=context.values.get("otherwise", "block"),
    )


def redacted_tools(context: Context) -> ToolTable | None:
    """The table, where some tool's verdict is `redact`; None otherwise."""
    value: Mapping[str, Entry] = context.values.get(KEY) or {}
    if "redact" not in value.values():
        return None
    return _table(value, lambda *_: "", context)
