"""The profile's numbers reach the compress nodes of a strategy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from edgeward.graphs.fitted import with_numbers
from edgeward.graphs.schema import load_strategy
from edgeward.nodes.compress import Spec
from edgeward.profiles.schema import AgentProfile

Write = Callable[[str], Path]


def profile(**memory: object) -> AgentProfile:
    """A profile with these numbers."""
    return AgentProfile.from_mapping(
        {"id": "a", "name": "A", "memory": {"is_retrieve": False, **memory}}
    )


def spec_of(strategy: str | Path, using: AgentProfile | None) -> Spec:
    """The first compress node as it would be compiled."""
    nodes = with_numbers(load_strategy(strategy), using.memory if using else None).nodes.values()
    return next(n.spec for n in nodes if isinstance(n.spec, Spec))


def test_the_profiles_numbers() -> None:
    """All five, where the strategy has none of its own."""
    using = profile(
        context_limit=9_000,
        prune_protect=3_000,
        prune_minimum=2_000,
        reserved_buffer=1_000,
        enable_summary=False,
    )
    spec = spec_of("react", using)
    assert (spec.context_limit, spec.prune_protect) == (9_000, 3_000)
    assert (spec.prune_minimum, spec.reserved_buffer) == (2_000, 1_000)
    assert spec.enable_summary is False


def test_defaults() -> None:
    """Without a profile, and with one that says nothing: the same."""
    assert spec_of("react", None) == spec_of("react", profile()) == Spec(kind="compress")


def test_a_node_with_its_own_limit_keeps_its_numbers(strategy_file: Write) -> None:
    """What a strategy says goes before what a profile says."""
    text = "strategy: s\nstart: c\nnodes: {c: {kind: compress, %s}, a: {kind: act, tools: none}}\n"
    text += "edges: {c.done: a, a.answer: end}\n"
    own = strategy_file(text % "context_limit: 5000")
    assert spec_of(own, profile(context_limit=9_000)).context_limit == 5_000
    half = strategy_file(text % "enable_summary: false")
    spec = spec_of(half, profile(context_limit=9_000))
    assert (spec.context_limit, spec.enable_summary) == (9_000, False)


def test_numbers_that_do_not_go_together(strategy_file: Write) -> None:
    """A node's own buffer beside a smaller limit of the profile is refused."""
    text = "strategy: s\nstart: c\nnodes: {c: {kind: compress, reserved_buffer: 9000}}\n"
    with pytest.raises(ValueError, match="reserved_buffer"):
        spec_of(strategy_file(text + "edges: {c.done: end}\n"), profile(context_limit=9_000))
