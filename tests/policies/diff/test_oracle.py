"""No looser, held against brute force: what is said of two policies is so, whatever they are."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from edgeward.guards.caller import Caller
from edgeward.guards.decide import decide
from edgeward.guards.ledger import History
from edgeward.guards.verdict import STRICTNESS
from edgeward.policies.cases import Ran, Said
from edgeward.policies.diff import Witness, compare
from edgeward.policies.schema import load_policy

Policy = dict[str, Any]

WORDS = st.sampled_from(["allow", "ask", "block", "redact"])
NAMES = st.sampled_from(["a", "ab", "a*", "*b", "b?", "x.a", "A", "c"])
TOOLS = ["a", "ab", "A", "b", "bb", "c", "x.a", "x.ab", "x.y", "abb", "B", "a.c"]


def looser(
    old: Policy, new: Policy, witnesses: Iterator[Witness] | list[Witness]
) -> Witness | None:
    """A witness that the new policy decides more loosely, found by trying them all."""
    before, after = load_policy(old), load_policy(new)
    pasts: dict[object, tuple[History, History]] = {}
    for witness in witnesses:
        key = (repr(witness.before), witness.caller, repr(witness.used))
        if key not in pasts:
            pasts[key] = witness.history(before), witness.history(after)
        was = decide(before, witness.call, pasts[key][0]).word
        now = decide(after, witness.call, pasts[key][1]).word
        if STRICTNESS[now] < STRICTNESS[was]:
            return witness
    return None


def agrees(old: Policy, new: Policy, witnesses: list[Witness], *, exact: bool = True) -> None:
    """Brute force finds nothing where nothing is said; what is said is so; nothing is left open."""
    found = compare(old, new)
    before, after = load_policy(old), load_policy(new)
    verdicts = [one for one in found.looser if one.witness is not None]
    for one in verdicts:
        assert one.witness is not None
        words = one.witness.verdict(before).word, one.witness.verdict(after).word
        assert words == (one.old, one.new)
        assert STRICTNESS[words[1]] < STRICTNESS[words[0]]
    if not verdicts and (exact or not found.undecided):
        assert looser(old, new, witnesses) is None
    if exact:
        assert not found.undecided


def both(policies: st.SearchStrategy[Policy]) -> st.SearchStrategy[tuple[Policy, Policy]]:
    """Two policies, of which the second is sometimes the first with one key of another."""

    def mixed(parts: tuple[Policy, Policy, bool]) -> tuple[Policy, Policy]:
        one, other, near = parts
        if not near:
            return one, other
        key = sorted(other)[-1]
        return one, {**one, key: other[key]}

    return st.tuples(policies, policies, st.booleans()).map(mixed)


many = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

by_name = st.fixed_dictionaries(
    {"version": st.just(2), "default": st.sampled_from(["allow", "ask", "block"])},
    optional={
        "tools": st.dictionaries(NAMES, WORDS, max_size=4),
        "tool_denylist": st.lists(NAMES, max_size=2),
        "tool_allowlist": st.lists(NAMES, max_size=3),
    },
)


@many
@given(both(by_name))
def test_names(pair: tuple[Policy, Policy]) -> None:
    """Lists, globs, defaults, other spellings: every tool's verdict."""
    agrees(*pair, [Witness(tool) for tool in TOOLS])


VALUES = [1, 5, 5.5, 10, 11, "5", "0000000000012", "pdf", "x", True, 4711081512345, "https://a.example/",
          "https://b.a.example/x", "https://10.0.0.1/", "/srv/a", "/srv/a/b", "/etc"]  # fmt: skip
