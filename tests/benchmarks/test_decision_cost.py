"""What a decision costs, beside three other engines that decide on tool calls.

CPU time of this thread, the engines in turn, best of a few rounds: ratios hold on a noisy machine,
absolute times do not. Nothing here asserts a time. One command prints the table:

    pip install '.[test,bench]'
    pytest -m benchmark -s -n 0 tests/benchmarks/test_decision_cost.py

`EDGEWARD_BENCH=short` takes fewer samples. A peer that is not installed has no column. No two
engines decide the same: agent-defender searches the raw JSON text and keeps no history; taintgate
looks for values in what it was shown, word for word; Cedar compares, with `like` for patterns.
Each gets the policy of about the same size that its language allows.
"""

from __future__ import annotations

import gc
import importlib
import itertools
import json
import math
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from edgeward.guards.decide import Policy, decide
from edgeward.guards.ledger import USER, History, Ledger
from edgeward.guards.verdict import ToolCall
from edgeward.policies.schema import load_policy

pytestmark = pytest.mark.benchmark

SHORT = os.environ.get("EDGEWARD_BENCH") == "short"
ROUNDS = 2 if SHORT else 5
SECONDS = 0.05 if SHORT else 0.4
"""CPU time of one engine in one round."""

REQUEST = "Send a mail to bob@corp.example: the report. And write a note."
BODY = "Hello Bob, here is the report that you asked for. All numbers are final. Best, Ann. " * 2
MAIL = {"to": "bob@corp.example", "subject": "The quarterly report", "body": BODY}
PATTERNS = (r"--exec{0}\b", r"drop\s+table{0}", r"\brm\s+-rf\s+/srv{0}", r"secret[-_ ]plan{0}")

HOSTILE = (
    *("a", "a@", "a@b.example ", "http://", "http://a.example ", "%25", "QWxh", "4 ", "1,000 "),
    *("\\u0061", "&amp;", "\u200ba", "é", "sk-ant-", "DE89370400440532013000 ", "../"),
)
"""Of what a text is made that costs as much as can be."""
SIZES = (64_000, 240_000, 480_000, 1_000_000)

PEERS = ("agent_defender", "taintgate", "cedarpy")

Decision = Callable[[], object]
Engines = dict[str, Decision]


def _regexes(rules: int) -> list[str]:
    return [PATTERNS[n % len(PATTERNS)].format(n) for n in range(rules)]


def _arg_rules(rules: int) -> list[dict[str, object]]:
    return [
        {"name": f"rule_{n}", "reason": "unwanted", "regex": regex, "tools": ["*"]}
        for n, regex in enumerate(_regexes(rules))
    ]


def _plain_policy(rules: int) -> dict[str, object]:
    """The rules of version 1, which agent-defender reads as well."""
    return {
        "version": 1,
        "tool_allowlist": ["send_email", "write_note"],
        "tool_denylist": ["run_shell"],
        "egress_allowlist": ["corp.example"],
        "arg_rules": _arg_rules(rules),
    }


