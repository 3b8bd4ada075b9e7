"""I7: a strategy names kinds from the closed list; never a dotted path, never an expression."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from edgeward.graphs.schema import load_strategy
from edgeward.policies.yaml_file import ConfigError

NAMES = [
    "os.system",
    "edgeward.nodes.tool",
    "edgeward.nodes.tool:step",
    "tool:step",
    "../tool",
    "tool.py",
    "_base",
    "__init__",
    "Tool",
    "TOOL",
    "tool ",
    "{{ tool }}",
    "${TOOL}",
    "lambda: 0",
    "",
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", ["n: {name}", "n: {{kind: {name}}}"])
def test_no_other_kind(
    name: str, form: str, strategy_file: Callable[[str], Path], capfd: pytest.CaptureFixture[str]
) -> None:
    """A kind that is no word of the list is refused where it stands, and nothing is imported."""
    node = form.format(name=f"'{name}'")
    path = strategy_file(f"strategy: s\nstart: n\nnodes:\n  {node}\nedges: {{n.done: end}}\n")
    with pytest.raises(ConfigError, match=r"strategy\.yaml:4"):
        load_strategy(path)


@pytest.mark.parametrize(
    "text",
    [
        "!!python/object/apply:os.system ['true']",
        "!!python/name:os.system",
        "!include other.yaml",
        "&a [*a]",
    ],
)
def test_no_tags(text: str, strategy_file: Callable[[str], Path]) -> None:
    """YAML that would make an object is refused."""
    path = strategy_file(
        f"strategy: s\nstart: n\nnodes:\n  n: {{kind: act, instructions: {text}}}\n"
        "edges: {n.call: end, n.answer: end, n.limit: end}\n"
    )
    with pytest.raises(ConfigError):
        load_strategy(path)


@pytest.mark.parametrize("kind", [3, True, None, ["act"], {"kind": "act"}])
def test_kind_of_another_type(kind: object, strategy_file: Callable[[str], Path]) -> None:
    """A kind that is no text is refused like any other that is not there."""
    node = f"{{kind: {json.dumps(kind)}}}"
    path = strategy_file(f"strategy: s\nstart: n\nnodes:\n  n: {node}\nedges: {{n.done: end}}\n")
    with pytest.raises(ConfigError, match=r"strategy\.yaml:[34]"):
        load_strategy(path)
