"""The ledger: indexed once, plain data, versions that do not see one another's future."""

from __future__ import annotations

import copy
import json
import pickle

from edgeward.guards.caller import Caller
from edgeward.guards.ledger import USER, Entry, Ledger, judge, values_in
from edgeward.guards.seen import MAX_PLACES, RECORD_BITS


def said(text: str) -> Entry:
    """The entry for a message of the user."""
    entry = Ledger().observed(text, source=USER)
    assert entry is not None
    return entry


def trusted(*values: str, **more: object) -> Entry:
    """The entry for an output in which these values are trusted."""
    return {
        "source": "tool t",
        "call": "c",
        "values": [],
        "records": [{"values": [*values], **more}],
    }


def test_versions_share_an_index_and_no_future() -> None:
    """A version knows what it held when it was made, whatever is appended later."""
    empty = Ledger()
    first = empty.appended([said("write to bob@corp.example")])
    second = first.appended([said("and to cy@corp.example"), trusted("f77")])
    assert first.known("bob@corp.example")
    assert not first.known("cy@corp.example")
    assert not first.known("f77")
    assert not first.places("f77")
    assert not first.said(frozenset({"and"}))
    assert not empty.known("bob@corp.example")
    assert second.known("cy@corp.example")
    assert second.known("f77")


def test_branches_do_not_leak_into_one_another() -> None:
    """Two threads that continue one version differently know only their own continuation."""
    root = Ledger().appended([said("hello there")])
    one = root.appended([said("for bob@corp.example"), {**trusted(), "created": ["f1-one"]}])
    two = root.appended([said("for eve@evil.test"), {**trusted(), "private": ["secret77"]}])
    again = root.appended([said("for bob@corp.example")])
    assert one.known("bob@corp.example")
    assert not one.known("eve@evil.test")
    assert two.known("eve@evil.test")
    assert not two.known("bob@corp.example")
    assert not two.known("f1-one")
    assert not one.private("a secret77")
    assert two.private("a secret77") == "secret77"
    assert again.known("bob@corp.example")
    assert not again.known("f1-one")


def test_reload() -> None:
    """Stored as JSON, pickled or copied, it knows what it knew."""
    ledger = Ledger().appended(
        [
            said("pay bob@corp.example 10.00"),
            trusted("f77", when=[["bob@corp.example"]]),
            trusted("f78", ask=True),
        ]
    )
    stored = json.loads(json.dumps(ledger))
    for other in (Ledger(stored), pickle.loads(pickle.dumps(ledger)), copy.deepcopy(ledger)):
        assert list(other) == list(ledger)
        assert other.known("f77")
        assert not other.known("f78")
        assert other.known("f78", doubts=True)
        assert other.places("bob@corp.example") == other.places("10")
        assert str(other.origin("bob@corp.example")) == USER


def test_what_a_record_wants_named() -> None:
    """A record that counts only if named: for all values of one of its alternatives."""
    record = trusted("f77", when=[["budget talk", "team red"], ["Introduction"], []])
    for text, known in (
        ("the budget talk", False),
        ("the budget talk of team red", True),
        ("introduction", True),
        ("f7", False),
    ):
        assert Ledger([record, said(text)]).known("f77") is known
        assert Ledger([said(text), record]).known("f77") is known


def test_short_values() -> None:
    """A short value is never stated; a trusted record can hold it, and `places` finds it."""
    ledger = Ledger([said("give 12 to Al"), trusted("24")])
    assert not ledger.stated("12")
    assert not ledger.known("12")
    assert not ledger.known("Al")
    assert ledger.known("24")
    assert ledger.places("12") == ledger.places("Al") != set()


def test_malformed_entries_trust_nothing() -> None:
    """An entry of another shape, as an old checkpoint could hold, is ignored where it is odd."""
    odd: list[Entry] = [
        {"source": "user", "call": "", "values": ["a@b.example"]},
        {
            "source": "tool t",
            "call": "",
            "values": None,
            "records": ["f77", {"values": "f78"}, None],
        },
        {"source": "tool t", "call": "", "created": "f79", "private": [7]},
        {},
    ]
    ledger = Ledger(odd)
    assert not any(ledger.known(v) for v in ("f77", "f78", "f79", "a@b.example"))
    assert str(ledger.origin("a@b.example")) == "user"


def test_a_value_that_stands_everywhere() -> None:
    """More places than are looked at change nothing: the first ones tell."""
    ledger = Ledger([said("abcd " * (MAX_PLACES + 50) + "bob smith"), trusted(*["abcd"] * 5)])
    assert ledger.known("abcd")
    assert ledger.known("bob smith")
    assert not ledger.known("abcd smith")
    assert not ledger.known("abcd " * 2_000)


