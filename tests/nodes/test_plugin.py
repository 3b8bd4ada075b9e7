"""A node kind of an installed package: found by its entry point, held to the same contract."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from edgeward.nodes import kinds
from edgeward.nodes._base import NodeFault
from edgeward.policies.yaml_file import ConfigError
from tests.fakes import Recorder, agent_graph, ask

HEAD = """
    from typing import ClassVar, Literal
    from edgeward.nodes._base import CallModel, NodeSpec, Result, RunTool, UseStore
    from edgeward.guards.verdict import ToolCall
    from langchain_core.messages import AIMessage
    from langgraph.types import Command, Send

    class Spec(NodeSpec):
        reads = frozenset({"messages"})
        writes = frozenset({"messages"})
        kind: Literal["note"]

        def outcomes(self):
            return ("done",)

    CALL = ToolCall("pay", {"what": "x", "amount": 0}, id="c1")
    SENT = {"call": {"id": "c1", "name": "pay", "arguments": {}}, "ticket": "0" * 64}
"""

Install = Callable[..., Path]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Install a package with one node kind; gives a strategy that starts with a node of it."""

    def installed(body: str, *, name: str = "note", head: str = HEAD) -> Path:
        (tmp_path / "a_plugin.py").write_text(textwrap.dedent(head) + textwrap.dedent(body))
        info = tmp_path / "a_plugin-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: a-plugin\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[edgeward.nodes]\n{name} = a_plugin\n")
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.delitem(__import__("sys").modules, "a_plugin", raising=False)
        kinds.cache_clear()
        strategy = tmp_path / "strategy.yaml"
        strategy.write_text(
            "strategy: s\nstart: first\n"
            f"nodes: {{first: {name}, act: act, guard: guard, tool: tool}}\n"
            "edges: {first.done: act, act.call: guard, act.answer: end, act.limit: end,"
            " guard.allow: tool, guard.block: act, tool.done: act}\n"
        )
        return strategy

    yield installed
    kinds.cache_clear()


def run(strategy: Path) -> tuple[Recorder, dict[str, Any]]:
    """One run of the strategy with a model that proposes nothing."""
    recorder = Recorder()
    graph = agent_graph(["hello"] * 3, tools=[recorder.tool("pay")], strategy=strategy)
    try:
        return recorder, graph.invoke(ask())
    finally:
        assert recorder.runs == []


def test_plugin_runs(install: Install) -> None:
    """An installed kind is a node like any other."""
    strategy = install(
        """
        def step(spec, state, here):
            reply = yield CallModel([AIMessage("think")], tools=False)
            return Result("done", {"messages": [AIMessage("noted", name="note")]})
        """
    )
    _, result = run(strategy)
    assert [m.text for m in result["messages"]] == ["go", "noted", "hello"]


BROKEN = {
    "returns a Command": ("return Command(goto='tool')\n    yield", "returned Command"),
    "returns a Send": ("return Send('tool', SENT)\n    yield", "returned Send"),
    "returns a list of Sends": ("return [Send('tool', SENT)]\n    yield", "returned list"),
    "returns a plain dict": ("return {'messages': []}\n    yield", "returned dict"),
    "is no generator": ("return Command(goto='tool')", "returned Command"),
    "is no generator, and returns a result": ("return Result('done')", "a step is a generator"),
    "writes what it does not declare": (
        "return Result('done', {'approved': [SENT]})\n    yield",
        "wrote approved",
    ),
    "writes the run": ("return Result('done', {'run': {}})\n    yield", "wrote run"),
    "writes the outcome": ("return Result('done', {'outcome': 'x'})\n    yield", "wrote outcome"),
    "ends in what it does not declare": ("return Result('allow')\n    yield", "ended in 'allow'"),
    "runs a tool": ("yield RunTool(CALL, '0' * 64, 1.0)\n    return Result('done')", "only a tool"),
    "yields a Command": (
        "yield Command(goto='tool')\n    return Result('done')",
        "yielded Command",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_contract(case: str, install: Install) -> None:
    """A step that does what its kind did not declare fails at once, and names the node."""
    body, message = BROKEN[case]
    with pytest.raises(NodeFault, match=message):
        run(install(f"\ndef step(spec, state, here):\n    {body}\n"))


def test_swallowed_refusal(install: Install) -> None:
    """A step that goes on after it was refused a tool has run none."""
    strategy = install(
        """
        def step(spec, state, here):
            try:
                yield RunTool(CALL, '0' * 64, 1.0)
            except Exception:
                pass
            return Result("done")
        """
    )
    run(strategy)


@pytest.mark.parametrize(
    "claim",
    [
        'writes = frozenset({"messages"})->writes = frozenset({"approved"})',
        'reads = frozenset({"messages"})->needs = frozenset({"tickets"})',
    ],
)
def test_claims_to_sign(claim: str, install: Install) -> None:
    """A kind that says it writes tickets is refused when the strategy is loaded."""
    old, _, new = claim.partition("->")
    body = "\ndef step(spec, state, here):\n    return Result('done')\n    yield\n"
    with pytest.raises(ConfigError, match="claims to write tickets"):
        run(install(body, head=HEAD.replace(old, new)))


def test_proposed_calls_are_judged(install: Install) -> None:
    """Calls that a plugin writes are not the model's, and nothing runs them unjudged."""
    strategy = install(
        """
        def step(spec, state, here):
            calls = [{"name": "pay", "args": {}, "id": "c1"}]
            return Result("done", {"messages": [AIMessage("", tool_calls=calls)]})
            yield
        """
    )
    run(strategy)


@pytest.mark.parametrize("name", ["guard", "tool", "act"])
def test_taken_name(name: str, install: Install) -> None:
    """A package cannot put its own code in place of a kind that is there."""
    strategy = install("\ndef step(spec, state, here):\n    yield\n", name=name)
    with pytest.raises(ValueError, match="is taken already"):
        run(strategy)


def test_no_node_kind(install: Install) -> None:
    """An entry point to what is no node kind says what is missing."""
    with pytest.raises(ValueError, match="needs a Spec and a step"):
        run(install("", head="\n"))
