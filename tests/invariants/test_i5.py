"""I5: only `guard` writes tickets, and a node that breaks its contract fails at once."""

from __future__ import annotations

import dataclasses

import pytest

from edgeward.graphs.check import Edge, Plan, only_guards_sign
from edgeward.nodes import kinds
from edgeward.nodes._base import NodeSpec
from tests.fakes import Recorder, agent_graph


@pytest.mark.parametrize("name", sorted(kinds()))
def test_who_declares_it(name: str) -> None:
    """Of the kinds that there are only the guard declares the ticket key and what it approved."""
    spec = kinds()[name].spec
    claims = "tickets" in spec.needs or "approved" in spec.writes
    assert claims == (name == "guard")


@pytest.mark.parametrize("claim", ["needs", "writes"])
def test_claim_of_another_kind(claim: str) -> None:
    """Another kind that declares it is a problem of the strategy."""

    class Spec(NodeSpec):
        def outcomes(self) -> tuple[str, ...]:
            return ("done",)

    setattr(Spec, claim, frozenset({"tickets" if claim == "needs" else "approved"}))
    plan = Plan("n", "end", {"n": Spec(kind="n")}, [Edge("n", "done", "end")], lambda path: "f:1")
    assert "claims to write tickets" in str(*only_guards_sign(plan))


@pytest.mark.parametrize("strategy", ["react", "plan_and_solve"])
def test_who_is_given_the_key(strategy: str) -> None:
    """In a compiled graph the guard node alone holds the key, and the tool node alone a runner."""
    graph = agent_graph(["x"], tools=[Recorder().tool("pay")], strategy=strategy)
    for name, node in graph.nodes.items():
        here = getattr(node.bound, "_here", None)
        if here is None:
            continue
        kind = (node.metadata or {})["kind"]
        fields = {f.name for f in dataclasses.fields(here)}
        assert "tickets" in fields
        assert (here.tickets is not None) == (kind == "guard"), name
        assert (node.bound._runner is not None) == (kind == "tool"), name  # type: ignore[attr-defined]