LISTS: list[list[Any]] = [[1, 10], ["pdf", "x"], ["x", 5, "/srv/a"], ["https://a.example/", "/etc"]]
bound = st.sampled_from([1, 5, 5.5, 10])
test = st.one_of(
    st.fixed_dictionaries({"max": bound}),
    st.fixed_dictionaries({"min": bound}),
    st.fixed_dictionaries(
        {"in": st.lists(st.sampled_from([1, "pdf", "x", True]), min_size=1, max_size=2)}
    ),
    st.fixed_dictionaries(
        {
            "hosts": st.lists(
                st.sampled_from(["a.example", "*.a.example", "10.0.0.0/30", "*"]),
                min_size=1,
                max_size=2,
            )
        }
    ),
    st.fixed_dictionaries({"under": st.sampled_from(["/srv", "/srv/a", "."])}),
)
condition = st.one_of(
    test,
    st.sampled_from(["any", "ask", "clean", "stated", "known"]),
    st.lists(test, min_size=1, max_size=2),
)
entry = st.fixed_dictionaries(
    {"args": st.dictionaries(st.sampled_from(["x", "y"]), condition, max_size=2)},
    optional={
        "otherwise": st.sampled_from(["ask", "block"]),
        "requested": st.lists(st.sampled_from(["mail", "send", "send it"]), min_size=1, max_size=2),
        "max_calls": st.integers(1, 2),
        "callers": st.sampled_from([{"roles": ["r"]}, {"users": ["u"]}, {"roles": ["r", "s"]}]),
    },
)
with_conditions = st.fixed_dictionaries(
    {
        "version": st.just(2),
        "tools": st.fixed_dictionaries(
            {"t": st.one_of(entry, st.lists(entry, min_size=1, max_size=2), WORDS)}
        ),
    },
    optional={
        "egress_allowlist": st.lists(
            st.sampled_from(["a.example", "*.a.example", "10.0.0.1"]), max_size=2
        ),
        "callers": st.sampled_from([{"roles": ["r"]}, {"users": ["u"]}]),
    },
)
PASTS: list[tuple[Said | Ran, ...]] = [
    (),
    (Said(user="mail"),),
    (Said(user="send it 5 https://a.example/ pdf"),),
    (Said(user="mail"), Ran(tool="t")),
    (Said(user="mail send"), Ran(tool="t"), Said(user="well")),
]
CALLS = [
    Witness("t", {n: v for n, v in (("x", x), ("y", y)) if v is not None}, past, caller)
    for x in (None, *VALUES, *LISTS)
    for y in (None, 5, "pdf")
    for past in PASTS
    for caller in (Caller(), Caller("u", "", ("r",)), Caller("", "", ("s",)))
]  # fmt: skip


@many
@given(both(with_conditions))
def test_conditions(pair: tuple[Policy, Policy]) -> None:
    """Arguments, requests, callers, counts, in one way or several."""
    agrees(*pair, CALLS, exact=False)


WORDS_OF_ARGUMENTS = ["stated", "known", "created", "mine", "same_site", "words", "clean", "dated"]
flow_word = st.sampled_from(WORDS_OF_ARGUMENTS)
flow = st.one_of(flow_word, st.lists(flow_word, min_size=1, max_size=3), st.just("any"))
source = st.fixed_dictionaries(
    {"tool": st.sampled_from(["find", "f*", "read"])},
    optional={
        "fields": st.sampled_from([["mail"], ["mail", "note"]]),
        "named": st.booleans(),
        "text": st.booleans(),
        "ask": st.booleans(),
        "where": st.sampled_from([{"kind": "a"}, {"kind": ["a", "b"]}]),
    },
)
by_belief = st.fixed_dictionaries(
    {
        "version": st.just(2),
        "default": st.just("allow"),
        "tools": st.fixed_dictionaries(
            {
                "t": st.fixed_dictionaries(
                    {"args": st.fixed_dictionaries({"x": flow}, optional={"y": flow})},
                    optional={
                        "together": st.just(["x", "y"]),
                        "otherwise": st.sampled_from(["ask", "block"]),
                    },
                )
            },
            optional={"u": st.sampled_from(["allow", "redact"])},
        ),
    },
    optional={
        "trust": st.lists(source, max_size=2),
        "private": st.sampled_from([["find"], ["read"], ["f*"], ["t", "find"]]),
        "me": st.sampled_from([["emma@a.example"], ["emma@a.example", "Zoe Quill"]]),
    },
)
RECORDS: list[dict[str, Any]] = [
    {"title": "Big Plan", "mail": "ann@a.example", "note": "QX-5512-9921", "kind": "a"},
    {"title": "Big Plan", "mail": "bob@b.example", "note": "see https://c.example/a", "kind": "b"},
]
BELIEFS: list[tuple[Said | Ran, ...]] = [
    (),
    (Said(user="Tell ann@a.example of https://c.example/b, Big Plan, 2026-06-05"),),
    (Ran(tool="find", result=RECORDS),),
    (Said(user="Big Plan"), Ran(tool="find", result=RECORDS[1:])),
    (Said(user="Big Plan"), Ran(tool="read", result=RECORDS[:1])),
    (Ran(tool="read", result="bob@b.example wrote QX-5512-9921 and more"),),
    (Ran(tool="create_x", result={"id": "QX-5512-9921"}),),
]
SENT = [
    *("ann@a.example", "bob@b.example", "emma@a.example", "Zoe Quill", "QX-5512-9921", "hello"),
    *("https://c.example/a", "https://c.example/b", "Big Plan", "2026-06-05", "Plan Big", 12, True),
]
BELIEVING = [
    Witness(tool, {n: v for n, v in (("x", x), ("y", y)) if v is not None}, past)
    for tool in ("t", "u", "find")
    for x in (None, *SENT)
    for y in (None, "ann@a.example", "QX-5512-9921")
    for past in BELIEFS
]


