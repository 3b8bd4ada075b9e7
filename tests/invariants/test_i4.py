"""I4: any block beats any ask beats any redact beats any allow, and what fails is blocked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations, permutations, product
from typing import Any

import pytest

from edgeward.guards.decide import decide
from edgeward.guards.ledger import History
from edgeward.guards.verdict import STRICTNESS, Finding, ToolCall, Word
from edgeward.policies.schema import load_policy
from tests.fakes import ALLOW_ALL, Recorder, agent_graph, answers, ask, turn

CALL = ToolCall("pay", {"what": "x"}, id="c1")


@dataclass(frozen=True)
class Says:
    """A check that says one word of every call, or raises."""

    word: Word | None
    rule: str = "test"

    def __call__(self, call: Any, history: Any) -> list[Finding]:
        if self.word is None:
            raise LookupError("sk-proj-TESTTESTTESTTESTTEST")
        return [Finding(self.rule, self.word, f"says {self.word}")]


def verdict(*words: Word | None, fail_closed: bool = True) -> str:
    checks = tuple(Says(word) for word in words)
    policy = replace(ALLOW_ALL, checks=checks, fail_closed=fail_closed)
    return decide(policy, CALL, History()).word


@pytest.mark.parametrize("words", list(product(STRICTNESS, repeat=3)), ids="-".join)
def test_strictest_wins_in_any_order(words: tuple[Word, ...]) -> None:
    """Of several rules' words the strictest is the verdict, whatever their order."""
    strictest = max(words, key=STRICTNESS.__getitem__)
    assert {verdict(*order) for order in permutations(words)} == {strictest}


def test_check_that_raises() -> None:
    """A check that raises blocks, and its text, which may quote a secret, is not repeated."""
    assert verdict("allow", None) == "block"
    policy = replace(ALLOW_ALL, checks=(Says(None),))
    found = decide(policy, CALL, History())
    assert "LookupError" in found.reason
    assert "sk-proj" not in str(found)


def test_fail_open_is_recorded() -> None:
    """With `fail_closed: false` the call goes on, and the failure is in the record."""
    assert verdict(None, fail_closed=False) == "allow"
    assert verdict(None, "block", fail_closed=False) == "block"
    policy = replace(ALLOW_ALL, checks=(Says(None),), fail_closed=False)
    assert "allowed because of fail_closed: false" in decide(policy, CALL, History()).reason


def test_no_policy_and_no_arguments() -> None:
    """Without a policy, and with arguments that cannot be read, every call is blocked."""
    assert decide(None, CALL, History()).word == "block"
    faulty = replace(CALL, fault="broken")
    assert decide(ALLOW_ALL, faulty, History()).word == "block"


PARTS: dict[str, dict[str, Any]] = {
    "callers": {"callers": {"tenants": ["acme"]}},
    "hosts": {"egress_allowlist": ["corp.example"]},
    "arguments": {"arg_rules": [{"name": "dots", "regex": r"\.\./"}]},
    "limits": {"limits": {"calls": 1}},
}
"""Keys of which each objects to the call below."""

KEY = "sk-proj-TESTTESTTESTTESTTEST"
TOOLS: dict[str, Any] = {
    "allow": "allow",
    "redact": "redact",
    "ask": "ask",
    "asked": {"args": {"to": "known", "text": "any"}, "otherwise": "ask"},
}


@pytest.mark.parametrize("text", ["hello", f"the key is {KEY}", "../x"])
@pytest.mark.parametrize("entry", TOOLS)
def test_rules_of_a_real_policy(entry: str, text: str) -> None:
    """Whatever rules stand together, the strictest word of each alone wins; no reason has a key."""
    call = ToolCall("send", {"to": "eve@evil.test", "text": text}, id="c1")
    history = History(calls={"send": 1}, used={"thread": {"calls": 1}})

    def word(*names: str) -> Word:
        keys = {key: value for name in names for key, value in PARTS[name].items()}
        policy = load_policy({"version": 2, "tools": {"send": TOOLS[entry]}, **keys})
        found = decide(policy, call, history)
        assert KEY not in f"{found.reason}{found.explain()}"
        return found.word

    alone = {name: word(name) for name in PARTS}
    for size in range(len(PARTS) + 1):
        for names in combinations(PARTS, size):
            words = [word(), *(alone[name] for name in names)]
            assert word(*names) == max(words, key=STRICTNESS.__getitem__), names


@pytest.mark.parametrize("word", [None, "block", "ask"])
def test_in_a_graph(word: Word | None) -> None:
    """In a graph a check that raises, blocks or asks in vain keeps the tool from running."""
    recorder = Recorder()
    policy = replace(ALLOW_ALL, checks=(Says("allow"), Says(word)))
    graph = agent_graph(
        [turn(("pay", {"what": "x"}, "c1")), "done"], tools=[recorder.tool("pay")], policy=policy
    )
    assert len(answers(graph.invoke(ask())["messages"])) == 1
    assert recorder.runs == []
