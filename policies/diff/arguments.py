"""What an argument may be: a value that the new policy takes and the old one does not.

Numbers, listed values, hosts and folders are told apart by finitely many values, which are all
tried. The words (`known`, `clean`) follow from each other as `COVERED` says, and for what does not
follow `flows.py` has a value and a past that tell it. Of a regular expression there are samples.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ...guards.conditions import CompiledTest, Requirement, Test, lies_under
from ...guards.flow import Facts
from ...guards.outputs import leaves
from .boxes import Aspect, Demand
from .hosts import host_between, linked, listed_name, telling_hosts
from .points import NONE, Path, Point, Tried
from .samples import samples

if TYPE_CHECKING:
    from .scene import Scene

COVERED: dict[str, tuple[frozenset[str], ...]] = {
    "stated": (frozenset({"stated"}), frozenset({"known"})),
    "known": (frozenset({"known"}), frozenset({"stated", "same_site"})),
    "created": tuple(map(frozenset, ({"created"}, {"known"}, {"same_site"}))),
    "mine": tuple(map(frozenset, ({"mine"}, {"known"}, {"same_site"}))),
    "same_site": (frozenset({"same_site"}),),
    "dated": (frozenset({"dated"}),),
    "words": (frozenset({"words"}),),
    "clean": (frozenset({"clean"}),),
}
"""For each word the sets of words of which one always holds where it does. A number that the user
wrote as a sum of money is `stated` and `known`, and on no site."""

BELIEVING = frozenset({"known", "same_site", "dated", "words", "clean", "created"})
"""Words that hang on what a policy believes of results."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an entry says of one argument. `doubts`: what a person has yet to agree to counts."""

    requirement: Requirement
    doubts: bool = False

    @property
    def key(self) -> object:
        """Its words and tests, in no order."""
        required = self.requirement
        tests = frozenset(test.source.model_dump_json() for test in required.tests)
        return (required.path, required.anything, tests, frozenset(required.words), self.doubts)

    def holds(self, value: Any, facts: Facts) -> bool:
        """Whether a value at the argument's path is as it says."""
        required = self.requirement
        arguments = nested(required.path, value)
        nearer = replace(facts, about=(*facts.about, required.about), doubts=self.doubts)
        return all(
            required.flows(found, nearer) for _, found in required.failures(arguments, facts)
        )


@dataclass(frozen=True, slots=True)
class Clean:
    """What is said of a text that no condition names."""

    doubts: bool = False

    @property
    def key(self) -> object:
        """The same in every entry."""
        return ("clean", self.doubts)

    def holds(self, value: Any, facts: Facts) -> bool:
        """Whether every text of the value is clean. A number is no text."""
        nearer = replace(facts, doubts=self.doubts)
        texts = [value] if isinstance(value, str) else []
        texts = list(leaves(value)) if isinstance(value, dict | list) else texts
        return not any(nearer.stain(text)[0] for text in texts)


def nested(path: Path, value: Any) -> dict[str, Any]:
    """Arguments in which the value stands at a path."""
    for step in reversed(path[1:]):
        value = {step: value}
    return {path[0]: value}


def search(
    scene: Scene, aspect: Aspect, inside: Sequence[Demand], outside: Sequence[Demand]
) -> Tried:
    """A value that all of `inside` takes and none of `outside` does."""
    path: Path = aspect[1:]
    if any(_covered(scene, demand, outside) for demand in inside):
        return NONE
    found = []
    for value, point in _candidates(scene, inside, outside):
        new, old = scene.facts(scene.new, point), scene.facts(scene.old, point)
        if all(_takes(demand, value, new) for demand in inside) and not any(
            _takes(demand, value, old) for demand in outside
        ):
            found.append(replace(point, arguments=((path, value),)))
    return Tried(tuple(found), what=_told(path, inside, outside))


def passing(scene: Scene, path: Path, demands: Sequence[Demand]) -> Iterator[Point]:
    """Values of an argument that the new policy takes."""
    for value, point in _candidates(scene, demands, ()):
        facts = scene.facts(scene.new, point)
        if all(_takes(demand, value, facts) for demand in demands):
            yield replace(point, arguments=((path, value),))


