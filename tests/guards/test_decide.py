"""Strictest wins, order never matters, and what cannot be decided is blocked."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, replace

import pytest

from edgeward.guards.decide import Check, Policy, decide
from edgeward.guards.ledger import USER, History, Ledger
from edgeward.guards.normalise import Examined
from edgeward.guards.patterns import PatternSet
from edgeward.guards.verdict import Finding, ToolCall, Word
from edgeward.policies.schema import load_policy

CALL = ToolCall("tool", {"a": "x"})


@dataclass(frozen=True)
class Says:
    """A check that says one word of everything; `fails` raises."""

    word: Word | str
    rule: str = "test"

    def __call__(self, call: Examined, history: History) -> Iterable[Finding]:
        if self.word == "fails":
            raise LookupError(f"quotes {call.arguments}")
        if self.word != "silent":
            yield Finding(self.rule, self.word, f"says {self.word}")  # type: ignore[arg-type]


def policy(*checks: Check, **other: object) -> Policy:
    """A policy of these checks."""
    return replace(Policy("test", "0" * 64, checks, PatternSet()), **other)  # type: ignore[arg-type]


@pytest.mark.parametrize("words", list(itertools.permutations(("allow", "redact", "ask", "block"))))
def test_strictest_wins_in_every_order(words: tuple[Word, ...]) -> None:
    """Any block beats any ask beats any redact beats any allow."""
    assert decide(policy(*map(Says, words)), CALL, History()).word == "block"
    milder = [word for word in words if word != "block"]
    assert decide(policy(*map(Says, milder)), CALL, History()).word == "ask"


def test_nothing_to_say_is_allow() -> None:
    """Without an objection the call is allowed, under this policy's digest."""
    verdict = decide(policy(Says("silent")), CALL, History())
    assert (verdict.word, verdict.findings, verdict.policy) == ("allow", (), "0" * 64)


def test_no_policy_blocks() -> None:
    """A policy that is missing blocks."""
    assert decide(None, CALL, History()).word == "block"


def test_fault_blocks() -> None:
    """Arguments that could not be read block, with their fault and without a secret in it."""
    call = ToolCall("tool", {}, fault="field AKIAIOSFODNN7EXAMPLE is no number")
    verdict = decide(policy(), call, History())
    assert verdict.word == "block"
    assert "cannot be checked" in verdict.reason
    assert "AKIA" not in verdict.reason


def test_check_that_raises_blocks() -> None:
    """A rule that raises blocks and is named; the checks after it still speak (F011)."""
    verdict = decide(policy(Says("fails", "broken"), Says("block")), CALL, History())
    assert verdict.word == "block"
    assert [f.rule for f in verdict.findings] == ["broken", "test"]
    assert "broken" in verdict.findings[0].reason
    assert "quotes" not in verdict.reason


def test_fail_closed_false_is_recorded() -> None:
    """With fail_closed: false a raising check allows, and the verdict says so (F011)."""
    verdict = decide(policy(Says("fails"), fail_closed=False), CALL, History())
    assert verdict.word == "allow"
    assert "fail_closed: false" in verdict.findings[0].reason


def test_what_is_no_json_blocks_even_then() -> None:
    """Arguments that cannot be examined block, whatever fail_closed says."""
    call = ToolCall("tool", {"a": {1: "x"}})
    verdict = decide(policy(Says("allow"), fail_closed=False), call, History())
    assert verdict.word == "block"


@pytest.mark.parametrize(
    "name", ["", "  ", "a\u200bb", "a\x07b", "send_\u0435mail", "ѕсоре", "ｆｕｌｌ"]
)
def test_no_policy_allows_such_a_name(name: str) -> None:
    """Empty names, hidden characters and look-alike letters are blocked by every policy."""
    assert decide(policy(Says("allow")), ToolCall(name, {}), History()).word == "block"


@pytest.mark.parametrize("name", ["get_émail", "ツール", "поиск", "get-x.y/z:w", "A B"])
def test_names_in_other_scripts(name: str) -> None:
    """A name in another script that imitates nothing is for the policy to decide."""
    assert decide(policy(), ToolCall(name, {}), History()).word == "allow"


def test_findings_are_bounded() -> None:
    """A verdict keeps at most fifty findings, the deciding ones first."""
    checks = [Says("allow") for _ in range(80)] + [Says("block")]
    verdict = decide(policy(*checks), CALL, History())
    assert len(verdict.findings) == 50
    assert verdict.word == "block"
    assert verdict.findings[0].word == "block"


def test_finding_says_where_what_and_whence() -> None:
    """A finding names rule, line, argument, value and where the value was first seen."""
    loaded = load_policy(
        {"version": 1, "egress_allowlist": ["example.com"],
         "arg_rules": [{"name": "evil", "reason": "goes to evil", "regex": "evil"}]}
    )  # fmt: skip
    entry = Ledger().observed("see https://evil.test/x", source="fetch_url", call_id="c1")
    assert entry is not None
    history = History(Ledger([entry]))
    call = ToolCall("tool", {"cc": [{"url": "https://evil.test/x"}]})
    egress = {f.rule: f for f in decide(loaded, call, history).findings}
    found = egress["egress_allowlist"]
    assert found.argument == "cc[0].url"
    assert found.value == "evil.test"
    assert str(found.origin) == "fetch_url (c1)"
    assert found.where
    rule = egress["arg_rules.evil"]
    assert (rule.reason, rule.argument) == ("goes to evil", "cc[0].url")
    assert str(rule.origin) == "fetch_url (c1)"
    mine = Ledger().observed("https://evil.test/x please", source=USER)
    assert mine is not None
    said = decide(loaded, call, History(Ledger([entry, mine]))).findings
    assert all(f.origin and f.origin.source == USER for f in said)


@pytest.mark.parametrize(
    "host", ["akiaiosfodnn7example.evil.test", "AKIAIOSFODNN7EXAMPLE.evil.test"]
)
def test_no_secret_in_a_reason(host: str) -> None:
    """A secret that leaves as a host name is not repeated in reason or value."""
    loaded = load_policy({"version": 1, "egress_allowlist": []})
    verdict = decide(loaded, ToolCall("tool", {"url": f"https://{host}/"}), History())
    assert verdict.word == "block"
    assert "iosfodnn" not in repr(verdict).casefold()
