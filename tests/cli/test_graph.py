"""`edgeward graph`: every node and edge of a strategy as Mermaid."""

from __future__ import annotations

from pathlib import Path

import pytest

from edgeward.graphs.schema import shipped_strategies

from .conftest import Invoke


@pytest.mark.parametrize("strategy", shipped_strategies())
def test_a_shipped_strategy_is_drawn(strategy: str, invoke: Invoke) -> None:
    """Mermaid with the start, the end, and the nodes by kind."""
    result = invoke("graph", strategy)
    assert result.exit_code == 0
    assert "graph TD;" in result.stdout
    assert "__start__ -->" in result.stdout
    assert "kind = act" in result.stdout


def test_the_only_way_into_the_tools_is_allow(invoke: Invoke) -> None:
    """The picture shows what the checks prove."""
    into = [line for line in invoke("graph", "react").stdout.splitlines() if "> tool;" in line]
    assert len(into) == 1
    assert "guard" in into[0]
    assert "allow" in into[0]


def test_a_strategy_that_breaks_an_invariant_is_not_drawn(tmp_path: Path, invoke: Invoke) -> None:
    """One line a problem, with its place, and exit code 2."""
    file = tmp_path / "strategy.yaml"
    file.write_text(
        "strategy: bad\nstart: act\nnodes: {act: act, tool: tool}\n"
        "edges: {act.call: tool, act.answer: end, act.limit: end, tool.done: act}\n"
    )
    result = invoke("graph", file)
    assert result.exit_code == 2
    assert "strategy.yaml:4" in result.stderr
    assert "Traceback" not in result.output