def _takes(demand: Demand, value: Any, facts: Facts) -> bool:
    return not isinstance(demand, Wanted | Clean) or demand.holds(value, facts)


def _covered(scene: Scene, demand: Demand, outside: Sequence[Demand]) -> bool:
    """Whether whatever `demand` takes is taken by some of `outside`."""
    if isinstance(demand, Clean):
        believes = scene.believes_no_more and scene.hides_no_less
        return believes and any(o.key == demand.key for o in outside)
    if not isinstance(demand, Wanted):
        return any(o.key == demand.key for o in outside)
    wanted = [o.requirement for o in outside if isinstance(o, Wanted)]
    if any(required.anything for required in wanted):
        return True
    if demand.requirement.anything:
        return False
    required = demand.requirement
    plainly = {*required.words} == {"clean"} and not required.tests
    if plainly and any(isinstance(o, Clean) for o in outside):
        return scene.believes_no_more and scene.hides_no_less
    words = {word for required in wanted for word in required.words}
    tests = [test for required in wanted for test in required.tests]
    return all(_follows(scene, word, words) for word in demand.requirement.words) and all(
        _implied(test, tests) or _exhausted(scene, test, demand, outside)
        for test in demand.requirement.tests
    )


def _follows(scene: Scene, word: str, words: set[str]) -> bool:
    """Whether a value that has the word in the new policy has one of the words in the old."""
    covers = [*COVERED[word]]
    if word == "known" and not scene.new.values.get("trust"):
        covers.append(frozenset({"stated", "created", *(["mine"] if scene.new.me else [])}))
    for cover in covers:
        if not cover <= words:
            continue
        if (BELIEVING & {word, *cover}) and not scene.believes_no_more:
            continue
        if word == "mine" and not scene.new.me <= scene.old.me:
            continue
        if word in ("clean", "words") and not scene.hides_no_less:
            continue
        return True
    return False


def _implied(test: CompiledTest, tests: Sequence[CompiledTest]) -> bool:
    return any(_implies(test.source, other.source) for other in tests)


def _implies(one: Test, other: Test) -> bool:
    """Whether what the one test takes the other does, part by part."""
    return (
        (other.max is None or (one.max is not None and one.max <= other.max))
        and (other.min is None or (one.min is not None and one.min >= other.min))
        and (other.in_ is None or (one.in_ is not None and _keys(one.in_) <= _keys(other.in_)))
        and (other.match is None or other.match == one.match)
        and (other.hosts is None or (one.hosts is not None and _same_hosts(one, other)))
        and (other.under is None or (one.under is not None and _lower(one, other)))
    )


def _same_hosts(one: Test, other: Test) -> bool:
    return not host_between([_several(one.hosts)], [_several(other.hosts)])


def _lower(one: Test, other: Test) -> bool:
    folders = _several(other.under)
    return all(any(lies_under(f, folder) for folder in folders) for f in _several(one.under))


def _keys(items: Sequence[Any]) -> set[tuple[bool, Any]]:
    return {(isinstance(item, bool), item) for item in items}


def _several(value: str | list[str] | None) -> list[str]:
    return [value] if isinstance(value, str) else list(value or [])


def _exhausted(scene: Scene, test: CompiledTest, demand: Wanted, outside: Sequence[Demand]) -> bool:
    """Whether every value that the test takes was tried, and none is outside."""
    tests = [t for o in outside if isinstance(o, Wanted) for t in o.requirement.tests]
    if test.source.match is not None or any(t.source.match is not None for t in tests):
        return False
    old = scene.facts(scene.old, Point(caller=scene.own_caller))
    own = {"$user": old.caller.user, "$tenant": old.caller.tenant}
    values = (own.get(v, v) if isinstance(v, str) else v for v in test_values([test, *tests]))
    return not any(
        test.holds(value, old.caller) and not any(_takes(o, value, old) for o in outside)
        for value in values
    )