@settings(many, max_examples=25)
@given(both(by_belief))
def test_beliefs(pair: tuple[Policy, Policy]) -> None:
    """Words of conditions, `trust`, `me` and `private`, over results that say all of it."""
    agrees(*pair, BELIEVING, exact=False)


step = st.sampled_from(["a", "b", "c*", "user"])
names = st.sampled_from(["a", "b", "c*", ["a", "b"]])
order = st.one_of(
    st.fixed_dictionaries({"after": names, "block": names}, optional={"until": step}),
    st.fixed_dictionaries({"after": names, "ask": names}, optional={"until": step}),
    st.fixed_dictionaries(
        {"before": names, "require": names},
        optional={"until": step, "otherwise": st.sampled_from(["ask", "block"])},
    ),
)
in_order = st.fixed_dictionaries(
    {"version": st.just(2), "default": st.just("allow"), "sequence": st.lists(order, max_size=3)}
)
EVENTS = [Ran(tool="a"), Ran(tool="a", failed=True), Ran(tool="b"), Ran(tool="cc"), Said(user="go")]
ORDERED = [
    Witness(tool, before=past)
    for length in range(3)
    for past in product(EVENTS, repeat=length)
    for tool in ("a", "b", "c", "d")
]


@settings(many, max_examples=20)
@given(both(in_order))
def test_sequences(pair: tuple[Policy, Policy]) -> None:
    """Gates, over every short past."""
    agrees(*pair, ORDERED)


amounts = st.fixed_dictionaries(
    {}, optional={"calls": st.integers(1, 2), "tokens": st.integers(1, 2)}
)
with_limits = st.fixed_dictionaries(
    {"version": st.just(2), "default": st.just("allow")},
    optional={
        "limits": st.fixed_dictionaries(
            {}, optional={"run": amounts, "thread": amounts, "caller": amounts}
        ),
        "token_budget_per_session": st.integers(0, 2),
    },
)
SCOPES = ("run", "thread", "caller")
USED = [
    Witness(
        "t",
        used={s: {"calls": c, "tokens": t} for s, c, t in zip(SCOPES, calls, tokens, strict=True)},
    )
    for calls in product(range(3), repeat=3)
    for tokens in product(range(3), repeat=3)
    if calls[0] <= calls[1] and tokens[0] <= tokens[1]
]


@settings(many, max_examples=20)
@given(both(with_limits))
def test_limits(pair: tuple[Policy, Policy]) -> None:
    """Amounts of a run, a thread and a caller; a run never uses more than its thread."""
    agrees(*pair, USED)


@pytest.mark.parametrize(
    "name", ["allow_all", "assistant", "coding", "default", "example", "finance", "read_only"]
)
def test_a_shipped_policy_is_no_looser_than_itself(name: str) -> None:
    """Nor is anything of it left open."""
    found = compare(name, name)
    assert (found.looser, found.undecided) == ((), ())
