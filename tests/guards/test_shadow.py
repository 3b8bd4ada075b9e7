"""Rules in shadow decide nothing, weaken nothing, and each verdict says what it would be."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edgeward.guards.decide import Check, Policy, decide
from edgeward.guards.ledger import USER, History, Ledger
from edgeward.guards.limits import Limits
from edgeward.guards.normalise import MAX_CHARS, Examined
from edgeward.guards.patterns import PatternSet
from edgeward.guards.results import answered, screen
from edgeward.guards.rules.limits import limits_of
from edgeward.guards.rules.sequence import order_of
from edgeward.guards.shadow import Shadow
from edgeward.guards.verdict import STRICTNESS, Finding, ToolCall, Verdict
from edgeward.guards.withheld import with_withheld
from edgeward.policies.modes import rule_names
from edgeward.policies.schema import load_policy

KEY = "ghp_0123456789abcdefghijABCDEFGHIJ456789"
RULES: dict[str, Any] = {
    "version": 2,
    "default": "ask",
    "me": ["ann@corp.example"],
    "tools": {
        "read_*": "allow",
        "send_*": "ask",
        "send_email": {"args": {"to": "known", "text": "any"}, "max_calls": 1},
        "log": "redact",
        "pay": {"args": {"amount": {"max": 10}}, "otherwise": "ask"},
        "rm": "block",
    },
    "tool_denylist": ["rm_*"],
    "private": ["read_inbox"],
    "egress_allowlist": ["corp.example"],
    "arg_rules": [
        {"name": "traversal", "regex": r"\.\./"},
        {"name": "env", "regex": r"\.env$", "tools": ["read_*"]},
    ],
    "secret_patterns": [{"name": "badge", "regex": "BADGE-[0-9]{8}"}],
    "sequence": [
        {"name": "after_page", "after": "read_page", "ask": "send_*"},
        {"after": "read_key", "block": "log"},
    ],
    "limits": {"tokens": 100, "run": {"calls": 3}},
    "callers": {"roles": ["clerk"]},
}
WHOLE = load_policy(RULES)
ALL_IN_SHADOW = load_policy({**RULES, "mode": "shadow"})
NAMES = sorted(n for n in rule_names(WHOLE.checks) if "secret_patterns." not in n)
NAMES += ["secret_patterns.badge", "secret_patterns.github_token"]
TOOLS = ("read_page", "read_inbox", "read_key", "send_email", "Send_Email", "send_sms", "log")
TOOLS += ("pay", "rm", "rm_all", "stranger", "")
TEXTS = ("hello", "../x", "a.env", "ann@corp.example", "eve@evil.test", KEY, "BADGE-12345678")
TEXTS += ("code 482913X", "")
CALLS = st.builds(
    ToolCall,
    st.sampled_from(TOOLS),
    st.dictionaries(
        st.sampled_from(["to", "text", "amount", "path"]),
        st.one_of(st.sampled_from(TEXTS), st.integers(0, 20)),
        max_size=3,
    ),
    fault=st.sampled_from([None, None, None, "no JSON"]),
)


def history_of(policy: Policy, seed: int) -> History:
    """One of several pasts."""
    ledger = Ledger()
    if seed % 2:
        entry = ledger.observed("write to ann@corp.example", source=USER)
        read = policy.observed(ToolCall("read_inbox"), "code 482913X", source="tool read_inbox")
        ledger = ledger.appended([e for e in (entry, read) if e])
    rule = order_of(policy)
    assert rule is not None
    through = ["read_page", "read_key"] if seed % 3 == 1 else []
    order = rule.automata.advance(rule.automata.start, through=through)
    calls = {"send_email": 1, "read_page": 2} if seed % 5 == 1 else {}
    return History(ledger, calls=calls, tokens_used=200 if seed % 7 == 1 else 0, order=order)


def in_shadow(*names: str) -> Policy:
    """The policy with these rules in shadow."""
    return load_policy({**RULES, "mode": dict.fromkeys(names, "shadow")})


def gist(verdict: Verdict) -> tuple[str, list[Finding]]:
    """What a verdict says, apart from the policy's digest."""
    return verdict.word, list(verdict.findings)


