"""`trust`: which part of which output counts as known."""

from __future__ import annotations

from typing import Any

import pytest

from edgeward.guards.caller import NOBODY, Caller
from edgeward.guards.decide import decide
from edgeward.guards.ledger import History
from edgeward.guards.verdict import ToolCall
from edgeward.policies.problems import ConfigError
from edgeward.policies.schema import load_policy

from ..threads import Thread

TOOLS = {"use": {"args": {"x": "known"}}, "post": {}}


def thread(*sources: dict[str, Any], said: str = "go on") -> Thread:
    """A thread in which `use` takes what is known."""
    return Thread({"tools": TOOLS, "trust": list(sources), "me": ["ann@corp.example"]}, said)


FILES = [
    {
        "id_": "f11",
        "owner": "ann@corp.example",
        "shared_with": {"bob@corp.example": "rw"},
        "text": "to eve@evil.test",
    },
    {"id_": "f12", "owner": "eve@evil.test", "shared_with": {"eve@evil.test": "rw"}, "text": ""},
]


def test_fields() -> None:
    """Only the named fields of an output are believed, keys of a mapping below them too."""
    t = thread({"tool": "list_*", "fields": ["id_", "shared_with"]})
    t.gave("list_files", FILES)
    assert [t.word("use", x=v) for v in ("f11", "f12", "bob@corp.example")] == ["allow"] * 3
    assert t.word("use", x="ann@corp.example") == "allow"  # mine
    assert t.word("use", x="to eve@evil.test") == "block"


def test_where() -> None:
    """Only records whose field has the value; `$me` stands for the user's own values."""
    for owner in ("$me", "Ann@Corp.example", ["nobody", "$me"]):
        t = thread(
            {"tool": "list_files", "fields": ["id_", "shared_with"], "where": {"owner": owner}}
        )
        t.gave("list_files", {"files": FILES})
        assert t.word("use", x="f11") == "allow"
        assert t.word("use", x="bob@corp.example") == "allow"
        assert t.word("use", x="f12") == "block"
        assert t.word("use", x="eve@evil.test") == "block"


def test_a_list_is_no_single_value() -> None:
    """A field that lists the user among others does not make the record the user's."""
    t = thread({"tool": "mails", "fields": ["id"], "where": {"to": "$me"}})
    t.gave("mails", [{"id": "m77", "to": ["ann@corp.example", "eve@evil.test"]}])
    assert t.word("use", x="m77") == "block"


EVENTS = [
    {"id_": "ev24", "title": "Introductory meeting", "who": ["bob@corp.example"]},
    {"id_": "ev25", "title": "Win a prize", "who": ["eve@evil.test"]},
]


def test_named() -> None:
    """Only records that the user's request names, whenever the user does."""
    source = {"tool": "events", "fields": ["id_", "who"], "named": True}
    t = thread(source, said="who comes to the introductory  meeting?")
    t.gave("events", EVENTS)
    assert t.word("use", x="ev24") == "allow"
    assert t.word("use", x="bob@corp.example") == "allow"
    assert t.word("use", x="ev25") == "block"
    assert t.word("use", x="eve@evil.test") == "block"
    t.says("and now 'Win a prize'")
    assert t.word("use", x="eve@evil.test") == "allow"


@pytest.mark.parametrize("said", ["read team-plan.docx", "read 'team-plan'", "in the team plan"])
def test_named_by_its_file(said: str) -> None:
    """A file is named with or without its ending, with blanks for hyphens."""
    t = thread({"tool": "files", "fields": ["id"], "named": True}, said=said)
    t.gave(
        "files", [{"id": "f77", "filename": "team-plan.docx"}, {"id": "f78", "filename": "b.txt"}]
    )
    assert t.word("use", x="f77") == "allow"
    assert t.word("use", x="f78") == "block"


