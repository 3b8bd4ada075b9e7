"""AgentDojo's suites and the shipped policies, loaded once a process."""

from __future__ import annotations

from functools import cache

from edgeward.attacks import SHIPPED
from edgeward.attacks.dojo import Dojo, load_suites
from edgeward.guards.decide import Policy
from edgeward.policies.schema import load_policy


@cache
def suites() -> dict[str, Dojo]:
    """Every suite by its name."""
    return load_suites()


@cache
def policy(suite: str) -> Policy:
    """The shipped policy of a suite."""
    return load_policy(SHIPPED / f"{suite}.yaml")