def test_values(tests: Sequence[CompiledTest]) -> Iterator[Any]:
    """Values that stand for all which these tests tell apart, but for regular expressions."""
    sources = [test.source for test in tests]
    bounds = sorted({b for s in sources for b in (s.min, s.max) if b is not None})
    yield from _numbers(bounds)
    for source in sources:
        yield from source.in_ or ()
    hosts = [host for source in sources for host in _several(source.hosts)]
    if hosts:
        for host in telling_hosts(hosts):
            yield linked(host)
    folders = [folder for source in sources for folder in _several(source.under)]
    for folder in folders:
        yield folder
        yield f"{folder.rstrip('/')}/q7" if folder != "." else "q7"
    if folders:
        yield from ("/q7", "q7/q7", "../q7")
    for source in sources:
        yield from samples(source.match) if source.match is not None else ()


def _numbers(bounds: Sequence[float]) -> Iterator[Any]:
    """Numbers of every interval that the bounds make, whole ones first; also as long texts."""
    if not bounds:
        return
    wide = [bounds[0] - 10, *bounds, bounds[-1] + 10]
    for low, high in pairwise(wide):
        middle = (low + high) / 2
        yield from (v for v in (int(middle), int(low) + 1) if low < v < high)
        yield from (low, middle, high)
    yield from (bounds[0] - 10**12, bounds[-1] + 10**12)
    for bound in bounds:
        number = int(bound)
        yield f"{'-' if number < 0 else ''}{abs(number):012d}"
    if bounds[0] <= 10**11:
        yield 123456789012


def _candidates(
    scene: Scene, inside: Sequence[Demand], outside: Sequence[Demand]
) -> Iterator[tuple[Any, Point]]:
    wanted = [d.requirement for d in (*inside, *outside) if isinstance(d, Wanted)]
    tests = [test for required in wanted for test in required.tests]
    for value in test_values(tests):
        if isinstance(value, str) and value in ("$user", "$tenant"):
            yield scene.own_caller.own(value), Point(caller=scene.own_caller)
        yield value, Point()
    yield from scene.situations()
    for text in ("/q7/q7", "q7/q7", "q7 <q7>", "q7 dot com", 7, -7.25, 123456789012):
        yield text, Point()
    yield {"q7": "/q7/q7"}, Point()


def _told(path: Path, inside: Sequence[Demand], outside: Sequence[Demand]) -> str:
    """The difference in words: `amount 500 < x <= 1000`, `to: known (before: stated)`."""
    name = ".".join(path)
    new = [d for d in inside if isinstance(d, Wanted)]
    old = [d for d in outside if isinstance(d, Wanted)]
    if len(new) == len(old) == 1:
        one, other = new[0].requirement, old[0].requirement
        if len(one.tests) == len(other.tests) == 1 and not one.words:
            return f"{name} {_between(one.tests[0].source, other.tests[0].source)}"
    before = " or ".join(_spelled(d) for d in outside)
    now = " and ".join(_spelled(d) for d in inside) or "anything"
    return f"{name}: more is {now}" if now == before else f"{name}: {now} (before: {before})"


def _between(new: Test, old: Test) -> str:
    if new.hosts is not None and old.hosts is not None:
        hosts = host_between([_several(new.hosts)], [_several(old.hosts)])
        return f"on hosts {listed_name(hosts, _several(new.hosts))}"
    if new.in_ is not None and old.in_ is not None:
        more = [str(item) for item in new.in_ if not _keys([item]) <= _keys(old.in_)]
        return f"one of {', '.join(more[:5])}"
    parts = []
    if old.max is not None and (new.max is None or new.max > old.max):
        parts.append(f"{old.max} < x" + (f" \u2264 {new.max}" if new.max is not None else ""))
    if old.min is not None and (new.min is None or new.min < old.min):
        parts.append((f"{new.min} \u2264 " if new.min is not None else "") + f"x < {old.min}")
    return " or ".join(parts) or f"{_spelled_test(new)} (before: {_spelled_test(old)})"


def _spelled(demand: Demand) -> str:
    if not isinstance(demand, Wanted):
        return "clean"
    required = demand.requirement
    if required.anything:
        return "any"
    parts = [*required.words, *(_spelled_test(test.source) for test in required.tests)]
    return " or ".join([*parts, *(["ask"] if required.asks else [])])


def _spelled_test(test: Test) -> str:
    found = test.model_dump(exclude_none=True, by_alias=True)
    return "{" + ", ".join(f"{key}: {value}" for key, value in found.items()) + "}"
