"""What an argument may be: a value that the new policy takes and the old one does not.

Numbers, listed values, hosts and folders are told apart by finitely many values, which are all
tried. The words (`known`, `clean`) follow from each other as `COVERED` says, and for what does not
follow `flows.py` has a value and a past that tell it. Of a regular expression there are samples.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...guards.conditions import CompiledTest
from ...guards.flow import Facts
from .boxes import Aspect, Demand
from .points import NONE, Path, Point, Tried
from .told import told
from .values import implied, test_values
from .wanted import Clean, Wanted

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

BELIEVING = frozenset({"known", "same_site", "dated", "words", "clean"})
"""Words that hang on what a policy believes of results."""


def search(
    scene: Scene, aspect: Aspect, inside: Sequence[Demand], outside: Sequence[Demand]
) -> Tried:
    """A value that all of `inside` takes and none of `outside` does.

    A list is taken where each of its values is: of several in `outside`, which are ways of one
    entry, none takes a list in which each of them finds a value that it does not take.
    """
    path: Path = aspect[1:]
    alone = any(_covered(scene, demand, outside) for demand in inside)
    if alone and (
        len(outside) < 2
        or any(_covered(scene, demand, (one,)) for demand in inside for one in outside)
    ):
        return NONE
    what = told(path, inside, outside)
    found = []
    for value, point in () if alone else _candidates(scene, inside, outside):
        new, old = scene.facts(scene.new, point), scene.facts(scene.old, point)
        if all(_takes(demand, value, new) for demand in inside) and not any(
            _takes(demand, value, old) for demand in outside
        ):
            found.append(replace(point, arguments=((path, value),)))
    if not found and len(outside) > 1:
        found = list(_lists(scene, path, inside, outside))
        what = f"{what}, in one list" if found else what
    return Tried(tuple(found), what=what)


def _lists(
    scene: Scene, path: Path, inside: Sequence[Demand], outside: Sequence[Demand]
) -> Iterator[Point]:
    """Lists of values that all of `inside` take, and of which each of `outside` leaves one out."""
    tried = list(_candidates(scene, inside, outside))
    plain = [value for value, point in tried if point == Point()]
    for point in (Point(), *(point for _, point in tried if point != Point())):
        new, old = scene.facts(scene.new, point), scene.facts(scene.old, point)
        values = [*plain, *(value for value, own in tried if own is point)]
        taken = [v for v in values if all(_takes(demand, v, new) for demand in inside)]
        left_out = ([v for v in taken if not _takes(one, v, old)][:1] for one in outside)
        chosen = [value for found in left_out for value in found]
        if len(chosen) == len(outside):
            once = [v for at, v in enumerate(chosen) if v not in chosen[:at]]
            yield replace(point, arguments=((path, once),))


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
    wanted = [o.requirement for o in outside if isinstance(o, Wanted)]
    if any(required.anything for required in wanted):
        return True
    if isinstance(demand, Clean):
        believes = scene.believes_no_more and scene.hides_no_less
        return believes and any(o.key == demand.key for o in outside)
    if not isinstance(demand, Wanted):
        return any(o.key == demand.key for o in outside)
    if demand.requirement.anything:
        return False
    required = demand.requirement
    plainly = {*required.words} == {"clean"} and not required.tests
    if plainly and any(isinstance(o, Clean) for o in outside):
        return scene.believes_no_more and scene.hides_no_less
    words = {word for required in wanted for word in required.words}
    tests = [test for required in wanted for test in required.tests]
    return all(_follows(scene, word, words) for word in demand.requirement.words) and all(
        implied(test, tests) or _exhausted(scene, test, demand, outside)
        for test in demand.requirement.tests
    )


def _follows(scene: Scene, word: str, words: set[str]) -> bool:
    """Whether a value that has the word in the new policy has one of the words in the old."""
    if word == "mine" and not scene.new.me:
        return True  # it never holds
    covers = [*COVERED[word]]
    if word == "known" and not scene.new.values.get("trust"):
        covers.append(frozenset({"stated", "created", *(["mine"] if scene.new.me else [])}))
    for cover in covers:
        if not cover <= words:
            continue
        if word in BELIEVING and not scene.believes_no_more:
            continue
        if word == "mine" and not scene.new.me <= scene.old.me:
            continue
        if word in ("clean", "words") and not scene.hides_no_less:
            continue
        return True
    return False


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
