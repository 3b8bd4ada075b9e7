"""The arithmetic of limits, and the counter that runs side by side share."""

from __future__ import annotations

import pickle
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from edgeward.guards.caller import Caller
from edgeward.guards.limits import STOPS, Limit, Limits, Price, Repeats, Spending, added, spender

THREAD = Limit("thread", "tokens", 100)
CALLS = Limit("run", "calls", 3)


def test_amounts_add_up() -> None:
    """What is missing is nothing."""
    assert added({"tokens": 1}, {"tokens": 2, "calls": 1}) == {"tokens": 3, "calls": 1}
    assert added({}, {}) == {}


def test_exceeded_is_the_first_limit_that_is_used_up() -> None:
    """At the limit means used up; an amount that nobody counted is nothing."""
    limits = Limits((THREAD, CALLS))
    assert limits.exceeded({}) is None
    assert limits.exceeded({"thread": {"tokens": 99}, "run": {"calls": 2}}) is None
    assert limits.exceeded({"thread": {"tokens": 100}}) is THREAD
    assert limits.exceeded({"run": {"calls": 3}}) is CALLS
    assert (THREAD.stop, CALLS.stop) == ("token_limit", "call_limit")
    assert set(STOPS.values()) == {"token_limit", "cost_limit", "call_limit", "time_limit"}


def test_beyond_leaves_no_room_and_calls_bound_no_model() -> None:
    """A model call must fit whole; that no tool may run does not keep a model from answering."""
    limits = Limits((THREAD, CALLS))
    assert limits.beyond({"thread": {"tokens": 60}}, {"tokens": 40}) is None
    assert limits.beyond({"thread": {"tokens": 60}}, {"tokens": 41}) is THREAD
    assert limits.beyond({"thread": {"tokens": 100}}, {}) is THREAD
    assert limits.beyond({"run": {"calls": 3}}, {"tokens": 1}) is None


@pytest.mark.parametrize(
    ("used", "more", "near"),
    [(0, 10, False), (69, 10, False), (70, 10, True), (80, 0, True), (40, 31, True), (0, 51, True)],
)
def test_close_is_at_the_share_or_where_no_second_call_fits(
    used: int, more: int, near: bool
) -> None:
    """The agent hears of it while there is still a call in which it can finish."""
    found = list(Limits((THREAD,)).close({"thread": {"tokens": used}}, {"tokens": more}))
    assert found == ([THREAD] if near else [])


def test_left_is_the_least_of_all_scopes() -> None:
    """Never less than nothing; None where nothing bounds it."""
    limits = Limits((THREAD, Limit("run", "tokens", 50)))
    assert limits.left({"thread": {"tokens": 80}, "run": {"tokens": 10}}, "tokens") == 20
    assert limits.left({"thread": {"tokens": 180}}, "tokens") == 0
    assert limits.left({}, "cost_usd") is None


def test_a_price_counts_cached_tokens_by_their_own() -> None:
    """Prices are for a million tokens; cached ones are among those that were read."""
    price = Price(input=1.0, output=10.0, cached=0.1)
    assert price.of(1_000_000, 100_000, cached=500_000) == pytest.approx(0.5 + 0.05 + 1.0)
    assert Price(2.0, 0.0).of(1_000_000, 5, cached=1_000_000) == pytest.approx(2.0)


def test_an_exact_name_wins_over_the_longest_glob() -> None:
    """Of a model that nothing names the price is not known."""
    short, long, own = Price(1, 1), Price(2, 2), Price(3, 9)
    limits = Limits(prices={"gpt-*": short, "gpt-4o*": long, "gpt-4o-mini": own})
    names = ("gpt-4o-mini", "gpt-4o-mini-2024", "gpt-5", "claude")
    assert [limits.price(name) for name in names] == [own, long, short, None]
    assert limits.dearest == Price(3, 9)
    assert Limits().dearest == Price(0, 0)