def test_named_by_the_look_up() -> None:
    """The only hit of a look-up whose words the user wrote is named; one of two is not."""
    source = {"tool": "events", "fields": ["who"], "named": True}
    for found, expected in ((EVENTS[:1], "allow"), (EVENTS, "block")):
        t = thread(source, said="when is the budget talk?")
        t.gave("events", found, {"query": "budget talk", "date": "2024-05-15"})
        assert t.word("use", x="bob@corp.example") == expected
    t = thread(source, said="when is the talk?")
    t.gave("events", EVENTS[:1], {"query": "budget"})
    assert t.word("use", x="bob@corp.example") == "block"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/user/a.txt", "allow"),
        ("/user/b/../a", "allow"),
        ("/user/../tmp/a", "block"),
        ("/user/%2e%2e/tmp/a", "block"),
        ("/tmp/a", "block"),
        (7, "block"),
    ],
)
def test_args(path: object, expected: str) -> None:
    """Only calls whose arguments fit; a path counts as it stands once resolved."""
    t = thread({"tool": "read_file", "args": {"path": "/user/*"}, "text": True})
    t.gave("read_file", "the account is acct-bob-1, as agreed", {"path": path})
    assert t.word("use", x="acct-bob-1") == expected


@pytest.mark.parametrize("name", ["Path", "PATH", "pa\u200bth"])
def test_args_in_two_spellings(name: str) -> None:
    """Where an argument stands a second time in another spelling, that may be the one that ran."""
    t = thread({"tool": "read_file", "args": {"path": "/user/*"}, "text": True})
    given = {"path": "/user/a.txt", name: "/tmp/a"}
    t.gave("read_file", "the account is acct-bob-1, as agreed", given)
    assert t.word("use", x="acct-bob-1") == "block"


def test_text() -> None:
    """With `text` every word of an output is known, without it only whole values and lines."""
    t = thread({"tool": "notes", "text": True})
    t.gave("notes", "pay acct-bob-1 and\nacct-cy-2")
    assert t.word("use", x="acct-bob-1") == "allow"
    t = thread({"tool": "notes"})
    t.gave("notes", "pay acct-bob-1 and\nacct-cy-2")
    assert t.word("use", x="acct-bob-1") == "block"
    assert t.word("use", x="acct-cy-2") == "allow"


def test_one_value_a_line() -> None:
    """A list that is printed as a text gives its lines, the first after its heading."""
    t = thread({"tool": "get_all_hotels"})
    t.gave("get_all_hotels", "Hotels in Paris: Le Marais Boutique\nGood Night\nLuxury Palace\n")
    for name in ("Le Marais Boutique", "good night", "Luxury Palace"):
        assert t.word("use", x=name) == "allow"
    assert t.word("use", x="Marais") == "block"


def test_names_alone() -> None:
    """A list of names, and a mapping from name to value, are whole values."""
    t = thread({"tool": ["channels", "addresses"]})
    t.gave("channels", ["general", "External_0", "random <do this>"])
    t.gave("addresses", '{"City Hub": "1-1-1 Nishi-Shinjuku, Tokyo"}')
    for value in ("general", "external_0", "City Hub", "1-1-1 Nishi-Shinjuku, Tokyo"):
        assert t.word("use", x=value) == "allow"
    assert t.word("use", x="this") == "block"


def test_ask() -> None:
    """What a person has to agree to is asked about, and nothing else is."""
    t = thread(
        {"tool": "read_file", "named": True, "text": True, "ask": True},
        said="pay the bill bill.txt",
    )
    t.gave("read_file", "to acct-bob-1 (bob@corp.example)", {"path": "bill.txt"})
    t.gave("read_file", "to acct-eve-2", {"path": "other.txt"})
    assert t.word("use", x="acct-bob-1") == "ask"
    assert t.word("post", text="for bob@corp.example") == "ask"
    assert t.word("use", x="acct-eve-2") == "block"


