"""The calls that every door is asked about: the cases of the shipped policies, and some more."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import edgeward.policies
from edgeward import (
    Policy,
    load_policy,
)
from edgeward.guards.arguments import parse_arguments

from .corpus import CALLS, policy_of

SHIPPED = Path(edgeward.policies.__file__).parent


@dataclass(frozen=True)
class Case:
    """A call, the policy, what went before, and whether the call goes through."""

    id: str
    policy: Policy
    name: str
    arguments: str
    goes_through: bool
    history: tuple[Mapping[str, Any], ...] = ()
    """`{"user": text}`, or `{"tool", "arguments", "result"}` (a text)."""

    @property
    def parsed(self) -> dict[str, Any] | None:
        """The arguments; None where they are none that LangChain would hand to a tool."""
        return parse_arguments(self.arguments)[0] if self.name.strip() else None


def cases() -> Iterable[Case]:
    """The corpus, and the calls that the shipped policies are tested with."""
    for case in CALLS:
        policy = policy_of(case)
        if policy is not None and case["tool"]:
            expected = case["expected"] == "allow"
            yield Case(case["id"], policy, case["tool"], case["arguments"], expected)
    for path in sorted(
        p for word in ("allow", "ask", "block") for p in SHIPPED.glob(f"*/{word}/*")
    ):
        said = json.loads(path.read_text(encoding="utf-8"))
        events = [
            {**e, "result": _text(e["result"])} if "tool" in e else e
            for e in said.get("history", ())
        ]
        arguments = said["arguments"]
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        expected = path.parts[-2] == "allow"
        if said["tool"]:
            name, policy = "/".join(path.parts[-3:]), load_policy(path.parts[-3])
            yield Case(name, policy, said["tool"], text, expected, tuple(events))


def _text(result: Any) -> str:
    return result if isinstance(result, str) else json.dumps(result)


CASES = list(cases())
SAMPLE = [case for number, case in enumerate(CASES) if number % 29 == 0 or case.history]
"""Some of everything, for the surfaces of a door beside its first."""