def _flow_policy(rules: int) -> dict[str, object]:
    """A fifth each: tools, globs, hosts, secrets, patterns; and conditions on the past."""
    part = max(rules // 5, 1)
    mail = {
        "requested": ["send", "mail"],
        "args": {"to": "known", "subject": "any"},
        "max_calls": 3,
    }
    note = {"requested": ["write"], "args": {"title": "any"}, "together": ["title", "title"]}
    return {
        "version": 2,
        "tools": {
            "send_email": mail,
            "write_note": note,
            **{f"tool_{n}": {"args": {"id": "known"}} for n in range(part - 2)},
            **{f"group_{n}_*": "ask" for n in range(part)},
        },
        "trust": [{"tool": "find_person", "fields": ["email", "name"]}],
        "private": ["read_account"],
        "egress_allowlist": ["corp.example", *(f"host{n}.example" for n in range(part - 1))],
        "secret_patterns": [{"name": f"s{n}", "regex": f"KEY{n}-[0-9]{{8}}"} for n in range(part)],
        "arg_rules": _arg_rules(part),
    }


def _edgeward(policy: Mapping[str, object], steps: int = 0) -> Callable[[dict[str, Any]], Decision]:
    loaded = load_policy(policy)
    history = _history(loaded, steps)

    def engine(arguments: dict[str, Any]) -> Decision:
        call = ToolCall("send_email", arguments, id="call")
        return lambda: decide(loaded, call, history)

    return engine


def _outputs(steps: int) -> list[tuple[str, str]]:
    page = "the quick brown fox jumps over the lazy dog. " * 12
    return [
        (
            ("find_person", json.dumps([{"email": f"p{n}@corp.example", "name": f"Person {n}"}])),
            ("read_page", f"Page {n}: https://site{n}.example/x or 030 {n:07}. {page}"),
            ("read_account", json.dumps({"iban": f"DE893704004405{n:08}", "balance": n})),
        )[n % 3]
        for n in range(steps)
    ]


def _history(policy: Policy, steps: int) -> History:
    entries = [Ledger().observed(REQUEST, source=USER)]
    for n, (tool, output) in enumerate(_outputs(steps)):
        call = ToolCall(tool, {"id": n}, id=f"call_{n}")
        entries.append(policy.observed(call, output, source=f"tool {tool}"))
    return History(ledger=Ledger().appended(e for e in entries if e is not None))


def _defender(rules: int, folder: Path) -> Callable[[dict[str, Any]], Decision] | None:
    if not _installed("agent_defender"):
        return None
    from agent_defender.policy import load_policy as load
    from agent_defender.rules import inspect_tool_call
    from agent_defender.schemas import ToolCall as Call

    path = folder / "policy.yaml"
    path.write_text(yaml.safe_dump(_plain_policy(rules)))
    loaded = load(path)

    def engine(arguments: dict[str, Any]) -> Decision:
        function = {"name": "send_email", "arguments": json.dumps(arguments)}
        call = Call(id="call", function=function)
        return lambda: inspect_tool_call(call, loaded)

    return engine


def _taint_policy(rules: int) -> dict[str, object]:
    unwanted = [
        {"tool": "send_email", "when": {"body": {"regex": regex}}, "action": "deny"}
        for regex in _regexes(rules - 1)
    ]
    known = {"tool": "send_email", "when": {"to": {"untrusted": True}}, "action": "ask"}
    allowed = {"tool": "send_email", "action": "allow"}
    return {"default": "ask", "untrusted_sources": ["*"], "rules": [*unwanted, known, allowed]}


def _taintgate(rules: int, steps: int = 0) -> Callable[[dict[str, Any]], Decision] | None:
    if not _installed("taintgate"):
        return None
    import taintgate

    session = taintgate.Session(
        taintgate.Policy.from_dict(_taint_policy(rules)), user_messages=[REQUEST]
    )
    for tool, output in _outputs(steps):
        session.observe(tool, output)
    return lambda arguments: lambda: session.check("send_email", arguments)


def _cedar_policy(rules: int) -> str:
    unwanted = [
        f'forbid(principal, action, resource) when {{ context.body like "*rm -rf /srv{n}*" }};'
        for n in range(rules - 1)
    ]
    allowed = 'permit(principal, action == Action::"send_email", resource);'
    return "\n".join([allowed, *unwanted])


def _cedar(rules: int) -> Callable[[dict[str, Any]], Decision] | None:
    if not _installed("cedarpy"):
        return None
    import cedarpy

    policies = cedarpy.PolicySet.from_str(_cedar_policy(rules))
    entities = cedarpy.Entities.from_json_str("[]")
    request = {
        "principal": 'User::"ann"',
        "action": 'Action::"send_email"',
        "resource": 'Tool::"send_email"',
    }
    return lambda arguments: (
        lambda: cedarpy.is_authorized({**request, "context": arguments}, policies, entities)
    )


def _installed(package: str) -> bool:
    try:
        importlib.import_module(package)
    except ImportError:
        return False
    return True


def _engines(arguments: dict[str, Any], **made: Any) -> Engines:
    return {name: make(arguments) for name, make in made.items() if make is not None}


def _sampled(decision: Decision) -> list[float]:
    """Microseconds of CPU of one decision each, for a while."""
    found: list[float] = []
    until = time.thread_time() + SECONDS
    while len(found) < 3 or time.thread_time() < until:
        start = time.thread_time_ns()
        decision()
        found.append((time.thread_time_ns() - start) / 1_000)
    return sorted(found)


def _row(title: str, engines: Engines) -> str:
    """One line: median and 99th percentile of each engine, of its best round; and the ratios."""
    best: dict[str, tuple[float, float]] = {}
    for decision in engines.values():
        decision()
    gc.collect()
    for _ in range(ROUNDS):
        for name, decision in engines.items():
            found = _sampled(decision)
            figures = (found[len(found) // 2], found[int(len(found) * 0.99)])
            best[name] = min(best.get(name, figures), figures)
    own, *peers = best
    parts = [f"{title:36}", *(f"{n} {p50:9.1f} /{p99:9.1f} us" for n, (p50, p99) in best.items())]
    parts += [f"{peer}/{own} {best[peer][0] / best[own][0]:8.1f}" for peer in peers]
    return " | ".join(parts)


@pytest.fixture
def table(capsys: pytest.CaptureFixture[str]) -> Callable[[str, Engines], None]:
    """Prints one row of the table: p50 / p99, then how many times what a peer costs."""

    def add(title: str, engines: Engines) -> None:
        row = _row(title, engines)
        missing = [peer for peer in PEERS if not _installed(peer)]
        absent = f" | not installed: {', '.join(missing)}" if missing else ""
        with capsys.disabled():
            print("\n" + row + absent, end="")

    return add


@pytest.mark.parametrize("rules", [20, 1_000])
def test_a_short_call(rules: int, tmp_path: Path, table: Any) -> None:
    """250 bytes of arguments, first under plain rules, then with conditions on the past."""
    assert 240 <= len(json.dumps(MAIL)) <= 260
    engines = _engines(
        MAIL,
        edgeward=_edgeward(_plain_policy(rules)),
        agent_defender=_defender(rules, tmp_path),
        taintgate=_taintgate(rules),
        cedarpy=_cedar(rules),
    )
    table(f"250 bytes, {rules} rules", engines)
    engines = _engines(
        MAIL,
        edgeward=_edgeward(_flow_policy(rules), steps=100),
        taintgate=_taintgate(rules, steps=100),
    )
    table(f"250 bytes, {rules} rules, 100 steps", engines)


@pytest.mark.parametrize("size", [64 * 1_024, 400_000, 1_000_000])
def test_a_long_argument(size: int, tmp_path: Path, table: Any) -> None:
    """Prose of this length in one argument; ours blocks a megabyte unread, and says so."""
    prose = "The quick brown fox jumps over the lazy dog. "
    arguments = {**MAIL, "body": (prose * (size // len(prose) + 1))[:size]}
    engines = _engines(
        arguments,
        edgeward=_edgeward(_plain_policy(20)),
        agent_defender=_defender(20, tmp_path),
        taintgate=_taintgate(20),
        cedarpy=_cedar(20),
    )
    verdict: Any = engines["edgeward"]()
    table(f"{size // 1_000} KB of prose ({verdict.word})", engines)


@pytest.mark.parametrize("piece", ["a", "a@", "http://", "%25", "QWxh"])
def test_a_hostile_argument(piece: str, table: Any) -> None:
    """Unbroken text of 64 KB (agent-defender's searches are quadratic: half a minute; left out)."""
    arguments = {**MAIL, "body": piece * (64 * 1_024 // len(piece))}
    engines = _engines(
        arguments,
        edgeward=_edgeward(_plain_policy(20)),
        taintgate=_taintgate(20),
        cedarpy=_cedar(20),
    )
    table(f"64 KB of {piece!r}", engines)


@pytest.mark.parametrize("policy", [_plain_policy(20), _flow_policy(20)], ids=["plain", "flow"])
@pytest.mark.parametrize("piece", HOSTILE)
def test_how_a_hostile_argument_grows(piece: str, policy: Any, capsys: Any) -> None:
    """The exponent from 64 KB to what is searched: 1 is linear. A megabyte is blocked unread."""
    engine = _edgeward(policy, steps=100)
    cost = {}
    for size in SIZES:
        decision = engine({**MAIL, "body": piece * (size // len(piece))})
        decision()
        cost[size] = min(_sampled(decision)[0] for _ in range(ROUNDS)) / 1_000
    verdict: Any = decision()
    least, most = SIZES[0], SIZES[-2]
    exponent = math.log(cost[most] / cost[least]) / math.log(most / least)
    times = " ".join(f"{size // 1_000} KB {cost[size]:7.2f}" for size in SIZES)
    kind = "flow" if "trust" in policy else "plain"
    with capsys.disabled():
        print(
            f"\n{piece!r:26} {kind:5} ms: {times} ({verdict.word}) exponent {exponent:.2f}", end=""
        )


@pytest.mark.parametrize("steps", [10, 1_000, 10_000])
def test_after_a_long_history(steps: int, table: Any) -> None:
    """A decision with conditions on the past, after so many tool outputs."""
    engines = _engines(
        MAIL,
        edgeward=_edgeward(_flow_policy(20), steps),
        taintgate=_taintgate(20, steps),
    )
    table(f"250 bytes, after {steps} steps", engines)


def test_loading(tmp_path: Path, table: Any) -> None:
    """A policy file of 100 rules, read, checked and ready to decide: changed each time, and not."""
    own = tmp_path / "own.yaml"
    text = yaml.safe_dump(_plain_policy(100))
    own.write_text(text)
    versions = itertools.count()

    def changed() -> Policy:
        own.write_text(f"{text}# {next(versions)}\n")
        return load_policy(own)

    peers: Engines = {}
    if _installed("agent_defender"):
        from agent_defender.policy import load_policy as load

        peers["agent_defender"] = lambda: load(own)
    if _installed("taintgate"):
        import taintgate

        taint = tmp_path / "taint.yaml"
        taint.write_text(yaml.safe_dump(_taint_policy(100)))
        peers["taintgate"] = lambda: taintgate.Policy.from_dict(yaml.safe_load(taint.read_text()))
    if _installed("cedarpy"):
        import cedarpy

        cedar = _cedar_policy(100)
        peers["cedarpy"] = lambda: cedarpy.PolicySet.from_str(cedar)
    table("loading 100 rules", {"edgeward": changed, **peers})
    table("loading them again", {"edgeward": lambda: load_policy(own), **peers})