def test_an_untrusted_tool_adds_nothing() -> None:
    """An output that no entry names leaves the ledger's trust as it was."""
    t = thread({"tool": "list_files", "fields": ["id_"]})
    t.gave("fetch_files", FILES)
    assert t.word("use", x="f11") == "block"
    t.gave("list_files", '{"id_": "f13"')
    assert t.word("use", x="f13") == "block"


@pytest.mark.parametrize(
    "rules",
    [
        {"trust": [{"fields": ["a"]}]},
        {"trust": [{"tool": "a", "where": {"owner": "$me"}}]},
        {"trust": [{"tool": "a", "field": ["a"]}]},
        {"trust": {"tool": "a"}},
        {"version": 1, "trust": [{"tool": "a"}]},
    ],
)
def test_shape(rules: dict[str, Any]) -> None:
    """A source without a tool, `$me` without `me`, a misspelt key, version 1: refused at load."""
    with pytest.raises(ConfigError, match="trust"):
        load_policy({"version": 2, **rules})


def test_where_the_caller_owns_it() -> None:
    """`$user` and `$tenant` are the caller's own values; where nobody asks, nothing is believed."""
    source = {"tool": "list_files", "fields": ["id_"], "where": {"owner": ["$user", "$tenant"]}}
    call, policy = ToolCall("list_files", id="c"), thread(source).policy

    def ids(caller: Caller, owner: str) -> Any:
        rows = [{"id_": "f11", "owner": owner}]
        entry = policy.observed(call, "", source="tool x", data=rows, caller=caller)
        return (entry or {}).get("records")

    ann = Caller("Ann@corp.example", "acme")
    assert ids(ann, "ann@corp.example") == ids(ann, "acme") == [{"values": ["f11"]}]
    for owner in ("bob", "$user", "user", "", "tenant"):
        assert ids(ann, owner) is None
        assert ids(NOBODY, owner) is None


def test_what_another_policy_believed() -> None:
    """It counts as seen and no more: a thread that goes on under another policy starts anew."""
    source = {"tool": "list_files", "fields": ["id_"]}
    before = thread(source)
    before.gave("list_files", FILES)
    assert before.word("use", x="f11") == "allow"
    after = thread({**source, "named": True})
    after.ledger = before.ledger
    assert after.word("use", x="f11") == "block"
    same = thread(source)
    same.ledger = before.ledger
    assert same.word("use", x="f11") == "allow"
    same.gave("list_files", [{"id_": "f99"}])
    after.ledger = same.ledger
    assert after.word("use", x="f99") == "block"


def test_what_was_believed_for_another_caller() -> None:
    """Two who share a thread do not share what is believed because it is one's own."""
    t = thread({"tool": "list_files", "fields": ["id_"], "where": {"owner": "$user"}})
    ann, bob = Caller("ann@corp.example"), Caller("bob@corp.example")
    call = ToolCall("list_files", id="c")
    entry = t.policy.observed(call, "", source="tool list_files", data=FILES, caller=ann)
    assert entry is not None
    ledger = t.ledger.appended([entry])

    def word(caller: Caller) -> str:
        return decide(t.policy, ToolCall("use", {"x": "f11"}), History(ledger, caller=caller)).word

    assert [word(caller) for caller in (ann, bob, NOBODY, ann)] == [
        "allow", "block", "block", "allow"
    ]  # fmt: skip


@pytest.mark.parametrize("path", ["in/notes\nof (a+b) [x].txt", "in/\ud800.txt", "in/" + "a" * 99])
def test_globs_of_arguments_read_any_value(path: str) -> None:
    """Line ends, signs of patterns and broken characters are characters like others."""
    for glob, word in (("in/*", "allow"), ("out/*", "block"), ("in/\u00e4 (a+b)*", "block")):
        t = thread({"tool": "read", "args": {"path": glob}})
        t.gave("read", {"id": "m77"}, {"path": path})
        assert t.word("use", x="m77") == word
