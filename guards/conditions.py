"""Conditions on one argument of a call.

A condition says what an argument must be for its tool to run; what does not clearly hold fails.
Positive conditions see what will happen, too: `match`, `hosts` and `under` hold only where they
hold for the value and for every decoded view of it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from .arguments import MAX_DEPTH
from .caller import NOBODY, OWN_VALUES, Caller, variable_fault
from .destinations import destinations
from .encodings import every_view
from .fields import Kind
from .flow import HOLDS, WISHES, Facts, FlowWord
from .hosts import HostList
from .outputs import leaves
from .paths import folder_fault, lies_under
from .patterns import compile_pattern, searchable
from .tokens import subjects

Scalar = str | int | float | bool
Words = Annotated[str, Field(min_length=1)]

_NUMBER = re.compile(r"\s*[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?\s*\Z")


def _compiles(pattern: str) -> str:
    compile_pattern(pattern)
    return pattern


def _value(item: Scalar) -> Scalar:
    fault = variable_fault(item, OWN_VALUES)
    if fault:
        raise ValueError(fault + ("; `mine` is the condition for `me`" if item == "$me" else ""))
    return item


def _hosts(entries: str | list[str]) -> str | list[str]:
    HostList(_listed(entries))
    return entries


def _folders(entries: str | list[str]) -> str | list[str]:
    for fault in filter(None, map(folder_fault, _listed(entries))):
        raise ValueError(fault)
    return entries


class Test(BaseModel):
    """`{max, min}` `{in}` `{match}` `{hosts}` `{under}`: all that are written must hold."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, populate_by_name=True, json_schema_extra={"minProperties": 1}
    )
    __test__ = False

    max: int | float | None = None
    min: int | float | None = None
    in_: Annotated[list[Annotated[Scalar, AfterValidator(_value)]] | None, Field(alias="in")] = None
    """`$user` and `$tenant` stand for the caller's."""
    match: Annotated[str, AfterValidator(_compiles)] | None = None
    hosts: Annotated[str | list[str], AfterValidator(_hosts)] | None = None
    under: Annotated[Words | list[Words], AfterValidator(_folders)] | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Test:
        if not self.model_fields_set:
            raise ValueError("an empty condition; write one of max, min, in, match, hosts, under")
        if self.max is not None and self.min is not None and self.max < self.min:
            raise ValueError("max is less than min: no value can be in this range")
        return self


Condition = FlowWord | Literal["any", "ask"] | Test
"""What may stand behind an argument path; a list of them is any-of."""

NOTHING_SEEN = Facts()