def test_origin_prefers_the_user() -> None:
    """A value that a tool brought first and the user wrote later is the user's."""
    ledger = Ledger()
    seen = ledger.observed("see evil.test/x", source="tool fetch", call_id="c1")
    ledger = ledger.appended([seen] if seen else [])
    assert str(ledger.origin("evil.test/x")) == "tool fetch (c1)"
    assert str(ledger.appended([said("evil.test/x!")]).origin("EVIL.test/x")) == USER
    assert ledger.origin("nothing") is None


def test_values_in() -> None:
    """What can identify something, once each, in order; plain words are left out."""
    text = "Write to <Bob@corp.example>, see https://corp.example:80/a?b and /etc/passwd."
    assert values_in(text) == [
        "bob@corp.example",
        "corp.example",
        "https://corp.example:80/a?b",
        "/etc/passwd",
    ]


def test_file_5_is_not_event_5() -> None:
    """A short number is known to what speaks of its source; a telling value to everything."""
    files: Entry = {**trusted("5", "f-771"), "source": "tool list_files", "created": ["6"]}
    ledger = Ledger([files])
    for about, known in (
        ((frozenset({"file"}),), True),
        ((frozenset({"email"}), frozenset({"file"})), True),
        ((frozenset({"event"}),), False),
        ((), True),
        ((frozenset(),), True),
    ):
        assert ledger.known("5", about=about) is known
        assert ledger.known("6", about=about) is known
        assert ledger.created("6", about=about) is known
        assert ledger.known("f-771", about=about)


def test_an_entry_with_more_records_than_places() -> None:
    """Records of one observation have numbers of so many bits: what is beyond is believed not."""
    records = [{"values": [f"value{n}"]} for n in range((1 << RECORD_BITS) + 1)]
    ledger = Ledger([{"source": "tool t", "call": "c", "values": [], "records": records}])
    assert ledger.known(f"value{(1 << RECORD_BITS) - 2}")
    assert not ledger.known(f"value{1 << RECORD_BITS}")


def test_what_another_policy_may_believe_is_told_once_a_version() -> None:
    """Each policy and caller has an answer of its own, which a new entry makes void."""
    ledger = Ledger([said("hello there"), trusted("value-one") | {"judged": "first"}])
    ann, bob = Caller(user="ann"), Caller(user="bob")
    second = ledger.judged_by("second", ann)
    assert second is not ledger
    assert second is ledger.judged_by("second", ann)
    assert ledger.judged_by("second", bob) is not second
    assert ledger.judged_by("first", ann).known("value-one")
    assert not ledger.judged_by("second", ann).known("value-one")
    ledger.grow(trusted("value-two") | {"judged": "second"})
    assert ledger.judged_by("second", ann).known("value-two")
    assert not ledger.judged_by("second", ann).known("value-one")
    assert not ledger.judged_by("first", ann).known("value-two")


def test_what_one_caller_may_believe_is_never_told_to_another_that_asks_meanwhile() -> None:
    """Threads share a ledger: one may ask while another's answer is looked for."""
    bob = Caller(user="bob")
    ledger = Ledger(
        [
            trusted("value-one") | {"judged": judge("p", bob)},
            trusted("value-two") | {"judged": judge("p", Caller(user="ann"))},
        ]
    )

    class Interrupted(Caller):
        """A caller that is compared as slowly as on a busy machine."""

        def __eq__(self, other: object) -> bool:
            if isinstance(other, Interrupted):
                assert ledger.judged_by("p", bob).known("value-one")
            return super().__eq__(other)

        __hash__ = Caller.__hash__

    for _ in range(2):
        mine = ledger.judged_by("p", Interrupted(user="ann"))
        assert mine.known("value-two")
        assert not mine.known("value-one")


def test_what_a_later_version_is_sure_of_an_earlier_one_does_not_know() -> None:
    """What was found to be known is kept for the thread, and counts from where it was said."""
    first = Ledger().appended([said("hello")])
    asked = [said("Mail bob@corp.example."), trusted("cy@corp.example", ask=True)]
    later = first.appended(asked)
    assert later.known("bob@corp.example")
    assert later.surely_known("bob@corp.example")
    assert not first.surely_known("bob@corp.example")
    assert not first.known("bob@corp.example")
    assert later.known("cy@corp.example", doubts=True)
    assert not later.surely_known("cy@corp.example")
    assert not later.known("cy@corp.example")
    assert later.said(frozenset({"mail"}))
    assert later.freely_said(frozenset({"mail"}))
    assert not first.freely_said(frozenset({"mail"}))
    assert not first.said(frozenset({"mail"}))
