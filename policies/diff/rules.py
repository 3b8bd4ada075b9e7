"""What each rule of a policy lets through of one tool's calls, at one level of strictness.

A level is the word that a verdict must stay below: at `block` a rule that asks lets everything
through, at `ask` it lets nothing through. Each rule comes to boxes (`boxes.py`), of which a call
has to be in one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from ...guards.conditions import EVERY, steps_of
from ...guards.entries import Conditions
from ...guards.names import ForbiddenNames
from ...guards.outputs import speaks_of, tool_globs
from ...guards.rules import rule_modules
from ...guards.rules.tools import Row, ToolEntry
from ...guards.verdict import STRICTNESS, Word
from .amounts import Below, Times
from .boxes import Aspect, Box, Demand
from .callers import Called
from .found import Place
from .order import gates_of
from .plain import as_text
from .points import Path
from .side import Side
from .texts import Listed, NoSecret, NothingPrivate, Without
from .wanted import Clean, Wanted
from .wishes import AtMost, Together, Wish

BLOCK, ASK, REDACT = STRICTNESS["block"], STRICTNESS["ask"], STRICTNESS["redact"]

SHUT: tuple[Box, ...] = ()
"""Nothing is let through."""


@dataclass(frozen=True, slots=True)
class Opaque:
    """What a rule of another package says: equal where it is written the same."""

    value: str

    @property
    def key(self) -> object:
        """The value, as JSON."""
        return self.value


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule, and the calls that it lets through."""

    place: Place
    boxes: tuple[Box, ...]


def paths_of(side: Side, name: str) -> frozenset[Path]:
    """The argument paths of which the entries for a tool say something."""
    return frozenset(
        required.path
        for row in side.rows(name)
        for way, _ in row.ways
        for required, _ in way.requirements
    )


def rules_of(side: Side, name: str, level: int, paths: frozenset[Path]) -> Iterator[Rule]:
    """Every rule of a policy that may object to a call of a tool, at a level."""
    if side.policy.shadow is not None and side.policy.shadow.whole:
        return
    yield from _named(side, name)
    yield from (_row(side, row, level, paths, name) for row in side.rows(name))
    yield from _texts(side, name, level)
    yield from _past(side, name, level)
    for key, value in others(side).items():
        yield Rule(Place(key, side.where(key)), ({("rule", key): Opaque(value)},))


KNOWN = frozenset(
    {
        *("tools", "tool_allowlist", "tool_denylist", "egress_allowlist", "secret_patterns"),
        *("arg_rules", "callers", "limits", "token_budget_per_session", "sequence", "private"),
        *("trust", "approvals", "results", "injection_phrases", "injection_threshold"),
        *("pii", "placeholders"),
    }
)
"""The rule kinds that are compared by what they mean. Of any other, the text has to be the same."""


def others(side: Side) -> Mapping[str, str]:
    """The rules of kinds that are not known here: what each says, as text."""
    return {
        key: as_text(side.values[key])
        for key, module in rule_modules().items()
        if key not in KNOWN
        and not side.holds(key)
        and (key in side.checks or side.values[key] != module.DEFAULT)
    }


def _named(side: Side, name: str) -> Iterator[Rule]:
    """Lists of names; the callers of a policy."""
    denied = [] if side.holds("tool_denylist") else side.listed("tool_denylist")
    number = ForbiddenNames(denied).find(name)
    if number is not None:
        yield Rule(Place("tool_denylist", side.where("tool_denylist", number)), SHUT)
    allowed = side.listed("tool_allowlist")
    if allowed and name not in allowed and not side.holds("tool_allowlist"):
        yield Rule(Place("tool_allowlist", side.where("tool_allowlist")), SHUT)
    test = side.values.get("callers")
    if test is not None and not side.holds("callers"):
        box: Box = {("caller",): Called(test)}
        yield Rule(Place("callers", side.where("callers")), (box,))


def _row(side: Side, row: Row, level: int, paths: frozenset[Path], name: str) -> Rule:
    """An entry of `tools`, or `default`."""
    place = place_of(side, row)
    if row.word in ("block", "ask") and STRICTNESS[row.word] >= level:
        return Rule(place, SHUT)
    entry = side.values["tools"].get(row.name)
    entries = entry if isinstance(entry, list) else [entry]
    boxes = tuple(
        _way(_for_verb(conditions, name, level), otherwise, level, paths, entry)
        for (conditions, otherwise), entry in zip(row.ways, entries, strict=False)
    )
    return Rule(place, boxes or ({},))


