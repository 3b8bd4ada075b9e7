"""`sequence`: what may run after what, and what must have run before."""

from __future__ import annotations

from typing import Any

import pytest

from edgeward.guards.automata import Automata, States
from edgeward.guards.decide import decide
from edgeward.guards.ledger import History
from edgeward.guards.rules.sequence import order_of
from edgeward.guards.verdict import ToolCall, Verdict
from edgeward.policies.problems import ConfigError
from edgeward.policies.schema import load_policy


class Trace:
    """A trace of calls under one policy."""

    def __init__(self, *entries: dict[str, Any]) -> None:
        self.policy = load_policy({"version": 2, "default": "allow", "sequence": list(entries)})
        rule = order_of(self.policy)
        assert rule is not None
        self.automata: Automata = rule.automata
        self.states: States = self.automata.start

    def ran(self, name: str, *, failed: bool = False) -> Trace:
        """A call was let through, and ran."""
        done = [] if failed else [name]
        self.states = self.automata.advance(self.states, through=[name], done=done)
        return self

    def says(self) -> Trace:
        """The user writes."""
        self.states = self.automata.spoke(self.states)
        return self

    def verdict(self, name: str) -> Verdict:
        """The verdict on a call now."""
        return decide(self.policy, ToolCall(name), History(order=self.states))

    def word(self, name: str) -> str:
        """Its word."""
        return self.verdict(name).word


FETCH = {"after": "fetch_url", "ask": ["send_*", "run_*"], "until": "user"}
SECRET = {"after": ["read_secret", "read_key"], "block": "post_*"}
DEPLOY = {"before": "deploy", "require": ["run_tests", "build"], "until": "write_*"}


def test_after_asks_until_the_user_speaks() -> None:
    """The tool named first makes others wait for a person, and the user's word ends that."""
    t = Trace(FETCH)
    assert t.word("send_mail") == "allow"
    t.ran("fetch_url")
    assert [t.word(n) for n in ("send_mail", "run_x", "read", "fetch_url")] == [
        "ask",
        "ask",
        "allow",
        "allow",
    ]
    assert t.says().word("send_mail") == "allow"


def test_after_blocks_for_good() -> None:
    """Without `until` nothing ends it; each name of a list counts."""
    for tool in ("read_secret", "read_key"):
        assert Trace(SECRET).ran(tool).says().word("post_note") == "block"


def test_until_a_tool_has_run() -> None:
    """A tool ends it only when it ran without an error."""
    t = Trace({"after": "draft", "block": "send", "until": ["review", "user"]}).ran("draft")
    assert t.ran("review", failed=True).word("send") == "block"
    assert t.ran("review").word("send") == "allow"
    assert t.ran("draft").says().word("send") == "allow"


def test_before_wants_every_tool_of_its_list() -> None:
    """A tool that failed has not run; `until` makes all count no longer."""
    t = Trace(DEPLOY)
    assert t.word("deploy") == "block"
    assert t.ran("build").word("deploy") == "block"
    assert t.ran("run_tests", failed=True).word("deploy") == "block"
    assert t.ran("run_tests").word("deploy") == "allow"
    assert t.ran("write_file", failed=True).word("deploy") == "block"


def test_before_may_ask_and_begin_anew_with_the_user() -> None:
    """`otherwise: ask` lets a person decide; `until: user` makes each request its own."""
    t = Trace({"before": "pay", "require": "check", "until": "user", "otherwise": "ask"})
    assert t.word("pay") == "ask"
    assert t.ran("check").word("pay") == "allow"
    assert t.says().word("pay") == "ask"


def test_the_reason_says_what_and_where() -> None:
    """Whoever reads it knows what came first, and what would end it."""
    (finding,) = Trace(FETCH).ran("fetch_url").verdict("send_mail").findings
    assert finding.reason == (
        "tool 'send_mail' needs approval after fetch_url until the user writes again"
    )
    (finding, _) = Trace(DEPLOY).verdict("deploy").findings
    assert finding.reason == (
        "tool 'deploy' may run only after run_tests has run without an error,"
        " and again once write_* has run"
    )


def test_where_nobody_keeps_the_order_everything_counts_as_having_run() -> None:
    """A door without a history of calls is held to the strictest state."""
    policy = Trace(FETCH, DEPLOY).policy
    words = [decide(policy, ToolCall(n), History()).word for n in ("send_x", "deploy", "read")]
    assert words == ["ask", "block", "allow"]


@pytest.mark.parametrize(
    ("entry", "wrong"),
    [
        ({"after": "x", "blok": "y"}, "did you mean block"),
        ({"before": "x"}, "require: is missing"),
        ({"after": "x"}, "add `ask` or `block`"),
        ({"after": [], "ask": "y"}, "is empty"),
        ({"after": "x", "require": "y", "block": "z"}, "unknown key"),
        ({"before": "x", "require": "y", "otherwise": "allow"}, "block or ask"),
        ("x", "is text"),
    ],
)
def test_what_is_no_entry_is_refused(entry: object, wrong: str) -> None:
    """With what is wrong and what to do."""
    with pytest.raises(ConfigError, match=wrong):
        load_policy({"version": 2, "sequence": [entry]})


def test_version_2_only() -> None:
    """A version 1 file has no such key; an empty list says nothing."""
    with pytest.raises(ConfigError, match="version: 2"):
        load_policy({"version": 1, "sequence": [FETCH]})
    assert order_of(load_policy({"version": 2, "sequence": []})) is None


def test_an_entry_may_have_a_name() -> None:
    """Verdicts name it; it is put in shadow by it, and moves all the same."""
    named = Trace({"name": "pages", **FETCH}, SECRET).ran("fetch_url").ran("read_key")
    assert [f.rule for f in named.verdict("send_mail").findings] == ["sequence.pages"]
    assert [f.rule for f in named.verdict("post_it").findings] == ["sequence"]
    rules = [{"name": "pages", **FETCH}, SECRET]
    policy = {"version": 2, "default": "allow", "sequence": rules}
    shadow = load_policy({**policy, "mode": {"sequence.pages": "shadow"}})
    found = decide(shadow, ToolCall("send_mail"), History(order=named.states))
    assert (found.word, found.would_be.word) == ("allow", "ask")
    assert decide(shadow, ToolCall("post_it"), History(order=named.states)).word == "block"
    shadow = load_policy({**policy, "mode": {"sequence": "shadow", "sequence.pages": "enforce"}})
    assert decide(shadow, ToolCall("send_mail"), History(order=named.states)).word == "ask"
    assert decide(shadow, ToolCall("post_it"), History(order=named.states)).word == "allow"
