"""Every node kind says what it does, shows a valid example, refuses unknown keys, has its test."""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, get_args, get_origin

import pytest

from edgeward.graphs.schema import load_strategy
from edgeward.nodes import KINDS, kinds
from edgeward.nodes._base import NodeSpec
from edgeward.policies.yaml_file import ConfigValidationError, parse_yaml

from .examples import example_of
from .tree import ROOT, files_of

pytestmark = pytest.mark.parametrize("kind", KINDS)


def doc(kind: str) -> str:
    """The docstring of a kind's module."""
    return inspect.getdoc(module(kind)) or ""


def module(kind: str) -> ModuleType:
    """A kind's module."""
    return import_module(f"edgeward.nodes.{kind}")


def listed(text: str, label: str) -> str:
    """What follows `label:` in a docstring, up to the end of the sentence or paragraph."""
    found = re.search(rf"\b{label}: (.+?)(?:\.(?:\s|$)|\n\n)", text, re.DOTALL)
    assert found, f"the docstring has no `{label}:`"
    return found[1]


def variants(spec: type[NodeSpec]) -> Iterator[NodeSpec]:
    """One spec for each combination of the kind's closed words."""
    closed = {
        name: get_args(info.annotation)
        for name, info in spec.model_fields.items()
        if get_origin(info.annotation) is Literal
    }
    for words in itertools.product(*closed.values()):
        yield spec.model_validate(dict(zip(closed, words, strict=True)))


def test_the_file_is_in_the_list_of_kinds(kind: str) -> None:
    """A file of the room is a kind, and a kind is a file of the room."""
    names = {path.stem for path in files_of("nodes", "*.py") if not path.name.startswith("_")}
    assert names == set(KINDS)
    assert kinds()[kind].origin == f"edgeward.nodes.{kind}"


def test_the_docstring_says_what_is_read_and_written(kind: str) -> None:
    """The state keys in the docstring are those that the spec declares."""
    text, spec = doc(kind), kinds()[kind].spec
    assert text.startswith(f"{kind}: ")
    for label, declared in (("Reads", spec.reads), ("Writes", spec.writes)):
        named = {part.split()[0] for part in listed(text, label).split(", ")}
        assert named == declared, label


def test_the_docstring_names_every_outcome(kind: str) -> None:
    """The outcomes in the docstring are those that some spec of the kind can end in."""
    named = set(re.findall(r"`([a-z]+)`", listed(doc(kind), "Outcomes")))
    assert named == {o for spec in variants(kinds()[kind].spec) for o in spec.outcomes()}


def test_the_example_is_valid(kind: str) -> None:
    """The example's nodes pass their kinds' schemas, and its edges are outcomes of those kinds."""
    example = parse_yaml(example_of(doc(kind)), name=f"nodes/{kind}.py").data
    assert set(example) <= {"nodes", "edges"}
    specs = {
        name: kinds()[fields["kind"]].spec.model_validate(fields)
        for name, fields in example["nodes"].items()
    }
    assert {spec.kind for spec in specs.values()} == {kind}
    for edge in example.get("edges", {}):
        node, _, outcome = edge.rpartition(".")
        known = specs.get(node) or next(variants(kinds()[node].spec))
        assert outcome in known.outcomes(), edge


def test_an_unknown_key_is_refused(kind: str, strategy_file: Callable[[str], Path]) -> None:
    """A misspelt field is an error at its line, not a field that is left out."""
    example: dict[str, Any] = parse_yaml(example_of(doc(kind)), name="example").data
    for name, fields in example["nodes"].items():
        node = ", ".join(f"{key}: {value}" for key, value in fields.items())
        path = strategy_file(
            f"strategy: s\nstart: {name}\nnodes:\n  {name}: {{{node}, surprise: 1}}\n"
            f"edges: {{{name}.done: end}}\n"
        )
        with pytest.raises(ConfigValidationError) as caught:
            load_strategy(path)
        said = [str(p) for p in caught.value.problems if f"nodes.{name}.surprise" in str(p)]
        assert len(said) == 1
        assert said[0].startswith(f"{path}:4: ")


def test_a_twin_test_file_exists(kind: str) -> None:
    """`nodes/<kind>.py` has a `tests/nodes/test_<kind>.py`, or several `test_<kind>_….py`."""
    folder = ROOT / "tests" / "nodes"
    assert [*folder.glob(f"test_{kind}.py"), *folder.glob(f"test_{kind}_*.py")]