def _for_verb(way: Conditions, name: str, level: int) -> Conditions:
    """The same with the words that ask for what this tool does: with others, a person is asked."""
    if way.requested is None or not way.many or level == BLOCK:
        return way
    return replace(way, requested=way.requested.for_verb(name))


def place_of(side: Side, row: Row) -> Place:
    """Where an entry of `tools`, or what `default` says, stands."""
    if row.name:
        return Place(f"tools.{row.name}", row.place)
    given = isinstance(side.document.data, dict) and "default" in side.document.data
    return Place("default", side.where("default") if given else side.where("tools"))


def _way(
    way: Conditions, otherwise: Word, level: int, paths: frozenset[Path], entry: ToolEntry
) -> Box:
    """What one set of conditions demands. Where a condition fails that asks, a call is not blocked;
    only what the user never asked for is blocked in any case."""
    box: dict[Aspect, Demand] = {}
    if way.requested is not None:
        box["wish",] = Wish(way.requested, lasting=level < BLOCK)
    if STRICTNESS[otherwise] < level:
        return box
    doubts = level == BLOCK
    if way.callers is not None:
        box["caller",] = Called(way.callers)
    if way.max_calls is not None:
        box["calls",] = Times(way.max_calls)
    for required, _ in way.requirements:
        if required.asks and level == BLOCK:
            continue
        wanted = Wanted(required, doubts)
        box[("argument", *required.path)] = (
            Opaque(wanted.written) if EVERY in required.path else wanted
        )
    named = {required.path for required, _ in way.requirements}
    for path in paths - named:
        box[("argument", *path)] = _under(path, named, doubts)
    box["rest",] = Clean(doubts)
    if way.together:
        box["together",] = Together(tuple(steps_of(path) for path in entry.together or ()))
    for number, beside in way.at_most:
        box["at_most", ".".join(number), ".".join(beside)] = AtMost(number, beside)
    return box


def _under(path: Path, named: set[Path], doubts: bool) -> Demand:
    """What an entry demands of a path that it does not name: text is clean, unless what it says
    of a part or of the whole has a say, too."""
    entangled = sorted(p for p in named if _entangled(p, path))
    return Opaque(f"beside {entangled}") if entangled else Clean(doubts)


def _entangled(one: Path, two: Path) -> bool:
    """Whether one path is a part of the other; `*` stands for every name."""
    return all(a == b or EVERY in (a, b) for a, b in zip(one, two, strict=False))


def _texts(side: Side, name: str, level: int) -> Iterator[Rule]:
    """Rules on what stands in any argument."""
    if "egress_allowlist" in side.enforced:
        box: Box = {("host",): Listed(tuple(side.listed("egress_allowlist")))}
        yield Rule(Place("egress_allowlist", side.where("egress_allowlist")), (box,))
    for number, rule in enumerate(side.listed("arg_rules")):
        if side.holds(f"arg_rules.{rule.name}"):
            continue
        if "*" in rule.tools or ForbiddenNames(rule.tools).find(name) is not None:
            place = Place(f"arg_rules.{rule.name}", side.where("arg_rules", number))
            yield Rule(place, ({("pattern",): Without(rule.regex, frozenset(rule.args))},))
    patterns = [
        pattern
        for pattern in side.policy.redactor.patterns
        if not side.holds(f"secret_patterns.{pattern.name}")
    ]
    rows = side.rows(name)
    masked = bool(rows) and all(row.word == "redact" for row in rows)
    known = NoSecret(frozenset(p.regex for p in patterns), masked and level > REDACT)
    place = Place("secret_patterns", side.where("secret_patterns"))
    yield Rule(place, ({("secret",): known},))
    plain = not any(row.ways for row in rows)
    if side.private and plain and not speaks_of(tool_globs(side.private), name):
        box = {("private",): NothingPrivate(tuple(side.private))}
        yield Rule(Place("private", side.where("private")), (box,))


def _past(side: Side, name: str, level: int) -> Iterator[Rule]:
    """Rules on what went before."""
    limits = side.checks.get("limits")
    for limit in getattr(getattr(limits, "limits", None), "held", ()):
        place = Place(f"limits.{limit.scope}.{limit.amount}", limit.place)
        box: Box = {("used",): Below(limit.scope, limit.amount, limit.most)}
        yield Rule(place, (box,))
    budget = side.enforced.get("token_budget_per_session")
    if budget is not None:
        most = float(side.values["token_budget_per_session"])
        place = Place(budget.rule, side.where(budget.rule))
        box = {("used",): Below("thread", "tokens", most, plain=True)}
        yield Rule(place, (box,) if most else SHUT)
    gates = gates_of(side, name, level)
    if gates is not None:
        yield Rule(Place("sequence", side.where("sequence")), ({("order",): gates},))