def test_repeats_by_tool() -> None:
    """An exact name wins over a glob, a longer glob over a shorter."""
    repeats = Repeats(4, {"get_*": 10, "get_status*": 50, "get_status_a": 7}.items())
    names = ("get_status_a", "get_status_b", "get_x", "run", "GET_x")
    assert [repeats.most(name) for name in names] == [7, 50, 10, 4, 4]
    assert Repeats().most("any") == 5


def test_a_reservation_is_given_back_and_what_was_used_stays() -> None:
    """All of what is needed or nothing; of what is wished what is left."""
    spending, most = Spending(), {"tokens": 100}
    assert spending.reserve("ann", {"tokens": 101}, wish={"tokens": 101}, most=most) is None
    got = spending.reserve("ann", {"tokens": 30}, wish={"tokens": 500}, most=most)
    assert got == {"tokens": 100}
    assert spending.reserve("ann", {"tokens": 1}, wish={"tokens": 1}, most=most) is None
    assert spending.reserve("bob", {"tokens": 1}, wish={"tokens": 1}, most=most) == {"tokens": 1}
    spending.settle("ann", got, {"tokens": 40})
    assert spending.used == {"ann": {"tokens": 40}}
    assert spending.of("ann") == {"tokens": 40}
    spending.settle("bob", {"tokens": 1}, {})
    assert spending.of("bob") == {}
    spending.forget("ann")
    assert spending.used == {}


def test_threads_side_by_side_never_pass_the_limit() -> None:
    """However many reserve at once: what is given out and used never sums to more."""
    spending, most = Spending(), {"tokens": 1_000}

    def spend(_: int) -> int:
        got = spending.reserve("ann", {"tokens": 5}, wish={"tokens": 15}, most=most)
        if got is None:
            return 0
        assert spending.of("ann")["tokens"] <= 1_000
        spending.settle("ann", got, {"tokens": got["tokens"]})
        return int(got["tokens"])

    with ThreadPoolExecutor(8) as pool:
        total = sum(pool.map(spend, range(400)))
    assert total == spending.used["ann"]["tokens"]
    assert 990 < total <= 1_000


def test_a_counter_is_handed_on_as_numbers() -> None:
    """What was used survives a pickle, or a program that keeps it; reservations do not."""
    spending = Spending({"ann": {"tokens": 7}})
    spending.reserve("ann", {}, wish={"tokens": 5}, most={})
    assert pickle.loads(pickle.dumps(spending)).of("ann") == {"tokens": 7}
    assert Spending(spending.used).used == {"ann": {"tokens": 7}}
    spending.forget()
    assert spending.used == {}


@pytest.mark.parametrize(
    ("used", "said"),
    [
        (5, "used is of type int; allowed: a mapping of callers"),
        ({5: {}}, "a caller of used is of type int"),
        ({"ann": 5}, "used['ann'] is of type int; allowed: a mapping of names to amounts"),
        ({"ann": {"tokens": "5"}}, "used['ann']['tokens'] is of type str; allowed: a number"),
        ({"ann": {"tokens": True}}, "used['ann']['tokens'] is of type bool"),
        ({"ann": {"tokens": -1}}, "used['ann']['tokens']: is no amount; allowed: 0 or more"),
        ({"ann": {"tokens": float("nan")}}, "used['ann']['tokens']: is no amount"),
        ({"ann": {"token": 1}}, "no amount is called 'token'; allowed: tokens, cost_usd, calls"),
    ],
)
def test_what_is_no_count_is_refused(used: Any, said: str) -> None:
    """A slip in what a program kept would let its callers use everything anew."""
    with pytest.raises((TypeError, ValueError), match=re.escape(said)):
        Spending(used)


def test_no_caller_counts_as_another() -> None:
    """However names are put together: each user of each tenant has amounts of his own."""
    names = ["", "a", "b", "a/b", "b/a", "a%2Fb", "/", "%", "a/", "/a", "ann@corp.example"]
    callers = [Caller(user, tenant) for user in names for tenant in names]
    callers = [caller for caller in callers if caller.user or not caller.tenant]
    assert len({spender(caller) for caller in callers}) == len(callers)
    assert spender(Caller("ann@corp.example", "acme")) == "acme/ann@corp.example"
