"""The automata of `sequence` say what the whole history says, at a cost that does not grow."""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from hypothesis import given, settings
from hypothesis import strategies as st

from edgeward.guards.automata import OPEN, SHUT, Automata, Gate, States

TOOLS = ("fetch", "read_a", "read_b", "send", "deploy")
NAMES = (*TOOLS, "read_*", "*")


@dataclass(frozen=True)
class Turn:
    """Calls of one turn: the tools that were let through, and those that ran without an error."""

    through: tuple[str, ...] = ()
    done: tuple[str, ...] = ()
    spoke: bool = False


def some(names: tuple[str, ...], most: int) -> st.SearchStrategy[tuple[str, ...]]:
    """A few names."""
    return st.lists(st.sampled_from(names), max_size=most).map(tuple)


GATES = st.builds(
    Gate,
    names=some(NAMES, 2),
    word=st.sampled_from(["ask", "block"]),
    reason=st.just(""),
    start=st.sampled_from([OPEN, SHUT]),
    shuts=some(NAMES, 2),
    opens=some(NAMES, 2),
    user=st.sampled_from([None, OPEN, SHUT]),
)
TURNS = st.one_of(
    st.just(Turn(spoke=True)),
    some(TOOLS, 3).flatmap(
        lambda through: st.builds(
            Turn, st.just(through), st.sets(st.sampled_from(through or ("",))).map(tuple)
        )
    ),
)


def named(names: tuple[str, ...], tools: tuple[str, ...]) -> bool:
    """Whether one of the entries names one of the tools."""
    return any(fnmatchcase(tool, name) for tool in tools for name in names)


def from_the_definition(gate: Gate, trace: list[Turn]) -> int:
    """How a gate stands: what the last turn that moved it says, found by reading the history."""
    for turn in reversed(trace):
        if turn.spoke and gate.user is not None:
            return gate.user
        if named(gate.shuts, turn.through):
            return SHUT
        if named(gate.opens, turn.done):
            return OPEN
    return gate.start


def after(automata: Automata, trace: list[Turn]) -> States:
    """The states after a trace."""
    states = automata.start
    for turn in trace:
        if turn.spoke:
            states = automata.spoke(states)
        else:
            states = automata.advance(states, through=turn.through, done=turn.done)
    return states


@settings(max_examples=300, deadline=None)
@given(st.lists(GATES, max_size=4), st.lists(TURNS, max_size=12))
def test_the_states_are_those_of_the_definition(gates: list[Gate], trace: list[Turn]) -> None:
    """Whatever the policy and the trace: as if the history had been read from its end."""
    automata = Automata(tuple(gates))
    expected = tuple(from_the_definition(gate, trace) for gate in gates)
    assert after(automata, trace) == expected
    for tool in TOOLS:
        met = [g for g, s in zip(gates, expected, strict=True) if s and named(g.names, (tool,))]
        assert list(automata.met(expected, tool)) == met


@settings(max_examples=200, deadline=None)
@given(st.lists(GATES, max_size=4), st.lists(TURNS, max_size=6), some(TOOLS, 4), st.randoms())
def test_the_calls_of_a_turn_have_no_order(
    gates: list[Gate], trace: list[Turn], names: tuple[str, ...], random: object
) -> None:
    """To each call the others count as having run where that is stricter, in whatever order."""
    automata = Automata(tuple(gates))
    states = after(automata, trace)
    beside = automata.beside(states, names)
    for number, found in enumerate(beside):
        others = (*names[:number], *names[number + 1 :])
        expected = [
            SHUT if s or named(g.shuts, others) else s for g, s in zip(gates, states, strict=True)
        ]
        assert list(found) == expected
    backwards = automata.beside(states, names[::-1])
    assert sorted(zip(names, beside, strict=True)) == sorted(
        zip(names[::-1], backwards, strict=True)
    )


@settings(max_examples=100, deadline=None)
@given(st.lists(GATES, max_size=4), st.lists(TURNS, max_size=8), some(TOOLS, 3), some(TOOLS, 3))
def test_to_be_told_twice_changes_nothing(
    gates: list[Gate], trace: list[Turn], through: tuple[str, ...], more: tuple[str, ...]
) -> None:
    """A turn is told once when its calls are let through and once when they have run."""
    automata = Automata(tuple(gates))
    states = after(automata, trace)
    done = tuple(name for name in more if name in through)
    begun = automata.advance(states, through=through)
    whole = automata.advance(states, through=through, done=done)
    assert automata.advance(begun, through=through, done=done) == whole


@dataclass
class Counted(dict[str, object]):
    """A table that counts how often it is asked."""

    asked: int = field(default=0)

    def get(self, key: str, default: object = None) -> object:
        self.asked += 1
        return super().get(key, default)


def test_a_step_costs_the_same_after_ten_thousand_calls() -> None:
    """A decision asks as much of the table after a long history as after none."""
    automata = Automata((Gate(("send",), "ask", "", OPEN, ("fetch",), ("read_*",), OPEN),))
    table = Counted()
    object.__setattr__(automata, "_known", table)

    def cost(states: States) -> int:
        before = table.asked
        list(automata.met(states, "send"))
        automata.advance(states, through=["fetch"], done=["fetch"])
        return table.asked - before

    cost(automata.start)
    first = cost(automata.start)
    states = automata.start
    for number in range(10_000):
        states = automata.advance(states, through=[f"read_{number % 7}", "fetch"], done=["fetch"])
    assert cost(states) == first
    assert states == (SHUT,)
    assert len(table) == 9


def test_another_spelling_shuts_and_only_the_own_name_opens() -> None:
    """A dispatcher may fold names: stricter counts in all spellings, looser in none but its own."""
    automata = Automata((Gate(("send",), "block", "", OPEN, ("fetch_url",), ("reset",)),))
    for name in ("FETCH_URL", " fetch_url", "web__fetch_url", "\uff46etch_url"):
        assert automata.advance((OPEN,), through=[name], done=[name]) == (SHUT,)
    for name in ("RESET", "evil__reset", " reset"):
        assert automata.advance((SHUT,), through=[name], done=[name]) == (SHUT,)
    assert automata.advance((SHUT,), through=["reset"], done=["reset"]) == (OPEN,)
    assert [list(automata.met((SHUT,), name)) != [] for name in ("mail__SEND", "sender")] == [
        True,
        False,
    ]


def test_the_key_tells_gates_apart() -> None:
    """States of one policy are not read by another; where a file was moved, they still are."""
    one = Gate(("send",), "ask", "x", OPEN, ("fetch",), place="a.yaml:3")
    moved = Gate(("send",), "ask", "y", OPEN, ("fetch",), place="b.yaml:9")
    other = Gate(("send",), "block", "x", OPEN, ("fetch",), place="a.yaml:3")
    keys = [Automata((gate,)).key for gate in (one, moved, other)]
    assert keys[0] == keys[1] != keys[2]
