"""A strategy file that breaks an invariant is refused: each fault with its line, all at once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import pytest

from edgeward.graphs.check import Edge, Plan, check_strategy
from edgeward.graphs.schema import load_strategy, shipped_strategies
from edgeward.nodes._base import NodeSpec
from edgeward.policies.yaml_file import ConfigError, ConfigFileMissing, ConfigParseError

Write = Callable[[str], Path]

REACT = """\
strategy: mine
start: act
nodes:
  act: act
  guard: guard
  tool: tool
edges:
  act.call: guard
  act.answer: end
  act.limit: end
  guard.allow: tool
  guard.block: act
  tool.done: act
"""


def problems(path: Path) -> list[str]:
    """The problems of a strategy file, one line each, without the folder's name."""
    with pytest.raises(ConfigError) as caught:
        load_strategy(path)
    return [str(p).replace(f"{path.parent}/", "") for p in caught.value.problems]


@pytest.mark.parametrize("name", shipped_strategies())
def test_shipped_strategies_hold(name: str) -> None:
    """Every strategy that comes with the package passes its own checks."""
    assert load_strategy(name).name == name


def test_own_strategy_by_path(strategy_file: Write) -> None:
    """A file of the user's own is loaded by its path, and its digest is that of its content."""
    first = load_strategy(strategy_file(REACT))
    second = load_strategy(strategy_file(REACT + "# a comment\n"))
    third = load_strategy(strategy_file(REACT.replace("guard.block: act", "guard.block: end")))
    assert first.name == "mine"
    assert first.digest == second.digest != third.digest


