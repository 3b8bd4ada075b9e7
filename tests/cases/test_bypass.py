"""Inputs made to slip past a policy engine, and their harmless look-alikes, each by its id."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from edgeward.guards.decide import decide
from edgeward.guards.ledger import History
from edgeward.guards.normalise import parse_arguments
from edgeward.guards.verdict import ToolCall
from edgeward.policies.problems import ConfigError
from edgeward.policies.schema import load_policy

FOLDER = Path(__file__).parent
CASES: list[dict[str, Any]] = [
    case
    for name in ("bypass.json", "bypass_more.json")
    for case in json.loads((FOLDER / name).read_text(encoding="utf-8"))
]

CALLS = [case for case in CASES if case["surface"] == "tool_call"]
TEXTS = [case for case in CASES if case["surface"] == "text"]


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
    """The call gets the verdict that the case demands, within its time (F022, F054, X6, X7)."""
    started = time.process_time()
    assert answer(case) == case["expected"], case["why"]
    assert time.process_time() - started < case.get("max_seconds", 10)


@pytest.mark.parametrize("case", TEXTS, ids=lambda case: case["id"])
def test_text(case: dict[str, Any]) -> None:
    """Text is masked exactly where it holds a secret or personal data."""
    policy = load_policy({"version": 1, **case["policy_fragment"]})
    masked, labels = policy.redactor.all(case["arguments"])
    assert bool(labels) == (case["expected"] == "redact"), case["why"]
    assert (masked == case["arguments"]) == (not labels)