@settings(max_examples=60, deadline=None)
@given(CALLS, st.sets(st.sampled_from(NAMES), min_size=1), st.integers(0, 210))
def test_what_would_be_is_what_enforcing_all_says(
    call: ToolCall, names: set[str], seed: int
) -> None:
    """Word and findings, whatever is in shadow; and what is enforced says what it says alone."""
    policy = in_shadow(*names)
    verdict = decide(policy, call, history_of(policy, seed))
    assert gist(verdict.would_be) == gist(decide(WHOLE, call, history_of(WHOLE, seed)))
    assert verdict.shadow is not None
    assert not [f for f in verdict.findings if f.rule in names or f.rule.split(".")[0] in names]
    enforced = {f.rule for f in verdict.would_be.findings} - names
    spoke = {f.rule for f in verdict.findings}
    kept = {r for r in enforced if not r.startswith("tools.") and r.split(".")[0] not in names}
    assert kept <= spoke


@settings(max_examples=40, deadline=None)
@given(CALLS, st.integers(0, 210))
def test_a_whole_policy_in_shadow_decides_nothing(call: ToolCall, seed: int) -> None:
    """Only what is no rule is refused: a call that cannot be read, a name that is none."""
    verdict = decide(ALL_IN_SHADOW, call, history_of(ALL_IN_SHADOW, seed))
    assert gist(verdict.would_be) == gist(decide(WHOLE, call, history_of(WHOLE, seed)))
    refused = call.fault is not None or not call.name
    assert verdict.word == ("block" if refused else "allow")
    assert {f.rule for f in verdict.findings} <= {"arguments", "tool_name"}


@settings(max_examples=40, deadline=None)
@given(CALLS, st.sets(st.sampled_from(NAMES)), st.sampled_from(NAMES), st.integers(0, 210))
def test_more_in_shadow_is_never_stricter(
    call: ToolCall, names: set[str], one: str, seed: int
) -> None:
    """What is put in shadow takes away its own findings, and nobody else's."""
    if one in ("tools", "default", "private") or one.startswith("tools."):
        return  # of these others know
    less, more = in_shadow(*names, "tool_denylist"), in_shadow(*names, "tool_denylist", one)
    before = decide(less, call, history_of(less, seed))
    after = decide(more, call, history_of(more, seed))
    assert STRICTNESS[after.word] <= STRICTNESS[before.word]
    gone = {f.rule for f in before.findings} - {f.rule for f in after.findings}
    assert not [rule for rule in gone if rule != one and not rule.startswith(f"{one}.")]


def test_what_is_too_long_to_be_seen_whole_runs_where_nothing_looks_at_it() -> None:
    """It is what rules could not see; with one rule enforced it is refused."""
    call = ToolCall("read_page", {"text": "x" * (MAX_CHARS + 1)})
    found = decide(ALL_IN_SHADOW, call, History())
    assert (found.word, found.would_be.word) == ("allow", "block")
    assert decide(in_shadow(*set(NAMES) - {"private"}), call, History()).word == "block"


def verdict_of(policy: Policy, name: str, **arguments: Any) -> Verdict:
    """On a call with nothing before it."""
    return decide(policy, ToolCall(name, arguments), History())


def with_tools(tools: dict[str, Any], *shadow: str, **more: Any) -> Policy:
    """A policy of `tools`, some of them in shadow."""
    mode = dict.fromkeys(shadow, "shadow")
    return load_policy({"version": 2, "tools": tools, "mode": mode, **more})


def test_a_tool_in_shadow_is_not_one_that_nothing_names() -> None:
    """`default` does not count for it, nor for another spelling of its name the other way round."""
    policy = with_tools({"pay": {"args": {"to": "known"}}, "get": "allow"}, "tools.pay")
    found = verdict_of(policy, "pay", to="eve")
    assert (found.word, found.would_be.word) == ("allow", "block")
    assert verdict_of(policy, "send").word == "block"
    assert [f.rule for f in verdict_of(policy, "Pay", to="eve").findings] == ["default"]


def test_an_enforced_entry_that_names_the_tool_as_well_counts() -> None:
    """An entry in shadow does not take a tool out of a glob."""
    policy = with_tools({"send_*": "ask", "send_mail": "allow"}, "tools.send_mail")
    found = verdict_of(policy, "send_mail")
    assert (found.word, found.would_be.word, found.shadowed) == ("ask", "allow", ())
    policy = with_tools({"*": "block", "pay": "ask"}, "tools.pay")
    assert verdict_of(policy, "pay").word == "block"
    policy = with_tools({"*": "allow", "pay": "ask"}, "tools.pay")
    assert (found := verdict_of(policy, "pay")).word == "allow"
    assert found.would_be.word == "ask"


