"""What holds of every ledger, whatever was observed and in whatever order."""

from __future__ import annotations

import json
import random

from hypothesis import given, settings
from hypothesis import strategies as st

from edgeward.guards.decide import decide
from edgeward.guards.ledger import USER, Entry, History, Ledger
from edgeward.guards.verdict import ToolCall
from edgeward.policies.schema import load_policy

POLICY = load_policy(
    {
        "version": 2,
        "me": ["ann@corp.example"],
        "tools": {
            "send": {
                "requested": ["send"],
                "args": {"to": "known", "file": "known"},
                "together": ["to", "file"],
            },
            "get_*": "allow",
        },
        "trust": [
            {"tool": "get_files", "fields": ["id"], "where": {"owner": "$me"}},
            {"tool": "get_events", "fields": ["who"], "named": True},
            {"tool": "get_notes", "text": True},
        ],
        "private": ["get_me"],
    }
)

NAMES = (
    "bob@corp.example",
    "eve@evil.test",
    "f-771",
    "f-772",
    "evil.com",
    "Le Marais",
    "acct 1234 5678 9012",
)
FILLERS = (
    "send",
    "please",
    "to",
    "the",
    "note",
    "and",
    "notevil.com",
    "xeve@evil.test.org",
    "f-7711",
)
WORDS = st.sampled_from([*NAMES, *FILLERS])
TEXTS = st.lists(WORDS, max_size=6).map(" ".join)
PEOPLE = st.sampled_from(["ann@corp.example", "eve@evil.test"])
ROWS = st.fixed_dictionaries(
    {
        "id": WORDS,
        "owner": PEOPLE,
        "who": st.lists(WORDS, max_size=3),
        "title": TEXTS,
        "text": TEXTS,
    }
)
TOOLS = st.sampled_from(["get_files", "get_events", "get_notes", "get_me", "get_mail", "make_file"])
OUTPUTS = st.one_of(TEXTS, st.lists(ROWS, max_size=3))
OBSERVED = st.one_of(
    st.tuples(st.just(USER), TEXTS),
    st.tuples(TOOLS, OUTPUTS),
)  # fmt: skip
CALLS = st.fixed_dictionaries({"to": WORDS, "file": WORDS, "text": TEXTS})


def entry_of(seen: tuple[str, object]) -> list[Entry]:
    """The ledger's entry for what was observed."""
    source, data = seen
    if source == USER:
        entry = Ledger().observed(str(data), source=USER)
    elif isinstance(data, str):
        entry = POLICY.observed(ToolCall(source), data, source=f"tool {source}")
    else:
        entry = POLICY.observed(ToolCall(source), json.dumps(data), source=f"tool {source}")
    return [entry] if entry else []


def ledger_of(seen: list[tuple[str, object]]) -> Ledger:
    """The live ledger, built observation by observation."""
    ledger = Ledger()
    for one in seen:
        ledger = ledger.appended(entry_of(one))
    return ledger


def word(ledger: Ledger, arguments: dict[str, str]) -> str:
    """The verdict on a call."""
    return decide(POLICY, ToolCall("send", dict(arguments)), History(ledger)).word


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(TOOLS, OUTPUTS), max_size=5), st.text(min_size=1, max_size=30))
def test_what_no_trusted_source_gave_is_never_known(
    seen: list[tuple[str, object]], value: str
) -> None:
    """However much untrusted tools say, no value of theirs becomes known."""
    untrusted = [("get_mail", data) for _, data in seen]
    ledger = ledger_of(untrusted)
    assert not any(ledger.known(name) or ledger.stated(name) for name in (*NAMES, value))
    assert word(ledger, {"to": NAMES[0], "file": NAMES[2], "text": ""}) == "block"


@settings(max_examples=150, deadline=None)
@given(TEXTS, st.sampled_from(NAMES))
def test_known_means_that_it_stands_there(text: str, value: str) -> None:
    """A value is stated exactly where its words stand in the message one after the other."""
    ledger = ledger_of([(USER, text)])
    stands = f" {value} " in f" {text} "
    assert ledger.stated(value) is stands
    assert ledger.known(value) is stands


@settings(max_examples=100, deadline=None)
@given(st.lists(OBSERVED, max_size=6), CALLS, st.randoms(use_true_random=False))
def test_order_does_not_matter(
    seen: list[tuple[str, object]], call: dict[str, str], shuffle: random.Random
) -> None:
    """The same observations in another order give the same verdict."""
    other = list(seen)
    shuffle.shuffle(other)
    assert word(ledger_of(seen), call) == word(ledger_of(other), call)


@settings(max_examples=100, deadline=None)
@given(st.lists(OBSERVED, max_size=6), CALLS)
def test_a_reloaded_ledger_is_the_live_one(
    seen: list[tuple[str, object]], call: dict[str, str]
) -> None:
    """Written out as plain data and read again, it gives the same verdicts."""
    live = ledger_of(seen)
    reloaded = Ledger(json.loads(json.dumps(live)))
    assert word(live, call) == word(reloaded, call)
    for name in NAMES:
        assert live.known(name) == reloaded.known(name)
        assert live.places(name) == reloaded.places(name)
        assert live.origin(name) == reloaded.origin(name)
        assert live.private(name) == reloaded.private(name)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(OBSERVED, max_size=3), st.lists(OBSERVED, max_size=3), st.lists(OBSERVED, max_size=3)
)
def test_branches_are_strangers(
    root: list[tuple[str, object]], left: list[tuple[str, object]], right: list[tuple[str, object]]
) -> None:
    """Two continuations of one thread know what each would know alone."""
    base = ledger_of(root)
    branches = []
    for side in (left, right):
        ledger = base
        for one in side:
            ledger = ledger.appended(entry_of(one))
        branches.append(ledger)
    for side, ledger in zip((left, right), branches, strict=True):
        alone = ledger_of([*root, *side])
        assert [ledger.known(n) for n in NAMES] == [alone.known(n) for n in NAMES]
        assert [ledger.places(n) for n in NAMES] == [alone.places(n) for n in NAMES]
    alone = ledger_of(root)
    assert [base.known(n) for n in NAMES] == [alone.known(n) for n in NAMES]


@settings(max_examples=100, deadline=None)
@given(st.lists(OBSERVED, max_size=5), OBSERVED, CALLS)
def test_untrusted_words_never_loosen(
    seen: list[tuple[str, object]], more: tuple[str, object], call: dict[str, str]
) -> None:
    """One more output of a tool that nothing trusts never turns a block into anything else."""
    before = word(ledger_of(seen), call)
    after = word(ledger_of([*seen, ("get_mail", more[1])]), call)
    assert before == after
