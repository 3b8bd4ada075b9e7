"""Each key of the policy language, made looser and stricter: the one is found, the other not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from edgeward.guards.rules import rule_modules
from edgeward.guards.verdict import STRICTNESS
from edgeward.policies.diff import compare
from edgeward.policies.diff.rules import KNOWN
from edgeward.policies.schema import PolicyHead, load_policy

Policy = dict[str, Any]


PAIRS: list[tuple[str, Policy, Policy]] = [
    (pair["key"], pair["strict"], pair["loose"])
    for pair in yaml.safe_load((Path(__file__).parent / "pairs.yaml").read_text(encoding="utf-8"))
]
SAYS_NOTHING = {"version", "description", "receipts", "block_message"}
"""Keys of the head with which nothing is allowed that was not."""


def whole(policy: Policy) -> Policy:
    """As a file of version 2, in which tools may run unless it says otherwise."""
    open_ended = {} if {"tools", "default"} & policy.keys() else {"default": "allow"}
    return {"version": 2, **open_ended, **policy}


@pytest.mark.parametrize(("key", "strict", "loose"), PAIRS)
def test_what_is_looser_is_found_and_what_is_stricter_is_not(
    key: str, strict: Policy, loose: Policy
) -> None:
    """With a call that shows it, decided under both; and nothing is left open, either way."""
    old, new = whole(strict), whole(loose)
    assert key in {*strict, *loose}
    found = compare(old, new)
    assert found.looser
    assert not found.undecided
    before, after = load_policy(old), load_policy(new)
    for one in found.looser:
        if one.witness is None:
            assert one.shown
            continue
        words = one.witness.verdict(before).word, one.witness.verdict(after).word
        assert words == (one.old, one.new)
        assert STRICTNESS[words[1]] < STRICTNESS[words[0]]
    back = compare(new, old)
    assert ([(o.tool, o.what, o.witness) for o in back.looser], back.undecided) == ([], ())


def test_fail_closed() -> None:
    """Which calls would run is not known, so that it is not decided."""
    found = compare(whole({}), whole({"fail_closed": False}))
    assert [one.what for one in found.undecided] == ["fail_closed: false"]


def test_every_rule_kind_is_compared() -> None:
    """Each has its examples here; one that has none would be passed over in silence."""
    assert set(rule_modules()) == KNOWN
    assert {key for key, _, _ in PAIRS} >= KNOWN - {"tools"}


def test_every_key_of_the_head_is_compared() -> None:
    """Or says nothing of what is allowed."""
    compared = {key for key, _, _ in PAIRS} | {"fail_closed"}
    assert set(PolicyHead.model_fields) == SAYS_NOTHING | (compared - KNOWN)


EVERY = {"a.*": "stated"}
EVERY_BUT_ONE = {"a.*": "stated", "a.b": {"in": ["x"]}}


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        (EVERY, EVERY, True),
        (EVERY_BUT_ONE, EVERY_BUT_ONE, True),
        (EVERY, EVERY_BUT_ONE, False),  # `x` at a.b need not be stated any more
        (EVERY, {"a.*": "known"}, False),
        (EVERY, {"a.b": "stated"}, False),
    ],
)
def test_every_part_is_the_same_or_left_open(old: Policy, new: Policy, same: bool) -> None:
    """A path with `*` is nowhere said to allow no more unless both policies say the same of it."""
    found = compare(*(whole({"tools": {"use": {"args": args}}}) for args in (old, new)))
    assert (not found.looser and not found.undecided) is same
