"""What a decision costs is counted, not timed: in calls of functions, Python's and C's.

The past must not count at all; a text at most in proportion to its length.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from edgeward.guards.decide import Policy, decide
from edgeward.guards.ledger import USER, History, Ledger
from edgeward.guards.normalise import MAX_SEARCHED
from edgeward.guards.verdict import ToolCall
from edgeward.policies.schema import load_policy
from tests.steps import steps_of

POLICY: dict[str, object] = {
    "version": 2,
    "tools": {
        "send_email": {
            "requested": ["send", "mail"],
            "args": {"to": "known", "subject": "any"},
            "together": ["to", "subject"],
        },
        "write_file": "allow",
    },
    "trust": [{"tool": "find_person", "fields": ["email"]}],
    "private": ["read_account"],
    "egress_allowlist": ["corp.example"],
    "arg_rules": [{"name": f"r{n}", "regex": rf"forbidden[-_ ]{n}\b"} for n in range(10)],
}
MAIL = ToolCall(
    "send_email",
    {
        "to": "bob@corp.example",
        "subject": "report",
        "body": "Hello Bob, the report is done: we met on 2024-05-01 and all agreed. " * 3,
    },
)


@pytest.fixture(scope="module")
def policy() -> Policy:
    return load_policy(POLICY)


def _steps(policy: Policy, call: ToolCall, history: History) -> int:
    """The calls of functions that a decision makes, once everything is warm."""
    decide(policy, call, history)
    return steps_of(lambda: decide(policy, call, history))


def _history(policy: Policy, outputs: int) -> History:
    asked = Ledger().observed("Send Bob (bob@corp.example) a mail: the report.", source=USER)
    assert asked is not None
    entries = [asked]
    numbers = "Card 4000 1234 5678 9017, account DE89370400440532013000"
    secret = policy.observed(ToolCall("read_account"), numbers, source="tool read_account")
    assert secret is not None
    entries.append(secret)
    for n in range(outputs):
        for name, output in (
            ("find_person", json.dumps([{"email": f"p{n}@corp.example"}])),
            ("read_account", json.dumps({"iban": f"DE893704004405{n:08}", "note": "rent of May"})),
            ("read_page", f"Page {n}: see https://site{n}.example/x. " + "a word or two " * 40),
        ):
            entry = policy.observed(ToolCall(name, id=f"{name}{n}"), output, source=name)
            assert entry is not None
            entries.append(entry)
    return History(ledger=Ledger().appended(entries))


def test_the_past_costs_nothing(policy: Policy) -> None:
    """A decision after 3,000 observations takes the very steps of one after 30."""
    short, long = _history(policy, 10), _history(policy, 1_000)
    assert decide(policy, MAIL, long) == decide(policy, MAIL, short)
    assert _steps(policy, MAIL, long) == _steps(policy, MAIL, short)


def test_rules_cost_nothing(policy: Policy) -> None:
    """Fifty times the rules, hosts and tools, and a decision takes the same steps."""
    tools: Any = POLICY["tools"]
    many = load_policy(
        {
            **POLICY,
            "tools": {**tools, **{f"tool_{n}_*": "ask" for n in range(500)}},
            "egress_allowlist": ["corp.example", *(f"h{n}.example" for n in range(500))],
            "arg_rules": [{"name": f"r{n}", "regex": rf"forbidden[-_ ]{n}\b"} for n in range(500)],
        }
    )
    assert _steps(many, MAIL, _history(many, 10)) == _steps(policy, MAIL, _history(policy, 10))


def test_plain_text_costs_one_pass(policy: Policy) -> None:
    """A long document of which nothing is encoded is searched whole: no step more than a short."""
    short, long = (
        ToolCall("write_file", {"path": "a.txt", "text": "The quick brown fox. " * times})
        for times in (10, 10_000)
    )
    assert decide(policy, long, History()).word == "allow"
    assert _steps(policy, long, History()) == _steps(policy, short, History())


@pytest.mark.parametrize(
    "piece",
    ["a", "a@", "a@b.example ", "http://", "http://a.example ", "%25", "%2e", "QWxhZGRpbjpv",
     "4 4-", "\\u0061", '{"a":', "  ", "4", "\u202ea\u0301", "é", "//", "\\\\", "&amp;",
     "\u200ba", "4a ", "[1,", "DE89370400440532013000 ", "a.b.", "../", "readFile(", "sk-ant-",
     "eyJ", "，", "1,000 "],
)  # fmt: skip
def test_no_text_costs_more_than_its_length(policy: Policy, piece: str) -> None:
    """Twice a hostile text takes at most about twice the steps."""
    history = _history(policy, 10)
    steps = [
        _steps(policy, ToolCall("send_email", {"to": "bob@corp.example", "body": text}), history)
        for text in (piece * (size // len(piece)) for size in (8_000, 16_000))
    ]
    assert steps[1] < 2.2 * steps[0]


def test_more_than_a_model_writes_is_not_searched(policy: Policy) -> None:
    """A text beyond the bound is blocked, with the bound, in a handful of steps."""
    call = ToolCall("write_file", {"text": "%25" * (MAX_SEARCHED // 3 + 1)})
    verdict = decide(policy, call, History())
    assert (verdict.word, len(verdict.findings)) == ("block", 1)
    assert f"longer than {MAX_SEARCHED}" in verdict.reason
    assert _steps(policy, call, History()) < 60


@pytest.mark.parametrize("sign", ["中", "\u2167", "\U000e0041", "\ud800"])
def test_signs_beyond_ascii_count_as_their_bytes(policy: Policy, sign: str) -> None:
    """What takes three bytes a sign, and longer to read, is bounded at a third as many signs."""
    size = len(sign.encode("utf-8", "surrogatepass"))
    text = sign * (MAX_SEARCHED // size + 1)
    verdict = decide(policy, ToolCall("write_file", {"text": text}), History())
    assert verdict.word == "block"
    assert f"longer than {MAX_SEARCHED} bytes" in verdict.reason


def test_a_long_text_of_any_script_is_read(policy: Policy) -> None:
    """A hundred thousand signs of Chinese are no more than a model writes."""
    call = ToolCall("write_file", {"text": "请在星期五之前审阅。" * 10_000})
    assert decide(policy, call, History()).word == "allow"


@pytest.mark.parametrize("named", ["Ann", "Somebody Else"])
def test_a_record_that_is_looked_up_again_and_again(named: str) -> None:
    """An order that is polled costs what it stands in the thread, and no power of that."""

    def steps(times: int) -> int:
        record = {
            "when": [[named]],
            "of": ["ORD-77120"],
            "values": ["ORD-77120", named],
            "texts": [],
        }
        entries = [
            {"source": "tool get_order", "call": str(n), "values": [], "records": [record]}
            for n in range(times)
        ]
        asked = Ledger().observed("Where is the order of Ann?", source=USER)
        assert asked is not None
        ledger = Ledger([asked, *entries])
        assert bool(ledger.places("ORD-77120")) == (named == "Ann")
        again = Ledger([asked, *entries])
        again.known("ORD-77120")
        return steps_of(lambda: again.places("ORD-77120"))

    few = steps(50)
    assert steps(200) < 5 * few


def test_arguments_that_an_entry_names_and_a_call_does_not_have() -> None:
    """An entry for many tools names arguments of all of them: a call pays for its own."""

    def steps(others: int) -> int:
        args = {"to": "known", **{f"other_{n}": "known" for n in range(others)}}
        loaded = load_policy({"version": 2, "tools": {"send_email": {"args": args}}})
        return _steps(loaded, MAIL, _history(loaded, 3))

    assert steps(200) == steps(2)
