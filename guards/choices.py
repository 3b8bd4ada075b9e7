"""Values that a policy leaves open and the user's last message does not: see `chosen.py`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from .chosen import Chosen, Option, chosen_in, options
from .conditions import Requirement, as_number, values_at
from .counted import UNITS
from .dates import Day, day_of
from .flow import MONEY, Facts
from .naming import is_number_of
from .normalise import Examined
from .outputs import leaves
from .tokens import subjects
from .unnamed import Tree, unnamed_numbers, unnamed_texts

Place = str
"""`file:line`."""

_COUNTING = frozenset({"quantity", "qty"})
_SHARE = 100
_MOST = 100
_LONGEST_DATE = 40


@dataclass(frozen=True, slots=True)
class Open:
    """A range or a list that a policy asks of an argument."""

    required: Requirement
    place: Place
    listed: tuple[Option, ...]
    names: frozenset[str]
    """What a number here is called."""

    def differs(self, value: Any, chosen: Chosen, facts: Facts) -> bool:
        """Whether the message says another value than this one."""
        if isinstance(value, str) and self.listed:
            given = [option for option in self.listed if option.value == value]
            others = [o for o in self.listed if o.binds and o.value != value]
            return bool(given) and any(map(chosen.says, others)) and not _said(given[0], facts)
        return _another_number(value, self.names, chosen, facts)


def opened(demands: Iterable[tuple[Requirement, Place]]) -> tuple[Open, ...]:
    """The requirements that leave something open."""
    found = []
    for required, place in demands:
        tests = [test.source for test in required.tests]
        listed = options(item for test in tests for item in test.in_ or ())
        ranged = any(test.max is not None or test.min is not None for test in tests)
        names = _names(required.path[-1], required.path[:-1]) if ranged else frozenset[str]()
        if any(test.max == _SHARE for test in tests):
            names |= {"percent"}
        if listed or names:
            found.append(Open(required, place, listed, names))
    return tuple(found)


def other_than_said(
    call: Examined, facts: Facts, left: tuple[Open, ...], tree: Tree, default: Place
) -> Iterator[tuple[str, Any, Place]]:
    """The arguments (path, value, what leaves it open) for which the user's last message says
    another value."""
    message = facts.ledger.last_message
    chosen = chosen_in(message) if message else None
    if chosen is None:
        return
    for one in left:
        required = one.required
        for path, value in values_at(call.arguments, required.path, but=required.but):
            if one.differs(value, chosen, facts) and not required.flows(value, facts):
                yield path, value, one.place
    if not chosen.numbers and not chosen.days:
        return
    unnamed = [*unnamed_numbers(call.arguments, tree), *unnamed_texts(call, tree)]
    for path, text in unnamed if chosen.numbers else ():
        steps = [step.partition("[")[0] for step in path.split(".")]
        if _another_number(text, _names(steps[-1], steps[:-1]), chosen, facts):
            yield path, text, default
    dated = [(path, text) for path, text in unnamed if _day(text)] if chosen.days else []
    if dated and not _on_a_day(call, chosen, facts):
        yield *dated[0], default


def _names(field: str, above: Iterable[str]) -> frozenset[str]:
    """What a number is called: by its field, or where that says nothing (`value`), by what holds
    it."""
    if is_number_of(field):
        return frozenset()
    found = subjects(field) or frozenset().union(*map(subjects, above))
    return found - UNITS or found  # `minutes_before`: before what, and not how long


def _said(option: Option, facts: Facts) -> bool:
    """Whether a message of the user's names the value: what they wrote before still counts."""
    if option.phrase:
        return facts.ledger.stated(option.phrase)
    return facts.ledger.said(option.forms)


def _another_number(value: Any, names: frozenset[str], chosen: Chosen, facts: Facts) -> bool:
    number = as_number(value)
    if number is None:
        return False
    if names & _COUNTING:  # `the stock to 40`: so many as the tool speaks of
        names = names.union(*facts.about)
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