CASES = {
    "an edge into a tool": (
        ("act.call: guard", "act.call: tool"),
        "strategy.yaml:8: edges.act.call: leads into the tool node 'tool' without a guard",
    ),
    "a tool as the start": (
        ("start: act", "start: tool"),
        "strategy.yaml:2: start: a run cannot start with a tool node",
    ),
    "a block that leads into a tool": (
        ("guard.block: act", "guard.block: tool"),
        "strategy.yaml:12: edges.guard.block: leads into the tool node 'tool' without a guard",
    ),
    "a tool that leads into a tool": (
        ("tool.done: act", "tool.done: tool"),
        "strategy.yaml:13: edges.tool.done: leads into the tool node 'tool' without a guard",
    ),
    "an allow that leads elsewhere": (
        ("guard.allow: tool", "guard.allow: act"),
        "strategy.yaml:11: edges.guard.allow: what a guard lets through must go to a tool node",
    ),
    "an allow that leads to the end": (
        ("guard.allow: tool", "guard.allow: end"),
        "strategy.yaml:11: edges.guard.allow: what a guard lets through must go to a tool node",
    ),
    "an outcome that leads nowhere": (
        ("  act.limit: end\n", ""),
        "strategy.yaml:4: nodes.act: the outcome 'limit' of this act node leads nowhere",
    ),
    "an outcome that does not exist": (
        ("act.answer: end", "act.answers: end"),
        "strategy.yaml:9: edges.act.answers: a act node has no outcome 'answers'",
    ),
    "a target that does not exist": (
        ("guard.block: act", "guard.block: acts"),
        "strategy.yaml:12: edges.guard.block: leads to no node ('acts')",
    ),
    "a node that does not exist": (
        ("guard.block: act", "gaurd.block: act"),
        "strategy.yaml:12: edges.gaurd.block: no node 'gaurd'",
    ),
    "a start that does not exist": (
        ("start: act", "start: actor"),
        "strategy.yaml:2: start: no node 'actor'",
    ),
    "an edge without an outcome": (
        ("act.answer: end", "act: end"),
        "strategy.yaml:9: edges.act: is no edge",
    ),
    "a kind that does not exist": (
        ("guard: guard\n", "guard: gaurd\n"),
        "strategy.yaml:5: nodes.guard: unknown node kind 'gaurd'",
    ),
    "a dotted path for a kind": (
        ("  tool: tool\n", "  tool: os.system\n"),
        "strategy.yaml:6: nodes.tool: unknown node kind 'os.system'",
    ),
    "a colon path for a kind": (
        ("  tool: tool\n", "  tool: 'os:system'\n"),
        "strategy.yaml:6: nodes.tool: unknown node kind 'os:system'",
    ),
    "an expression for a target": (
        ("act.answer: end", "act.answer: '{{ end }}'"),
        "strategy.yaml:9: edges.act.answer: leads to no node",
    ),
    "a field that the kind does not have": (
        ("  tool: tool\n", "  tool: {kind: tool, timeout: 3}\n"),
        "strategy.yaml:6: nodes.tool.timeout: unknown key",
    ),
    "a node that ends a run by its name": (
        ("  tool: tool\n", "  tool: tool\n  end: act\n"),
        "strategy.yaml:7: nodes.end: is no name for a node",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_fault_with_its_line(case: str, strategy_file: Write) -> None:
    """Each broken wiring is refused with the line that it stands on."""
    (old, new), expected = CASES[case]
    found = problems(strategy_file(REACT.replace(old, new)))
    assert any(line.startswith(expected) for line in found), found


@pytest.mark.parametrize(
    ("old", "new", "hint"),
    [
        ("guard.block: act", "guard.block: atc", "did you mean act?"),
        ("  guard: guard\n", "  guard: gaurd\n", "did you mean guard?"),
        ("act.answer: end", "act.anwser: end", "did you mean answer?"),
        ("start: act", "strat: act", "did you mean start?"),
    ],
)
def test_did_you_mean(old: str, new: str, hint: str, strategy_file: Write) -> None:
    """A misspelt name is answered with the nearest right one."""
    assert any(hint in line for line in problems(strategy_file(REACT.replace(old, new))))


def test_all_problems_at_once(strategy_file: Write) -> None:
    """One load shows every fault of a file, not the first."""
    text = REACT.replace("act.call: guard", "act.call: tool").replace(
        "act.answer: end", "act.ok: x"
    )
    text = text.replace("  guard: guard\n", "  guard: guard\n  spare: {kind: tool, speed: 3}\n")
    found = problems(strategy_file(text))
    assert len(found) >= 5
    wanted = ("spare", "leads into the tool", "'answer' of this act", "no outcome 'ok'", "('x')")
    for part in wanted:
        assert any(part in line for line in found), (part, found)


def test_duplicate_keys(strategy_file: Write) -> None:
    """A key that stands twice is refused: the second would silently win."""
    with pytest.raises(ConfigParseError, match=r"act\.call"):
        load_strategy(strategy_file(REACT + "  act.call: tool\n"))


def test_unknown_strategy() -> None:
    """A name that is no shipped strategy is refused with the nearest one."""
    with pytest.raises(ConfigFileMissing, match="did you mean react"):
        load_strategy("raect")


def test_unreachable_node(strategy_file: Write) -> None:
    """A node to which nothing leads is refused."""
    text = (
        REACT.replace("  tool: tool\n", "  tool: tool\n  lost: compress\n") + "  lost.done: end\n"
    )
    assert problems(strategy_file(text)) == [
        "strategy.yaml:7: nodes.lost: cannot be reached from 'act'; lead an outcome to it, or "
        "remove it"
    ]


def test_dead_end(strategy_file: Write) -> None:
    """A node from which no way leads to the end is refused."""
    text = "strategy: s\nstart: a\nnodes: {a: {kind: act, tools: none}, b: compress}\n"
    found = problems(strategy_file(text + "edges: {a.answer: b, b.done: a}\n"))
    assert sum("is a dead end" in line for line in found) == 2


def test_shared_tool_node(strategy_file: Write) -> None:
    """Two guards may lead to one tool node."""
    text = REACT.replace("  tool: tool\n", "  tool: tool\n  other: guard\n")
    text = text.replace("guard.block: act", "guard.block: other")
    assert load_strategy(strategy_file(text + "  other.allow: tool\n  other.block: act\n"))


def test_critique_and_compress(strategy_file: Write) -> None:
    """A strategy of the user's own may judge its answer and shorten its history."""
    text = REACT.replace("act.answer: end", "act.answer: critic").replace(
        "tool.done: act", "tool.done: shorten"
    )
    text = text.replace(
        "  tool: tool\n",
        "  tool: tool\n  critic: {kind: reflect, mode: critique}\n  shorten: compress\n",
    )
    text += "  critic.accept: end\n  critic.revise: act\n  shorten.done: act\n"
    assert set(load_strategy(strategy_file(text)).nodes) == {
        "act",
        "guard",
        "tool",
        "critic",
        "shorten",
    }


@pytest.mark.parametrize("key", ["outcome", "mesages", "__root__"])
def test_kind_that_writes_what_is_no_state(key: str) -> None:
    """A kind that claims a key which is none of the state's is refused, with the keys there are."""

    class Spec(NodeSpec):
        writes: ClassVar[frozenset[str]] = frozenset({"messages", key})

        def outcomes(self) -> tuple[str, ...]:
            return ("done",)

    plan = Plan("n", "end", {"n": Spec(kind="note")}, [Edge("n", "done", "end")], lambda at: "f:3")
    (problem,) = check_strategy(plan)
    assert str(problem).startswith(f"f:3: nodes.n: the kind 'note' claims to write {key}; allowed:")
    assert "messages" in problem.allowed
    assert key not in problem.allowed.split()
