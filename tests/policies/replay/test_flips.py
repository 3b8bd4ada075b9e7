"""The flips of a replay: their order, what is meant, what is no flip."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from edgeward import load_policy
from edgeward.guards.verdict import STRICTNESS, ToolCall, Word
from edgeward.policies.replay.flips import DANGER, LOOSER, Allowed, Replayed, replay
from edgeward.policies.replay.recorded import Known, Old, Recorded, Returned, Said, Spoke, Turn

WORDS: tuple[Word, ...] = tuple(STRICTNESS)


def recorded(tool: str, word: Word, call_id: str = "c", **more: Any) -> Recorded:
    """A recorded call of a tool, whose arguments say nothing."""
    old = Old(word, approval=more.pop("approval", None), rules=more.pop("rules", ()))
    return Recorded(call_id, f"call {call_id}", ToolCall(tool, id=call_id), old, **more)


def of(policy: dict[str, Any], *calls: Recorded) -> Replayed:
    """What a policy says of calls, each of a turn of its own."""
    return replay(load_policy({"version": 2, **policy}), [[Turn((call,)) for call in calls]])


def test_every_pair_of_words_has_its_place() -> None:
    """Once; looser is whatever lets more happen, and stands before all that is tighter."""
    assert sorted(DANGER) == sorted(f"{old}:{new}" for old, new in permutations(WORDS, 2))
    looser = {p for p in DANGER if _strict(p)[0] > _strict(p)[1]}
    assert looser == LOOSER == set(DANGER[: len(LOOSER)])


def _strict(pair: str) -> tuple[int, int]:
    old, _, new = pair.partition(":")
    return STRICTNESS[old], STRICTNESS[new]  # type: ignore[index]


def test_the_most_dangerous_comes_first() -> None:
    """Block to allow, ask to allow, block to ask, and last what is tighter."""
    policy = {"tools": {"free": "allow", "asked": "ask", "shut": "block"}}
    calls = [
        recorded("asked", "allow", "1"),
        recorded("shut", "allow", "2"),
        recorded("asked", "block", "3"),
        recorded("free", "ask", "4", approval={"decision": "approve", "by": "bob"}),
        recorded("free", "ask", "5"),
        recorded("free", "ask", "6", approval={"decision": "reject"}),
        recorded("free", "block", "7"),
        recorded("free", "allow", "8"),
    ]
    found = of(policy, *calls)
    assert [flip.name for flip in found.ranked()] == ["7", "6", "5", "4", "3", "2", "1"]
    assert (found.same, found.calls) == (1, 8)


def test_what_is_meant_is_named() -> None:
    """A pair, all that is tighter, or a call; a pair that is none is refused."""
    found = of({"tools": {"free": "allow", "shut": "block"}}, recorded("free", "block", "a:1"))
    (flip,) = found.flips
    assert Allowed.of(["block:allow"]).holds(flip)
    assert Allowed.of(["a:1"]).holds(flip)
    assert not Allowed.of(["tighter", "ask:allow", "b"]).holds(flip)
    with pytest.raises(ValueError, match="no flip: allow:allow"):
        Allowed.of(["allow:allow"])
    assert Allowed.of(["monday:first"]).names == {"monday:first"}


def test_what_a_door_refused_is_no_verdict_of_a_policy() -> None:
    """It would be refused again, whatever the policy says."""
    by_door = (Spoke("arguments", "block", "", "its id is that of another call"),)
    found = of({"default": "allow"}, recorded("x", "block", rules=by_door))
    assert (found.replayed, list(found.skipped)) == (
        0,
        ["it was refused before any policy was asked"],
    )


def test_what_was_not_counted_is_held_to_no_limit() -> None:
    """A limit of the new policy on what the record does not know decides nothing."""
    policy = {"default": "allow", "limits": {"thread": {"seconds": 3}}}
    found = of(policy, recorded("x", "allow", known=Known()))
    assert list(found.skipped) == ["what it is limited by was not counted when it was recorded"]
    used = {"thread": {"seconds": 5.0}, "run": {}, "caller": {}}
    found = of(policy, recorded("x", "allow", known=Known(used=used)))
    assert [flip.pair for flip in found.flips] == ["allow:block"]


def test_a_secret_that_only_the_old_policy_knew_is_not_judged() -> None:
    """What stands masked in the arguments might be nothing to the new one."""
    found = of({"default": "allow"}, recorded("x", "block", secrets=("corp_key",)))
    assert list(found.skipped) == ["a secret in its arguments is masked in the record"]
    own = {"secret_patterns": [{"name": "corp_key", "regex": "corpkey-[0-9]+"}]}
    assert of({"default": "allow", **own}, recorded("x", "block", secrets=("corp_key",))).same == 1


def test_calls_of_one_turn_are_judged_beside_each_other() -> None:
    """In any order: what shuts a gate shuts it for the call before it, too."""
    policy = {"default": "allow", "sequence": [{"after": "read", "block": "send"}]}
    turn = Turn((recorded("send", "allow", "1"), recorded("read", "allow", "2")))
    found = replay(load_policy({"version": 2, **policy}), [[turn]])
    assert [(flip.name, flip.pair) for flip in found.flips] == [("1", "allow:block")]


def test_pieces_of_a_secret_are_seen_over_several_calls() -> None:
    """Where the record does not say what was sent, it follows from the calls that ran."""
    key = "sk-proj-" + "a1B2c3D4" * 6
    parts = [key[:20], key[20:40], key[40:]]
    calls = [
        Recorded(f"{n}", "", ToolCall("post", {"text": part}, id=f"{n}"), Old("allow"))
        for n, part in enumerate(parts)
    ]
    assert [flip.pair for flip in of({"default": "allow"}, *calls).flips][-1:] == ["allow:block"]


def test_calls_beyond_the_rounds_of_a_run_are_told() -> None:
    """A word of the user begins a new run."""
    steps: list[Any] = []
    for n in range(3):
        steps += [Turn((recorded("x", "allow", f"{n}"),)), Returned(ToolCall("x", id=f"{n}"), "ok")]
    steps += [Said("Go on."), Turn((recorded("x", "allow", "3"),))]
    ticks: list[int] = []
    policy = load_policy({"version": 2, "default": "allow"})
    found = replay(policy, [steps], rounds=2, tick=lambda: ticks.append(1))
    assert (found.beyond.calls, found.beyond.places) == (1, ("call 2",))
    assert (found.same, len(ticks)) == (4, 4)
