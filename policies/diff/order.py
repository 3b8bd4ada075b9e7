"""The order of calls: a past in which a gate of the old policy is shut and none of the new one's.

Both policies' gates are walked side by side, over every tool that they tell apart (a call that ran,
one that failed) and words of the user: the states are finite, so that what is not found is not
there. A turn of several calls comes to what its calls come to one after the other, each failed or
run in some order, so single calls are enough.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ...guards.automata import OPEN, SHUT, Automata, States
from ...guards.verdict import STRICTNESS
from ..cases import Ran, Said
from .boxes import Aspect, Demand
from .points import NONE, Point, Tried
from .side import Side
from .witness import Event, Witness

if TYPE_CHECKING:
    from .scene import Scene

MOST_STATES = 50_000


@dataclass(frozen=True, slots=True)
class Open:
    """These gates of a policy are open."""

    gates: frozenset[int]
    told: tuple[object, ...]
    """What the gates say, apart from their numbers and places."""

    @property
    def key(self) -> object:
        """The gates, in no order."""
        return frozenset(self.told)


def gates_of(side: Side, name: str, level: int) -> Open | None:
    """The gates before which a call of a tool stands, with this word or a stricter one."""
    automata = side.automata
    if automata is None:
        return None
    shut = automata.met(automata.shut, name)
    met = [g for g in shut if STRICTNESS[g.word] >= level and not side.holds(g.rule)]
    if not met:
        return None
    numbers = frozenset(n for n, gate in enumerate(automata.gates) if any(gate is m for m in met))
    told = tuple((g.start, frozenset(g.shuts), frozenset(g.opens), g.user) for g in met)
    return Open(numbers, told)


def search(
    scene: Scene, aspect: Aspect, inside: Sequence[Demand], outside: Sequence[Demand]
) -> Tried:
    """Whether such a past is there; it is put together once the rest of the past is known."""
    new = _gates(inside)
    shut = _gates(outside)
    told = {t for d in inside if isinstance(d, Open) for t in d.told}
    if all(t in told for d in outside if isinstance(d, Open) for t in d.told):
        return NONE
    found = reached(scene, Witness(scene.name), new, shut)
    if found is None:
        return NONE
    return Tried((Point(shut=shut),), what="in another order")


def _gates(demands: Sequence[Demand]) -> frozenset[int]:
    return frozenset(gate for d in demands if isinstance(d, Open) for gate in d.gates)


def ordered(
    scene: Scene, witness: Witness, opened: frozenset[int], shut: frozenset[int]
) -> Witness:
    """The witness with the calls in its past that open and shut these gates."""
    if scene.old.automata is None and scene.new.automata is None:
        return witness
    found = reached(scene, witness, opened, shut)
    return witness if not found else replace(witness, before=(*witness.before, *found))


def reached(
    scene: Scene, witness: Witness, opened: frozenset[int], shut: frozenset[int]
) -> tuple[Event, ...] | None:
    """Events after which the new policy's gates `opened` are open and, if `shut` names some, one
    of those of the old policy is shut; None where none lead there."""
    old, new = scene.old.automata, scene.new.automata
    said = next((e for e in reversed(witness.before) if isinstance(e, Said)), Said(user="Go on."))
    start = (_states(scene.old, witness), _states(scene.new, witness))
    paths: dict[tuple[States, States], tuple[Event, ...]] = {start: ()}
    todo = deque([start])
    while todo:
        states = todo.popleft()
        if all(states[1][gate] == OPEN for gate in opened) and (
            not shut or any(states[0][gate] == SHUT for gate in shut)
        ):
            return paths[states]
        for event in _events(scene, said):
            after = (_after(old, states[0], event), _after(new, states[1], event))
            if after not in paths and len(paths) < MOST_STATES:
                paths[after] = (*paths[states], event)
                todo.append(after)
    return None


def _events(scene: Scene, said: Said) -> Iterator[Event]:
    for name in scene.pair.events:
        yield Ran(tool=name)
        yield Ran(tool=name, failed=True)
    yield said


def _states(side: Side, witness: Witness) -> States:
    if side.automata is None:
        return ()
    order = witness.history(side.policy).order
    return side.automata.start if order is None else order


def _after(automata: Automata | None, states: States, event: Event) -> States:
    """The states after an event, as a conversation moves them."""
    if automata is None:
        return states
    if isinstance(event, Said):
        return automata.spoke(states)
    states = automata.advance(states, through=[event.tool])
    if event.failed:
        return states
    return automata.advance(states, through=[event.tool], done=[event.tool])
