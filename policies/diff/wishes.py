"""What the user asked for, and values that stand together: conditions on the past of an entry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from typing import TYPE_CHECKING

from ...guards.flow import Facts
from ...guards.ledger import USER, Ledger
from ...guards.requests import Requested
from ...guards.rules.tools import Tools
from ..cases import Ran, Said
from .arguments import passing
from .boxes import Aspect, Demand
from .points import NONE, Path, Point, Tried
from .side import Side

if TYPE_CHECKING:
    from .scene import Scene


@dataclass(frozen=True, slots=True)
class Wish:
    """The user asked for it; `lasting`: and that was not carried out yet."""

    requested: Requested
    lasting: bool

    @property
    def key(self) -> object:
        """Its words, in no order."""
        return (frozenset(self.requested.words), self.lasting)

    def said_by(self, text: str) -> bool:
        """Whether the user asks for it who writes this and nothing else."""
        entry = Ledger().observed(text, source=USER)
        return self.requested.holds(Facts(Ledger([entry] if entry else [])))

    @property
    def texts(self) -> Iterator[str]:
        """Each way in which it can be said."""
        yield from self.requested.phrases
        for word, forms in self.requested.single:
            yield from dict.fromkeys([word, *sorted(forms)])


@dataclass(frozen=True, slots=True)
class Together:
    """The values of these arguments stand in one message of the user or one trusted record."""

    paths: tuple[Path, ...]

    @property
    def key(self) -> object:
        """The paths, in no order."""
        return frozenset(self.paths)


@dataclass(frozen=True, slots=True)
class AtMost:
    """A number is not above all that stand with another argument's value."""

    number: Path
    beside: Path

    @property
    def key(self) -> object:
        """Both paths."""
        return (self.number, self.beside)


def search_wish(
    scene: Scene, aspect: Aspect, inside: Sequence[Demand], outside: Sequence[Demand]
) -> Tried:
    """Something that the user said, which is a wish to the new policy and none to the old one."""
    new = [d for d in inside if isinstance(d, Wish)]
    old = [d for d in outside if isinstance(d, Wish)]
    if _no_wider(scene, new, old):
        return NONE
    more = [
        word
        for word in dict.fromkeys(w for d in new for w in d.requested.words)
        if not any(word in d.requested.words for d in old)
    ]
    what = f"requested: {', '.join(more)}" if more else "requested by other words, or by none"
    return Tried(tuple(_said(scene, new, old)), what=what)


def _no_wider(scene: Scene, new: Sequence[Wish], old: Sequence[Wish]) -> bool:
    """Whether each wish to the new policy is one to the old, for as long."""
    for one in new:
        for other in old:
            said = all(other.said_by(text) for text in one.texts)
            if said and (not other.lasting or (one.lasting and _lasts(scene, one, other))):
                return True
    return False


def _lasts(scene: Scene, one: Wish, other: Wish) -> bool:
    """Whether a wish that lasts under the new policy does so under the old one.

    A wish is carried out by whichever tool has one of its words in its entry. Where only tools do
    so that have all of them, and the same tools under both, it is carried out at the same time.
    Otherwise each word of the new one is one of the old one, and carried out under the new policy
    wherever it is under the old.
    """
    words, others = set(one.requested.words), set(other.requested.words)
    told = [
        tuple(set(_wishes(side, name)) for side in (scene.new, scene.old))
        for name in dict.fromkeys((scene.name, *scene.pair.carrying))
    ]
    if all(_all_or_none(new, words) == _all_or_none(old, others) != "some" for new, old in told):
        return True
    return words <= others and all(
        (old & words) <= new and bool(new & words) >= bool(old & others) for new, old in told
    )


def _all_or_none(said: set[str], words: set[str]) -> str:
    found = said & words
    return "none" if not found else "all" if found == words else "some"


def _wishes(side: Side, name: str) -> list[str]:
    check = side.checks.get("tools")
    return check.wishes(name) if isinstance(check, Tools) else []


def carrying(old: Side, new: Side, names: Sequence[str]) -> tuple[str, ...]:
    """One of the tools for each set of wishes that tools carry out."""
    found: dict[object, str] = {}
    for name in names:
        wishes = tuple(frozenset(_wishes(side, name)) for side in (old, new))
        if any(wishes):
            found.setdefault(wishes, name)
    return tuple(found.values())


def _said(scene: Scene, new: Sequence[Wish], old: Sequence[Wish]) -> Iterator[Point]:
    if not new:
        # A run in which nothing was said, and one in which the wish was carried out before.
        yield Point()
        yield Point(said=("Zqina.",))
    each = [list(islice(wish.texts, 40)) for wish in new]
    for texts in islice(product(*each), 200):
        yield Point(said=tuple(texts))
    for wish in (*new, *old):
        for text in islice(wish.texts, 3):
            for name in (scene.name, *scene.pair.carrying):
                # Said, carried out by this tool or by another, and then something else was said.
                yield Point(ran=(Said(user=text), Ran(tool=name), Said(user="Thanks.")))
                again = Point(apart=(text,), ran=(Ran(tool=name), Said(user="Well.")))
                yield again


def wished(wishes: Sequence[Demand]) -> Point:
    """What the user has to have said."""
    texts = [next(iter(d.texts), "") for d in wishes if isinstance(d, Wish)]
    return Point(said=tuple(dict.fromkeys(texts)))


def search_together(
    scene: Scene, aspect: Aspect, inside: Sequence[Demand], outside: Sequence[Demand]
) -> Tried:
    """Values that each count and stand apart."""
    new = [set(d.paths) for d in inside if isinstance(d, Together)]
    old = [d for d in outside if isinstance(d, Together)]
    if scene.believes_no_more and any(set(o.paths) <= paths for o in old for paths in new):
        return NONE
    points = [point for one in old for point in _apart(scene, one.paths)]
    what = f"{', '.join('.'.join(path) for path in old[0].paths)} from different sources"
    return Tried(tuple(points), what=what)


def search_at_most(
    scene: Scene, aspect: Aspect, inside: Sequence[Demand], outside: Sequence[Demand]
) -> Tried:
    """A number that stands nowhere with the other value."""
    keys = {d.key for d in inside}
    old = [d for d in outside if isinstance(d, AtMost)]
    if scene.believes_no_more and any(d.key in keys for d in old):
        return NONE
    points = [point for one in old for point in _apart(scene, (one.number, one.beside))]
    what = f"{'.'.join(old[0].number)} above what stands with {'.'.join(old[0].beside)}"
    return Tried(tuple(points), what=what)


def _apart(scene: Scene, paths: Sequence[Path]) -> Iterator[Point]:
    """Values that the new policy takes, each said in a message of its own; or said by nobody."""
    each = []
    for path in paths:
        demands = scene.term.get(("argument", *path), ())
        found = list(islice(passing(scene, path, demands), 12))
        each.append([p for p in found if p.arguments[0][1] not in (True, {})])
    for point in (p for found in each for p in found[:4]):
        yield point
        yield replace(point, apart=(str(point.arguments[0][1]),))
    for points in islice(product(*each), 150):
        arguments = tuple(a for p in points for a in p.arguments)
        texts = [str(value) for _, value in arguments]
        ran = tuple(event for p in points for event in p.ran)
        yield Point(arguments=arguments, apart=tuple(texts), ran=ran)
        said = tuple(dict.fromkeys(text for p in points for text in p.said))
        yield Point(arguments=arguments, apart=said, ran=ran)