@dataclass(frozen=True, slots=True)
class Requirement:
    """A compiled condition list of one argument. `asks`: a person may decide what fails."""

    path: tuple[str, ...]
    anything: bool
    asks: bool
    tests: tuple[CompiledTest, ...]
    words: tuple[str, ...] = ()
    """The conditions that need the past."""
    about: frozenset[str] = frozenset()
    """What the argument's name speaks of."""
    knows: bool = False
    """Whether being known is enough."""
    name: str = ""
    """The argument, where it is a whole one that a word is said of."""
    but: frozenset[str] = frozenset()
    """Parts that have a condition of their own where the path says `*`."""

    def spelt(self, name: str) -> Requirement:
        """The same of an argument that is called so."""
        return replace(self, path=(name, *self.path[1:]), name=name if self.name else "")

    def but_for(self, names: Iterable[str]) -> Requirement:
        """The same, where these have a condition of their own, too."""
        return replace(self, but=self.but.union(names)) if self.path[0] == EVERY else self

    def failures(
        self, arguments: dict[str, Any], facts: Facts = NOTHING_SEEN
    ) -> Iterable[tuple[str, Any]]:
        """Where (path) which value fails every condition; nothing where the argument is absent.

        What is None is absent: a schema fills it in for what was left out.
        """
        if self.anything:
            return ()
        if self.name:  # the common case is decided without a walk
            value = arguments.get(self.name)
            if type(value) is str:
                sure = self.knows and facts.ledger.surely_known(value)
                if sure or self._one_holds(value, facts):
                    return ()
            elif type(value) is list and self._texts_hold(value, facts):
                return ()
        return self._failures(arguments, facts)

    def _failures(self, arguments: dict[str, Any], facts: Facts) -> Iterator[tuple[str, Any]]:
        for path, value in values_at(arguments, self.path, but=self.but):
            if value is None or any(test.holds(value, facts.caller) for test in self.tests):
                continue
            if not self.flows(value, facts):
                yield path, value

    def _texts_hold(self, values: list[Any], facts: Facts) -> bool:
        """Whether a list holds nothing but texts, for each of which a condition holds."""
        for item in values:
            if type(item) is not str or not self._one_holds(item, facts):
                return False
        return True

    def _one_holds(self, text: str, facts: Facts) -> bool:
        if not text:
            return True
        for word in self.words:
            if HOLDS[word](facts, text) and not (
                facts.encoded and word == "clean" and _stained(text, facts)
            ):
                return True
        return False

    def flows(self, value: Any, facts: Facts) -> bool:
        """Whether a condition that needs the past holds for the value, for every leaf of it."""
        if value is ABSENT or not self.words:
            return False
        if isinstance(value, bool):
            return True
        if isinstance(value, str):
            return self._one_holds(value, facts)
        if isinstance(value, int | float) and not _SAID.isdisjoint(self.words):
            number = as_number(value)
            if number is not None and facts.ledger.stated_amount(number):
                return True
        return all(self._one_holds(text, facts) for text in _texts_of(value))

    @property
    def wish(self) -> str:
        """What the argument must be, in words: of what kind, and not which values would do.

        The model reads it. A bound or a folder helps it to do it right; a list of hosts or values,
        or the words that the user has to write, would tell whoever steers it what to choose.
        """
        parts = [WISHES[word] for word in self.words] + [test.wish for test in self.tests]
        return " or ".join(parts) or "approved by a person"

    def allowed(self, caller: Caller) -> str:
        """What the argument must be, whole: for people."""
        parts = [WISHES[word] for word in self.words]
        parts += [test.allowed(caller) for test in self.tests]
        return " or ".join([*parts, *(["approved by a person"] if self.asks else [])])


@dataclass(frozen=True, slots=True)
class CompiledTest:
    """A `Test` ready to be asked."""

    source: Test
    pattern: Any
    hosts: HostList | None
    folders: tuple[str, ...]

    def holds(self, value: Any, caller: Caller = NOBODY) -> bool:
        """Whether every part of the test holds for one value."""
        test = self.source
        if test.max is not None or test.min is not None:
            number = as_number(value)
            if number is None:
                return False
            if test.max is not None and number > test.max:
                return False
            if test.min is not None and number < test.min:
                return False
        if test.in_ is not None and not any(_same(value, i, caller) for i in test.in_):
            return False
        if test.match is None and test.hosts is None and test.under is None:
            return True
        if not isinstance(value, str | int | float) or isinstance(value, bool):
            return False
        return all(self._holds_for(text) for text in every_view(str(value)))

    def _holds_for(self, text: str) -> bool:
        if self.pattern is not None and self.pattern.fullmatch(searchable(text)) is None:
            return False
        if self.hosts is not None:
            found = list(destinations(text, Kind.URL | Kind.HOST | Kind.MAIL))
            if not found or not all(d.host and d.host in self.hosts for d in found):
                return False
        return not self.folders or any(lies_under(text, folder) for folder in self.folders)

    @property
    def wish(self) -> str:
        """The test in words, without what it lists."""
        return self._said("one of the listed values", "of the required form", "on a listed host")

    def allowed(self, caller: Caller) -> str:
        """The test in words."""
        test = self.source
        values = ", ".join(_told(item, caller) for item in (test.in_ or [])[:_LISTED])
        more = len(test.in_ or []) - _LISTED
        values += f" and {more} more" if more > 0 else ""
        hosts = _either((_listed(test.hosts) if test.hosts is not None else [])[:_LISTED])
        return self._said(f"one of {values}", f"as {test.match} says", f"on {hosts}")

    def _said(self, values: str, form: str, hosts: str) -> str:
        test = self.source
        parts = [
            f"at least {test.min}" if test.min is not None else "",
            f"at most {test.max}" if test.max is not None else "",
            values if test.in_ is not None else "",
            form if test.match is not None else "",
            hosts if test.hosts is not None else "",
            f"under {_either(test.under)}" if test.under is not None else "",
        ]
        return " and ".join(part for part in parts if part)


_LISTED = 5
"""Values and hosts of a list that are named."""

_SAID = frozenset({"stated", "known"})

ABSENT = object()
"""A path that leads through something that has no parts."""