def test_all_of_tools_in_shadow_leaves_default_for_the_others() -> None:
    """`default` is a rule by itself."""
    policy = with_tools({"pay": "block"}, "tools")
    assert verdict_of(policy, "pay").word == "allow"
    assert verdict_of(policy, "rm").word == "block"
    policy = with_tools({"pay": "block"}, "default")
    assert verdict_of(policy, "pay").word == "block"
    found = verdict_of(policy, "rm")
    assert (found.word, [f.rule for f in found.shadowed]) == ("allow", ["default"])


def test_the_more_exact_name_counts() -> None:
    """One entry can be enforced while its key is in shadow."""
    rules = [{"name": n, "regex": n} for n in ("one", "two")]
    mode = {"arg_rules": "shadow", "arg_rules.two": "enforce"}
    policy = load_policy({"version": 2, "default": "allow", "arg_rules": rules, "mode": mode})
    assert verdict_of(policy, "t", a="one").word == "allow"
    assert verdict_of(policy, "t", a="two").word == "block"


def test_an_entry_in_shadow_guards_nothing_private() -> None:
    """Conditions that do not decide do not stand in for `private`."""
    tools = {"post": {"args": {"text": "any"}}}
    for shadow, word in ((), "allow"), (("tools.post",), "block"):
        policy = with_tools(tools, *shadow, private=["inbox"])
        read = policy.observed(ToolCall("inbox"), "the code is 482913X", source="tool inbox")
        past = History(Ledger().appended([read] if read else []))
        call = ToolCall("post", {"text": "482913X"})
        assert decide(policy, call, past).word == word


def test_what_is_private_in_shadow_is_private_for_no_condition() -> None:
    """`clean` asks what is private, too; nor does a gap in the past count."""
    for shadow, word in ((), "block"), (("private",), "allow"):
        policy = with_tools({"post": {"args": {"text": "clean"}}}, *shadow, private=["inbox"])
        read = policy.observed(ToolCall("inbox"), "the code is 482913X", source="tool inbox")
        past = History(Ledger([read] if read else []))
        for history in past, replace(past, ledger=past.ledger.with_gap("much is missing")):
            found = decide(policy, ToolCall("post", {"text": "482913X"}), history)
            assert (found.word, found.would_be.word) == (word, "block")
        text = "[x](https://a.test/?q=482913X)"
        shown = answered(policy, text, private=past.ledger.private)[0]
        assert (shown == text) == (word == "allow")


def test_hosts_in_shadow_bind_no_image_of_a_result() -> None:
    """What may be shown is what it would be without the list."""
    text = "![x](https://evil.test/logo.png)"
    for mode, shown in ("enforce", False), ({"egress_allowlist": "shadow"}, True):
        policy = load_policy({"version": 2, "egress_allowlist": ["a.test"], "mode": mode})
        assert (screen(policy, text).text == text) == shown


def test_a_redact_in_shadow_does_not_mask() -> None:
    """A secret is blocked, as it is for a tool of which nothing is said."""
    policy = with_tools({"log": "redact"}, "tools.log")
    found = verdict_of(policy, "log", text=KEY)
    assert (found.word, found.would_be.word) == ("block", "redact")
    assert all(f.masked is None for f in found.findings)
    policy = with_tools({"log": "redact"}, "secret_patterns")
    found = verdict_of(policy, "log", text=KEY)
    assert (found.word, found.would_be.word) == ("allow", "redact")
    assert KEY not in repr(found)


def test_what_was_masked_before_it_was_judged_runs_masked() -> None:
    """A pattern in shadow blocks nothing, and no secret comes back."""
    call = ToolCall("t", {"a": "[REDACTED:github_token]"})
    for mode, word in ("shadow", "redact"), ({"secret_patterns": "shadow"}, "redact"):
        policy = load_policy({"version": 2, "default": "allow", "mode": mode})
        found = with_withheld(policy, call, decide(policy, call, History()), ["github_token"])
        assert (found.word, found.would_be.word) == (word, "block")
    policy = with_tools({"t": "redact"}, "tools.t")
    found = with_withheld(policy, call, decide(policy, call, History()), ["github_token"])
    assert (found.word, found.would_be.word) == ("block", "redact")


