"""Inputs made to slip past a policy engine, and their harmless look-alikes, each by its id."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from edgeward.guards.decide import decide
from edgeward.guards.ledger import History
from edgeward.guards.normalise import parse_arguments
from edgeward.guards.patterns import compile_pattern
from edgeward.guards.verdict import ToolCall
from edgeward.policies.problems import ConfigError
from edgeward.policies.schema import load_policy
from tests.steps import steps_of

FOLDER = Path(__file__).parent
CASES: list[dict[str, Any]] = [
    case
    for name in ("bypass.json", "bypass_more.json")
    for case in json.loads((FOLDER / name).read_text(encoding="utf-8"))
]

CALLS = [case for case in CASES if case["surface"] == "tool_call"]
COSTLY = [case for case in CALLS if "max_seconds" in case]
TEXTS = [case for case in CASES if case["surface"] == "text"]
MOST_STEPS = 10_000
"""Functions that the engine may call over a call of any length; the long ones have 60,000 signs."""


def answer(case: dict[str, Any]) -> str:
    """What the engine says of a case; refusing to load the policy counts as block."""
    try:
        policy = load_policy({"version": 1, **case["policy_fragment"]})
    except ConfigError:
        return "block"
    arguments, fault = parse_arguments(case["arguments"])
    call = ToolCall(case["tool"], arguments or {}, raw=case["arguments"], fault=fault)
    return decide(policy, call, History()).word


@pytest.mark.parametrize("case", CALLS, ids=lambda case: case["id"])
def test_call(case: dict[str, Any]) -> None:
    """The call gets the verdict that the case demands (F022, F054)."""
    assert answer(case) == case["expected"], case["why"]


@pytest.mark.parametrize("case", COSTLY, ids=lambda case: case["id"])
def test_cost(case: dict[str, Any]) -> None:
    """A long text takes no step for each of its signs, a pattern no engine that goes back (X6, X7).

    Steps are counted: seconds would be those of the machine."""
    assert answer(case) == case["expected"]  # what is made once for all calls is made
    assert 0 < steps_of(lambda: answer(case)) < MOST_STEPS
    for rule in case["policy_fragment"].get("arg_rules", ()):
        assert type(compile_pattern(rule["regex"])).__module__ == "re2"


@pytest.mark.parametrize("case", TEXTS, ids=lambda case: case["id"])
def test_text(case: dict[str, Any]) -> None:
    """Text is masked exactly where it holds a secret or personal data."""
    policy = load_policy({"version": 1, **case["policy_fragment"]})
    masked, labels = policy.redactor.all(case["arguments"])
    assert bool(labels) == (case["expected"] == "redact"), case["why"]
    assert (masked == case["arguments"]) == (not labels)
