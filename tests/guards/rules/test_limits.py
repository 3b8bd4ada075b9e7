"""`limits`: what the file may say, and what is blocked once a limit is used up."""

from __future__ import annotations

from typing import Any

import pytest

from edgeward.guards.decide import decide
from edgeward.guards.ledger import History
from edgeward.guards.limits import Price
from edgeward.guards.rules.limits import limits_of
from edgeward.guards.verdict import ToolCall
from edgeward.policies.problems import ConfigError
from edgeward.policies.schema import load_policy

PRICES = {"m*": {"input": 1, "output": 2}}


def policy(**limits: Any) -> Any:
    """A policy with these limits in which every tool may run."""
    return load_policy({"version": 2, "default": "allow", "limits": limits})


def test_amounts_at_the_top_are_those_of_a_thread() -> None:
    """Each scope has its own; the order is that of the amounts."""
    found = limits_of(
        policy(tokens=9, run={"calls": 2}, caller={"cost_usd": 1.5}, prices=PRICES, near=0.5)
    )
    assert found is not None
    assert [(lim.scope, lim.amount, lim.most) for lim in found.limits] == [
        ("thread", "tokens", 9),
        ("caller", "cost_usd", 1.5),
        ("run", "calls", 2),
    ]
    assert (found.near, found.price("m1")) == (0.5, Price(1, 2))


@pytest.mark.parametrize(
    ("scope", "amount"),
    [
        (s, a)
        for s in ("run", "thread", "caller")
        for a in ("tokens", "cost_usd", "calls", "seconds")
    ],
)
def test_a_call_is_blocked_once_a_limit_is_used_up(scope: str, amount: str) -> None:
    """One less is still in order; the reason says how much of what."""
    using = policy(**{scope: {amount: 10}}, prices=PRICES)
    words = [
        decide(using, ToolCall("t"), History(used={scope: {amount: number}}))
        for number in (0, 9, 10, 11)
    ]
    assert [verdict.word for verdict in words] == ["allow", "allow", "block", "block"]
    (finding,) = words[2].findings
    assert finding.rule == f"limits.{scope}.{amount}"
    assert f"of this {scope} are used" in finding.reason


def test_a_door_that_counts_tokens_and_calls_only() -> None:
    """What it counts is held to every scope; what it cannot count is not let through unseen."""
    using = policy(tokens=100, run={"calls": 2})
    assert decide(using, ToolCall("t"), History(tokens_used=99, calls={"t": 1})).word == "allow"
    assert decide(using, ToolCall("t"), History(tokens_used=100)).word == "block"
    assert decide(using, ToolCall("t"), History(calls={"t": 1, "u": 1})).word == "block"
    verdict = decide(policy(seconds=5), ToolCall("t"), History())
    assert (verdict.word, "cannot be counted here" in verdict.reason) == ("block", True)


def test_one_more_call_counts_in_every_scope() -> None:
    """`let_through` is how a history goes on within a turn."""
    history = History(used={"run": {}, "thread": {"calls": 4, "tokens": 1}}).let_through("t")
    assert history.used == {"run": {"calls": 1}, "thread": {"calls": 5, "tokens": 1}}
    assert history.calls == {"t": 1}
    assert History().let_through("t").used is None


def test_repeats_for_all_or_by_tool() -> None:
    """A number for all, or one a tool with `default` for the others."""
    for given, expected in (
        (3, [3, 3]),
        ({"default": 9, "poll": 50}, [50, 9]),
        ({"poll": 50}, [50, 5]),
    ):
        found = limits_of(policy(repeats=given))
        assert found is not None
        assert [found.repeats.most(name) for name in ("poll", "run")] == expected


@pytest.mark.parametrize(
    ("limits", "wrong"),
    [
        ({"cost_usd": 1}, "needs `prices`"),
        ({"tokens": 0}, "1 or more"),
        ({"tokens": 5, "thread": {"tokens": 6}}, "tokens of a thread twice"),
        ({"repeats": 1}, "2 or more"),
        ({"tokns": 4}, "did you mean tokens"),
        ({"run": {"call": 4}}, "did you mean calls"),
        ({"prices": {"x": {"input": 1}}}, "output: is missing"),
        ({"near": 1.5}, "1.0 or less"),
        ({"seconds": -1}, "more than 0"),
    ],
)
def test_what_cannot_be_meant_is_refused(limits: dict[str, Any], wrong: str) -> None:
    """With what is wrong and what to do."""
    with pytest.raises(ConfigError, match=wrong):
        policy(**limits)


def test_version_2_only() -> None:
    """A version 1 file has its own budget; a file without the key has no limits."""
    with pytest.raises(ConfigError, match="version: 2"):
        load_policy({"version": 1, "limits": {"tokens": 5}})
    assert limits_of(load_policy({"version": 2})) is None