def test_a_limit_in_shadow_stops_nothing_and_is_counted() -> None:
    """It is among what is counted, and not among what ends a run."""
    written = {"tokens": 10, "run": {"calls": 2}, "repeats": 2}
    whole = {"version": 2, "default": "allow", "limits": written}
    policy = load_policy({**whole, "mode": {"limits.thread.tokens": "shadow"}})
    limits = limits_of(policy)
    assert limits is not None
    used = {"thread": {"tokens": 20.0}, "run": {"calls": 0.0}, "caller": {}}
    assert limits.beyond(used, {}) is None
    assert (limits.left(used, "tokens"), len(limits.limits)) == (None, 2)
    found = decide(policy, ToolCall("t"), History(used=used))
    assert (found.word, found.would_be.word) == ("allow", "block")
    assert [f.rule for f in found.shadowed] == ["limits.thread.tokens"]
    limits = limits_of(load_policy({**whole, "mode": {"limits": "shadow"}}))
    assert limits is not None
    assert (limits.held, limits.repeats.most("t")) == ((), Limits().repeats.most("t"))


@dataclass(frozen=True)
class Fails:
    """A check that raises."""

    rule: str = "odd"

    def __call__(self, call: Examined, history: History) -> Iterable[Finding]:
        raise LookupError(f"quotes {call.arguments}")


@pytest.mark.parametrize("closed", [True, False])
def test_a_check_in_shadow_that_raises_is_noted(closed: bool) -> None:
    """It blocks nothing; what it would have done is what `fail_closed` says."""
    checks: tuple[Check, ...] = (Fails(), Fails("other"))
    policy = Policy("p", "0" * 64, checks, PatternSet(), fail_closed=closed)
    shadow = replace(policy, shadow=Shadow(rules={"odd": "shadow", "other": "shadow"}))
    found = verdict_of(shadow, "t", a="x")
    assert (found.word, found.findings) == ("allow", ())
    assert found.would_be.word == ("block" if closed else "allow")
    assert [f.reason.split(" (")[0] for f in found.shadowed] == [
        "the check 'odd' failed",
        "the check 'other' failed",
    ]
    half = replace(policy, shadow=Shadow(rules={"odd": "shadow"}))
    found = verdict_of(half, "t")
    assert [f.rule for f in found.findings] == ["other"]
    assert found.word == ("block" if closed else "allow")


def test_a_verdict_says_both() -> None:
    """What it is, and what it would be, line by line."""
    policy = in_shadow("egress_allowlist")
    history = History(caller=replace(History().caller, roles=("clerk",)))
    call = ToolCall("read_page", {"path": "../x", "to": "https://evil.test"})
    lines = decide(policy, call, history).explain().splitlines()
    assert lines[0] == "block; in shadow: block"
    assert "arg_rules.traversal (block)" in lines[1]
    assert "egress_allowlist (in shadow: block): host 'evil.test'" in lines[2]
    assert policy.shadow == Shadow(rules={"egress_allowlist": "shadow"})
    assert policy.shadow.told == "egress_allowlist"
    plain = decide(policy, ToolCall("read_page"), history)
    assert plain.explain() == "allow; in shadow: allow"


def test_findings_go_where_they_belong() -> None:
    """One more objection is also an objection of what would be; one in shadow only there."""
    verdict = verdict_of(in_shadow("sequence"), "stranger")
    new = Finding("receipts", "block", "no room")
    assert verdict.with_finding(new).word == verdict.with_finding(new).would_be.word == "block"
    noted = in_shadow("sequence").objected(verdict, Finding("sequence", "block", "later"))
    assert (noted.word, noted.would_be.word) == (verdict.word, "block")
    assert WHOLE.objected(verdict, Finding("sequence", "block", "later")).word == "block"


def test_nothing_is_in_shadow_where_nothing_is_said() -> None:
    """A policy without it has no second list of checks, and says nothing of it."""
    for mode in ("enforce", {"tools": "enforce"}, {}):
        policy = load_policy({**copy.deepcopy(RULES), "mode": mode})
        assert (policy.shadow, policy.enforced) == (None, None)
        verdict = verdict_of(policy, "rm")
        assert verdict.shadow is None
        assert verdict.would_be is verdict


def test_the_digest_covers_the_mode() -> None:
    """So that no ticket and no approval of the one is honoured under the other."""
    digests = {WHOLE.digest, load_policy({**RULES, "mode": "shadow"}).digest}
    assert len(digests | {in_shadow(name).digest for name in NAMES}) == 2 + len(NAMES)