PLAIN_NAME = re.compile("[A-Za-z_]+")
"""A name of an argument in which nothing can hide."""


def _texts_of(value: Any) -> Iterator[str]:
    """Every text and number of an argument, however deep, and the names in it that could say more
    than a name does."""
    yield from leaves(value, depth=MAX_DEPTH)
    yield from _odd_names(value)


def _odd_names(value: Any) -> Iterator[str]:
    """The names in it that are no plain ones."""
    if isinstance(value, dict):
        yield from (name for name in value if PLAIN_NAME.fullmatch(name) is None)
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _odd_names(item)


def values_at(
    value: Any, path: Sequence[str], shown: str = "", *, but: frozenset[str] = frozenset()
) -> Iterator[tuple[str, Any]]:
    """Every value at `path`, through lists; `ABSENT` where a text or number is in the way. `*` in
    it is every part save those of `but`."""
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from values_at(item, path, f"{shown}[{number}]", but=but)
    elif not path:
        yield shown, value
    elif isinstance(value, dict):
        every = path[0] == EVERY
        for name in [n for n in value if n not in but] if every else path[:1]:
            if name in value:
                below = f"{shown}.{name}" if shown else name
                if every and _PART.fullmatch(name) is None:
                    yield below, name  # a name that could say more than a name does
                yield from values_at(value[name], path[1:], below, but=but)
    elif value is not None:
        yield shown, ABSENT


_PART = re.compile("[A-Za-z_]{1,30}[0-9]{0,2}")
"""A name of a part of an object, as a schema has it."""

EVERY = "*"
"""A step of a path: whatever stands there under any name."""


def as_number(value: Any) -> float | None:
    """The number that a tool would take the value for; None if it is none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, str):
        value = float(value) if len(value) < 400 and _NUMBER.match(value) else None
    return value if isinstance(value, float) and math.isfinite(value) else None


def _same(value: Any, item: Scalar, caller: Caller) -> bool:
    """Equal, and of the same kind: true is not 1. Nobody's value is equal to nothing."""
    if item in OWN_VALUES:
        item = caller.own(str(item))
        return bool(item) and type(value) is str and value == item
    return value == item and isinstance(value, bool) == isinstance(item, bool)


def _told(item: Scalar, caller: Caller) -> str:
    """A listed value; of the caller's own, which one that is."""
    return f"{caller.own(str(item)) or 'nobody'} ({item})" if item in OWN_VALUES else str(item)


def _stained(text: str, facts: Facts) -> bool:
    """Whether a decoded view of a text is not clean, though the text is."""
    return not all(facts.holds("clean", view) for view in every_view(text))


def _listed(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def _either(value: str | list[str]) -> str:
    return " or ".join(_listed(value))


def steps_of(path: str) -> tuple[str, ...]:
    """An argument path as a policy writes it (`cc[*].email`), step by step."""
    return tuple(step for step in re.split(r"\.|\[\*?\]", path) if step)


def requirement(
    path: str, conditions: Condition | list[Condition], others: Iterable[str] = ()
) -> Requirement:
    """The compiled form of what a policy says of one argument path beside `others`."""
    listed = conditions if isinstance(conditions, list) else [conditions]
    tests = tuple(_compiled(c) for c in listed if isinstance(c, Test))
    steps = steps_of(path)
    words = tuple(c for c in listed if isinstance(c, str) and c in WISHES)
    about = subjects(path)
    name = steps[0] if len(steps) == 1 and steps[0] != EVERY and words else ""
    but = _named_beside(steps, map(steps_of, others)) if EVERY in steps else frozenset()
    asks, knows = "ask" in listed, "known" in words
    return Requirement(steps, "any" in listed, asks, tests, words, about, knows, name, but)


def _named_beside(steps: tuple[str, ...], others: Iterable[tuple[str, ...]]) -> frozenset[str]:
    """What other paths name where this one says `*`: the more exact name wins."""
    at = steps.index(EVERY)
    beside = (o for o in others if len(o) > at and o[:at] == steps[:at])
    return frozenset(o[at] for o in beside) - {EVERY}


def _compiled(test: Test) -> CompiledTest:
    return CompiledTest(
        test,
        compile_pattern(test.match) if test.match is not None else None,
        HostList(_listed(test.hosts)) if test.hosts is not None else None,
        tuple(_listed(test.under)) if test.under is not None else (),
    )
