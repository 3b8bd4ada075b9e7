"""The order of calls as small automata: one bit an entry of `sequence`, moved as calls go by.

A gate is open or shut. What makes it stricter counts as soon as a call is let through, in every
spelling of a tool's name; what makes it looser only when a call has run and did not fail, and only
under the tool's own name. Calls of one turn may run side by side, so what happens in a turn is a
set: where it both shuts and opens a gate, the gate is shut. So the result never hangs on an order
that nobody promised.

The state is a tuple of bits, whose size is that of the policy: a step costs the same after ten
calls and after ten thousand. `advance` and `spoke` are all that a door has to call:

    states = automata.start
    states = automata.advance(states, through=["fetch_url"], done=["fetch_url"])
    states = automata.spoke(states)                # the user wrote something
    decide(policy, call, History(order=states))
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from .names import ForbiddenNames, glob_pattern
from .verdict import Word

OPEN, SHUT = 0, 1

States = tuple[int, ...]
"""One bit a gate: OPEN or SHUT."""

_MOST_NAMES = 4_096


class OwnNames:
    """Tool names and globs that match a name exactly as it is registered."""

    __slots__ = ("_exact", "_globs")

    def __init__(self, names: Iterable[str]) -> None:
        listed = list(names)
        self._exact = frozenset(listed)
        self._globs = [glob_pattern(name) for name in listed if "*" in name or "?" in name]

    def holds(self, name: str) -> bool:
        """Whether one of the entries names the tool."""
        return name in self._exact or any(glob.fullmatch(name) for glob in self._globs)


@dataclass(frozen=True, slots=True)
class Gate:
    """One rule on the order of calls: while it is shut, calls of `names` get `word`."""

    names: tuple[str, ...]
    word: Word
    reason: str
    start: int = OPEN
    shuts: tuple[str, ...] = ()
    opens: tuple[str, ...] = ()
    user: int | None = None
    """Where a word of the user moves it; None: nowhere."""
    place: str = ""
    rule: str = "sequence"
    """Its name, as verdicts name it."""

    @property
    def allowed(self) -> str:
        """What lets the calls through, in words."""
        ends = [f"{' or '.join(self.opens)} has run"] if self.opens else []
        ends += ["the user has written"] if self.user == OPEN else []
        if not ends:
            return "none in this thread any more" if self.shuts else ""
        return f"once {' or '.join(ends)}"


@dataclass(frozen=True, slots=True)
class _Moves:
    """What a tool of one name means to the gates, by their numbers."""

    shuts: frozenset[int]
    opens: frozenset[int]
    meets: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Automata:
    """All gates of a policy."""

    gates: tuple[Gate, ...]
    key: str = field(init=False)
    """What tells these gates from those of another policy: their states mean nothing to it."""
    _of: tuple[tuple[ForbiddenNames, ForbiddenNames, OwnNames], ...] = field(init=False)
    _known: dict[str, _Moves] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        told = [(g.names, g.word, g.start, g.shuts, g.opens, g.user) for g in self.gates]
        key = hashlib.sha256(repr(told).encode("utf-8", "surrogatepass")).hexdigest()[:16]
        object.__setattr__(self, "key", key)
        compiled = ((ForbiddenNames(g.names), ForbiddenNames(g.shuts)) for g in self.gates)
        opens = (OwnNames(g.opens) for g in self.gates)
        of = tuple((*both, own) for both, own in zip(compiled, opens, strict=True))
        object.__setattr__(self, "_of", of)

    @property
    def start(self) -> States:
        """The states before anything has happened."""
        return tuple(gate.start for gate in self.gates)

    @property
    def shut(self) -> States:
        """Every gate shut: what counts where nobody kept the order of the calls."""
        return (SHUT,) * len(self.gates)

    def advance(
        self, states: States, *, through: Collection[str], done: Collection[str] = ()
    ) -> States:
        """The states after a turn: `through` names the tools that were let through, `done` those
        that have run and did not fail. The same call may be told twice, as it comes along."""
        shut = {gate for name in through for gate in self._moves(name).shuts}
        opened = {gate for name in done for gate in self._moves(name).opens} - shut
        if not shut and not opened:
            return states
        return tuple(
            SHUT if gate in shut else OPEN if gate in opened else state
            for gate, state in enumerate(states)
        )

    def spoke(self, states: States) -> States:
        """The states after the user wrote something."""
        moved = (gate.user for gate in self.gates)
        return tuple(s if to is None else to for s, to in zip(states, moved, strict=True))

    def beside(self, states: States, names: Sequence[str]) -> list[States]:
        """For each of several calls of one turn, the states with all the others let through."""
        count: dict[int, int] = {}
        for name in names:
            for gate in self._moves(name).shuts:
                count[gate] = count.get(gate, 0) + 1
        if not count:
            return [states] * len(names)
        found = []
        for name in names:
            own = self._moves(name).shuts
            others = {gate for gate, times in count.items() if times > (gate in own)}
            found.append(tuple(SHUT if g in others else s for g, s in enumerate(states)))
        return found

    def met(self, states: States, name: str) -> Iterator[Gate]:
        """The shut gates that a call of this tool stands before."""
        meets = self._moves(name).meets
        return (self.gates[gate] for gate in meets if states[gate] != OPEN)

    def _moves(self, name: str) -> _Moves:
        found = self._known.get(name)
        if found is None:
            every = list(enumerate(self._of))
            found = _Moves(
                shuts=frozenset(n for n, (_, shuts, _) in every if shuts.find(name) is not None),
                opens=frozenset(n for n, (_, _, opens) in every if opens.holds(name)),
                meets=tuple(n for n, (names, _, _) in every if names.find(name) is not None),
            )
            if len(self._known) < _MOST_NAMES:
                self._known[name] = found
        return found
