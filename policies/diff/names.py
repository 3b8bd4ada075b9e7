"""The names of tools as two policies tell them apart: one name for each way of being named.

What allows matches a name exactly; what blocks or asks matches every spelling of it: without case,
`-` for `_`, with a server's prefix. Whatever two policies say by name hangs on which of their
names and globs fit, so that finitely many names stand for all. They are found by walking all
patterns at once, letter by letter; signs that no pattern holds are all alike.

A prefix is walked only before a name that the two policies treat differently (`suspects`): behind a
prefix, what they treat alike can object on neither side more than it does without one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ...guards.names import folded_name, name_fault

MAX_STATES = 200_000
"""States of the walk; with more, the names are too many to go through."""

_STAR, _ANY = "*", "?"
_LIKELY = "xqzjkvwyufbhgpmdlc0123456789\u4e2d"
_SEPARATORS = "./:"

Places = frozenset[tuple[int, int]]
"""Which patterns are still possible, and how far each was read."""


class TooManyNames(ValueError):
    """The patterns are too many, or too entangled, to go through all names."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A name or glob. `literal`: its signs mean themselves; `folded`: it fits every spelling."""

    text: str
    folded: bool = False
    literal: bool = False


@dataclass(frozen=True, slots=True)
class _State:
    own: Places
    whole: Places
    behind: Places | None = None
    """The patterns that fit from behind a prefix on; None: before one."""
    underscore: bool = False
    """Whether the last sign could be the first of a `__`."""
    empty: bool = False


class _Walk:
    def __init__(self, patterns: Sequence[Pattern], suspects: Collection[str]) -> None:
        self.own = [_signs(p.text, literal=p.literal) for p in patterns if not p.folded]
        folds = list(dict.fromkeys(folded_name(p.text) for p in patterns if p.folded))
        self.folds = [_signs(text) for text in folds]
        self.suspects = frozenset(n for n, text in enumerate(folds) if text in suspects)
        used = {sign for signs in (*self.own, *self.folds) for sign in signs}
        self.fresh = next(sign for sign in _LIKELY if sign not in used)
        self.separator = next((sign for sign in _SEPARATORS if sign not in used), ".")

    def start(self) -> _State:
        return _State(_begin(self.own), _begin(self.folds), empty=True)

    def signs(self, state: _State) -> Iterable[str]:
        """The signs that make a difference in this state."""
        own = set(_next(state.own, self.own))
        folds = set(_next(state.whole, self.folds)) | set(_next(state.behind or (), self.folds))
        other = {sign.upper() for sign in folds if len(sign.upper()) == 1} - folds
        dashes = {"-"} if "_" in folds else set()
        prefix = {self.separator, "_"} if self.suspects and state.behind is None else set()
        plain = sorted(own | folds)
        return dict.fromkeys([self.fresh, *plain, *sorted(dashes | other), *sorted(prefix)])

    def steps(self, state: _State, sign: str) -> Iterator[_State]:
        folded = _folded(sign)
        own = _step(state.own, self.own, sign)
        whole = _step(state.whole, self.folds, folded)
        ends = sign in _SEPARATORS or (folded == "_" and state.underscore)
        pending = folded == "_" and not state.underscore
        if state.behind is not None:
            behind = _step(state.behind, self.folds, folded)
            if any(number in self.suspects for number, _ in behind):
                yield _State(own, whole, behind)
            return
        yield _State(own, whole, None, pending)
        if ends and self.suspects:
            yield _State(own, whole, _begin(self.folds))

    def fits(self, state: _State) -> tuple[frozenset[int], ...] | None:
        """Which patterns fit a name that ends here; None where no name may end here."""
        behind = frozenset[int]()
        if state.behind is not None:
            behind = _ended(state.behind, self.folds)
            if not behind & self.suspects:
                return None
        return _ended(state.own, self.own), _ended(state.whole, self.folds), behind


def classes(patterns: Iterable[Pattern], suspects: Collection[str] = ()) -> list[str]:
    """A name for each way in which a tool can be named by these patterns, the plainest first.

    Raises:
        TooManyNames: they cannot all be gone through.
    """
    walk = _Walk(tuple(dict.fromkeys(patterns)), frozenset(map(folded_name, suspects)))
    start = walk.start()
    found: dict[tuple[frozenset[int], ...], str] = {}
    names = {start: ""}
    todo = deque([start])
    while todo:
        state = todo.popleft()
        name = names[state]
        fits = None if state.empty else walk.fits(state)
        if fits is not None and not name_fault(name):
            found.setdefault(fits, _longer(walk, state, name, fits))
        for sign in walk.signs(state):
            for after in walk.steps(state, sign):
                if after not in names:
                    if len(names) >= MAX_STATES:
                        raise TooManyNames("the tools' names are too many to go through")
                    names[after] = name + sign
                    todo.append(after)
    return list(found.values())


def _longer(walk: _Walk, state: _State, name: str, fits: tuple[frozenset[int], ...]) -> str:
    """The name with a letter behind it where that changes nothing: `delete_x` for `delete_`."""
    after = next(walk.steps(state, walk.fresh), None)
    same = after is not None and walk.fits(after) == fits
    return name + walk.fresh if same and name[-1] in "_-./: " else name


@lru_cache(maxsize=4_096)
def _folded(sign: str) -> str:
    return "_" if sign in " -" else folded_name(sign) or sign


def _signs(text: str, *, literal: bool = False) -> tuple[str, ...]:
    """One item a sign; what is literal is marked, so that no star is taken for one."""
    return tuple(f"={sign}" if literal and sign in "*?" else sign for sign in text)


def _begin(patterns: Sequence[tuple[str, ...]]) -> Places:
    return _skipping(((number, 0) for number in range(len(patterns))), patterns)


def _skipping(places: Iterable[tuple[int, int]], patterns: Sequence[tuple[str, ...]]) -> Places:
    """Those places, and those behind stars that match nothing."""
    found = set()
    for number, at in places:
        found.add((number, at))
        while at < len(patterns[number]) and patterns[number][at] == _STAR:
            at += 1
            found.add((number, at))
    return frozenset(found)


def _step(places: Places, patterns: Sequence[tuple[str, ...]], sign: str) -> Places:
    after = []
    for number, at in places:
        wanted = patterns[number][at] if at < len(patterns[number]) else ""
        if wanted == _STAR:
            after.append((number, at))
        elif wanted == _ANY or (wanted and wanted[-1] == sign and wanted not in ("*", "?")):
            after.append((number, at + 1))
    return _skipping(after, patterns)


def _next(places: Iterable[tuple[int, int]], patterns: Sequence[tuple[str, ...]]) -> Iterator[str]:
    for number, at in places:
        if at < len(patterns[number]) and patterns[number][at] not in (_STAR, _ANY):
            yield patterns[number][at][-1]


def _ended(places: Places, patterns: Sequence[tuple[str, ...]]) -> frozenset[int]:
    return frozenset(number for number, at in places if at == len(patterns[number]))
