"""What may stand in any argument: hosts, forbidden patterns, secrets, private data."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from ...guards.patterns import compile_pattern, searchable
from ...guards.secrets import SHIPPED
from ..cases import Ran
from ..globs import covers
from .arguments import passing
from .boxes import Aspect, Demand
from .hosts import host_between, linked, listed_name
from .points import NONE, Path, Point, Tried
from .samples import samples
from .wanted import Clean, Wanted

if TYPE_CHECKING:
    from .scene import Scene

FAULTY = ("https://a\\@q7.example/", "https://a@q7.example/", "https://q7 .example/")
"""Links of which it is not clear where they lead: no list lets them through."""


@dataclass(frozen=True, slots=True)
class Listed:
    """Every host is on a list."""

    entries: tuple[str, ...]

    @property
    def key(self) -> object:
        """The list, in no order."""
        return frozenset(self.entries)


@dataclass(frozen=True, slots=True)
class Without:
    """A pattern finds nothing in some arguments (in all of them where none is named)."""

    regex: str
    paths: frozenset[str]

    @property
    def key(self) -> object:
        """Both."""
        return (self.regex, self.paths)


@dataclass(frozen=True, slots=True)
class NoSecret:
    """There is no secret. `masked`: one that can be masked does not count."""

    regexes: frozenset[str]
    masked: bool = False

    @property
    def key(self) -> object:
        """Both."""
        return (self.regexes, self.masked)


@dataclass(frozen=True, slots=True)
class NothingPrivate:
    """Nothing is private that these tools gave."""

    tools: tuple[str, ...]

    @property
    def key(self) -> object:
        """The tools, in no order."""
        return frozenset(self.tools)


def search_hosts(
    scene: Scene, aspect: Aspect, inside: Sequence[Demand], outside: Sequence[Demand]
) -> Tried:
    """A link to a host that is on the new list and not on the old one."""
    new = [d.entries for d in inside if isinstance(d, Listed)]
    old = [d.entries for d in outside if isinstance(d, Listed)]
    hosts = host_between(new, old)
    if not hosts and new:
        return NONE
    paths = tuple(sorted(scene.paths))
    points = [p for host in hosts for p in scene.placed(linked(host), first=paths)]
    points += [p for host in hosts for p in scene.placed(f"q7@{host}", first=paths)]
    if not new:
        points += [p for text in FAULTY for p in scene.placed(text)]
    named = listed_name(hosts, [e for entries in new for e in entries]) if new else ""
    what = f"to hosts {named}" if named else "to any host"
    return Tried(tuple(points), what=what)


def search_pattern(
    scene: Scene, aspect: Aspect, inside: Sequence[Demand], outside: Sequence[Demand]
) -> Tried:
    """A text in which the old pattern finds something and the new ones do not: by samples."""
    new = [d for d in inside if isinstance(d, Without)]
    old = [d for d in outside if isinstance(d, Without)]
    if any(all(_no_looser(part, o, new) for part in alternatives(o.regex)) for o in old):
        return NONE
    points: list[Point] = []
    for one in old:
        paths = tuple(tuple(path.split(".")) for path in sorted(one.paths))
        for text in samples(one.regex):
            placed = scene.placed(text, first=paths)
            points += [p for p in placed if not paths or p.arguments[0][0] in paths]
    return Tried(tuple(points[:2_000]), what=f"texts with {old[0].regex}")


def _no_looser(part: str, old: Without, new: Sequence[Without]) -> bool:
    """Whether some new rule finds whatever this part of the old pattern finds, where it looks."""
    return any(
        part in alternatives(n.regex) and (not n.paths or (old.paths and old.paths <= n.paths))
        for n in new
    )


def alternatives(regex: str) -> frozenset[str]:
    """The parts of `a|b|c`, if nothing binds them together; else the whole."""
    whole = frozenset((regex,))
    if "[:" in regex or r"\Q" in regex:
        return whole
    leading = _SETS_FLAGS.match(regex)
    flags = leading[0] if leading else ""
    regex = regex[len(flags) :]
    parts, depth, in_class, at, start = [], 0, False, 0, 0
    while at < len(regex):
        sign = regex[at]
        if sign == "\\":
            at += 1
        elif in_class:
            in_class = sign != "]" or regex[at - 1] == "[" or regex[at - 2 : at] == "[^"
        elif sign == "[":
            in_class = True
        elif sign in "()":
            depth += 1 if sign == "(" else -1
            if _SETS_FLAGS.match(regex, at):
                return whole
        elif sign == "|" and depth == 0:
            parts.append(regex[start:at])
            start = at + 1
        at += 1
    found = frozenset(flags + part for part in (*parts, regex[start:]))
    return found if all(map(_compiles, found)) else whole


def _compiles(regex: str) -> bool:
    try:
        compile_pattern(regex)
    except ValueError:
        return False
    return True


_SETS_FLAGS = re.compile(r"\(\?[a-zA-Z-]+\)")


def search_secret(
    scene: Scene, aspect: Aspect, inside: Sequence[Demand], outside: Sequence[Demand]
) -> Tried:
    """A secret that the new policy does not know, or masks where the old one blocks."""
    new = [d for d in inside if isinstance(d, NoSecret)]
    old = [d for d in outside if isinstance(d, NoSecret)]
    gone = [
        regex
        for o in old
        for regex in sorted(o.regexes)
        if not any(regex in n.regexes for n in new)
    ]
    if not gone and any(o.masked or not n.masked for o in old for n in new):
        return NONE
    texts = [text for regex in gone for text in islice(samples(regex), 30)]
    if not gone:
        texts = list(islice(_known_secrets(), 8))
    points = [point for text in texts for point in scene.placed(text)]
    what = "secrets run masked" if not gone else f"secrets of the form {gone[0]}"
    return Tried(tuple(points), what=what)


def _known_secrets() -> Iterator[str]:
    """Texts with a secret of a shipped format, one a format."""
    for known in SHIPPED:
        compiled = compile_pattern(known.regex)
        texts = islice(samples(known.regex), 8)
        yield from islice((t for t in texts if any(known.finds(compiled, searchable(t)))), 1)


def search_private(
    scene: Scene, aspect: Aspect, inside: Sequence[Demand], outside: Sequence[Demand]
) -> Tried:
    """Private data that the new policy lets a tool have."""
    old = [d for d in outside if isinstance(d, NothingPrivate)]
    new = [d for d in inside if isinstance(d, NothingPrivate)]
    if any(all(any(covers(w, t) for w in n.tools) for t in o.tools) for o in old for n in new):
        return NONE
    return Tried(tuple(_leaks(scene, old)), what="private data")


def _leaks(scene: Scene, old: Sequence[NothingPrivate]) -> Iterator[Point]:
    for tool in dict.fromkeys(t.replace("*", "q7").replace("?", "q") for o in old for t in o.tools):
        for value in ("QX-5512-9921", 551299217, "551299217"):
            ran = (Ran(tool=tool, result={"code": str(value)}),)
            yield Point(arguments=(((scene.free,), value),), ran=ran)
            for path in sorted(scene.paths):
                yield Point(arguments=((path, value),), ran=ran)
        for path in sorted(scene.paths):
            for point in islice(passing(scene, path, _demands(scene, path)), 30):
                before = (*point.ran, Ran(tool=tool, result={"code": str(point.arguments[0][1])}))
                yield replace(point, ran=before)


def _demands(scene: Scene, path: Path) -> tuple[Demand, ...]:
    found = scene.term.get(("argument", *path), ())
    return tuple(d for d in found if isinstance(d, Wanted | Clean))
