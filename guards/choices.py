"""Values that a policy leaves open and the user's last message does not: see `chosen.py`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, islice, repeat
from typing import Any

from .chosen import Chosen, Option, chosen_in, options
from .conditions import Requirement, as_number, values_at
from .counted import UNITS
from .dates import Day, day_of, month_of
from .flow import MONEY, Facts
from .naming import field_words, is_number_of
from .normalise import Examined
from .outputs import creates, leaves
from .sums import in_major
from .tokens import inflected, subjects
from .unnamed import Tree, unnamed_numbers

Place = str
"""`file:line`."""

_COUNTING = frozenset({"quantity", "qty"})
_SHARE = 100
_MOST = 100
_LONGEST_DATE = 40


@dataclass(frozen=True, slots=True, eq=False)
class Open:
    """A range or a list that a policy asks of an argument."""

    required: Requirement
    place: Place
    listed: tuple[Option, ...]
    names: frozenset[str]
    """What a number here is called."""
    name: str
    """The argument, where it is a whole one."""
    matched: bool = False
    """Whether a pattern leaves open which day or month it is."""

    def differs(self, value: Any, chosen: Chosen, facts: Facts) -> bool:
        """Whether the message says another value than this one."""
        if isinstance(value, str) and self.listed:
            given = [option for option in self.listed if option.value == value]
            others = [o for o in self.listed if o.binds and o.value != value]
            return bool(given) and any(map(chosen.says, others)) and not _said(given[0], facts)
        if self.matched and isinstance(value, str) and _another_day(value, chosen, facts):
            return True
        return bool(self.names) and _another_number(value, self.names, chosen, facts)


def _another_day(value: str, chosen: Chosen, facts: Facts) -> bool:
    """Whether the message says days or months, and not this one, which nobody else wrote."""
    month, day = _when(value) if len(value) <= _LONGEST_DATE else (0, None)
    if month:
        return bool(chosen.months) and month not in chosen.months
    if day is None or not chosen.days or day[1:] in chosen.days:
        return False
    return not facts.ledger.dated(day)


@lru_cache(maxsize=1_024)
def _when(value: str) -> tuple[int, Day | None]:
    """The month that a value is, or its day."""
    return month_of(value), _day(value)


@lru_cache(maxsize=1_024)
def _spoken_of(one: Open, about: tuple[frozenset[str], ...], tool: str) -> Open:
    """The requirement in a call that speaks of this: what it speaks of anyway chooses nothing."""
    subject = frozenset(chain.from_iterable(map(inflected, chain.from_iterable(about))))
    does = field_words(tool.rpartition("__")[2])[:1]  # behind a server's name
    verb = frozenset[str]().union(*map(inflected, does))
    listed = tuple(option.without(subject, verb) for option in one.listed)
    return replace(one, listed=listed) if listed != one.listed else one


@lru_cache(maxsize=1_024)
def _laid_down(
    one: Open, chosen: Chosen, about: tuple[frozenset[str], ...]
) -> frozenset[Any] | None:
    """Values that are surely as the message says; None where it says nothing of the argument."""
    if any(option.binds and chosen.says(option) for option in one.listed):
        return frozenset(option.value for option in one.listed if chosen.says(option))
    if one.matched and (chosen.months or chosen.days):
        return frozenset()
    names = _counted_by(one.names, about)
    money = not names.isdisjoint(MONEY)
    numbers = chosen.said_of(names)
    if not numbers and money:
        numbers = frozenset(round(n / in_major(1, names), 6) for n in chosen.sums)
    if not numbers and not (money and chosen.cap < math.inf):
        return None
    return frozenset(n for n in numbers if in_major(n, names) <= chosen.cap or not money)


def opened(
    demands: Iterable[tuple[Requirement, Place]], asked_with: Set[str] = frozenset()
) -> tuple[Open, ...]:
    """The requirements that leave something open. What is on a list and among the words with which
    the tool is asked for is a choice, however short (`buy`, `sell`)."""
    found = []
    for required, place in demands:
        tests = [test.source for test in required.tests]
        listed = tuple(
            option if option.forms.isdisjoint(asked_with) else replace(option, binds=True)
            for option in options(item for test in tests for item in test.in_ or ())
        )
        ranged = any(
            test.max is not None
            or test.min is not None
            or any(as_number(item) is not None for item in test.in_ or ())
            for test in tests
        )
        names = _names(required.path[-1], required.path[:-1]) if ranged else frozenset[str]()
        if any(test.max == _SHARE for test in tests):
            names |= {"percent"}
        matched = any(test.match is not None for test in tests)
        if listed or names or matched:
            name = required.path[0] if len(required.path) == 1 and not required.but else ""
            found.append(Open(required, place, listed, names, name, matched))
    return tuple(found)


def other_than_said(
    call: Examined,
    facts: Facts,
    left: tuple[Open, ...],
    tree: Tree,
    default: Place,
    digits: Sequence[tuple[str, str]],
) -> Iterator[tuple[str, Any, Place]]:
    """The arguments (path, value, what leaves it open) for which the user's last message says
    another value. `digits`: the texts that nothing names and that begin like a number."""
    message = facts.ledger.last_message
    if not message:
        return
    chosen = chosen_in(message, adds=creates(call.name))
    for one in map(_spoken_of, left, repeat(facts.about), repeat(call.name)):
        sure = _laid_down(one, chosen, facts.about)
        if sure is None:
            continue
        value = call.arguments.get(one.name) if one.name else None
        if type(value) in _PLAIN and (value in sure or not one.differs(value, chosen, facts)):
            continue  # by far the most common, and here without a walk
        required = one.required
        for path, item in values_at(call.arguments, required.path, but=required.but):
            if one.differs(item, chosen, facts) and not required.flows(item, facts):
                yield path, item, one.place
    if chosen.numbers:
        numbers = unnamed_numbers(call.arguments, tree) if call.numbers else []
        for path, text in (*numbers, *digits):
            names = _names_at(path)
            if names and _another_number(text, names, chosen, facts):
                yield path, text, default
    dated = [(path, text) for path, text in digits if _day(text)] if chosen.days else []
    if dated and not _on_a_day(call, chosen, facts):
        yield *dated[0], default


_PLAIN = frozenset({int, float, str})


@lru_cache(maxsize=4_096)
def _names_at(path: str) -> frozenset[str]:
    steps = [step.partition("[")[0] for step in path[-_LONGEST_PATH:].split(".")]
    return _names(steps[-1], steps[:-1])


_LONGEST_PATH = 200
_ALL = frozenset({"total"})
_DAY_OF_MONTH = frozenset({"day", "month"})


def _names(field: str, above: Iterable[str]) -> frozenset[str]:
    """What a number is called: by its field, or where that says nothing (`value`), by what holds
    it."""
    if is_number_of(field):
        return frozenset()
    found = subjects(field) or frozenset().union(*map(subjects, above))
    if field[-1:] == "s" and found - _ALL and MONEY.isdisjoint(found - _ALL):
        found -= _ALL  # `total_guests` are no sum of money
    if found >= _DAY_OF_MONTH:
        return frozenset({"day"})
    return found - UNITS or found  # `minutes_before`: before what, and not how long


def _said(option: Option, facts: Facts) -> bool:
    """Whether a message of the user's names the value: what they wrote before still counts."""
    if option.phrase and facts.ledger.stated(option.phrase):
        return True
    return facts.ledger.said(option.forms)


def _counted_by(names: frozenset[str], about: tuple[frozenset[str], ...]) -> frozenset[str]:
    """For a quantity also what the tool speaks of: `the stock to 40`."""
    return names.union(*about) if names & _COUNTING else names


def _another_number(value: Any, names: frozenset[str], chosen: Chosen, facts: Facts) -> bool:
    number = as_number(value)
    if number is None:
        return False
    names = _counted_by(names, facts.about)
    if not chosen.others(number, names, money=not names.isdisjoint(MONEY)):
        return False
    return not replace(facts, about=(*facts.about, names)).holds("known", f"{number:.10g}")


def _day(text: str) -> Day | None:
    return day_of(text) if text[:1].isdigit() and len(text) < _LONGEST_DATE else None


def _on_a_day(call: Examined, chosen: Chosen, facts: Facts) -> bool:
    """Whether a date of the call is on a day that the message says, in whatever year, or that is
    known: of a beginning and an end, one may be computed."""
    given = map(_day, islice(leaves(call.arguments, keys=False), _MOST))
    return any(day[1:] in chosen.days or facts.ledger.dated(day) for day in given if day)
