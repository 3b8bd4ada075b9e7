"""`edgeward schema`: JSON Schema that takes and refuses what the loader takes and refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

import edgeward.graphs
import edgeward.policies
import edgeward.profiles
from edgeward.cli.schema import schema_for
from edgeward.graphs.schema import load_strategy
from edgeward.policies.problems import ConfigError
from edgeward.policies.schema import load_policy
from edgeward.profiles.schema import AgentProfile

from ..docs.blocks import Block, blocks
from .conftest import Invoke

KEYS = {"version": "policy", "agent": "profile", "strategy": "strategy"}
"""A key that every file of a kind has."""

STRATEGY = {"strategy": "x", "start": "a", "nodes": {"a": "act"}, "edges": {"a.answer": "end"}}

SHIPPED = {
    "policy": sorted(Path(edgeward.policies.__file__).parent.glob("*.yaml")),
    "strategy": sorted(Path(edgeward.graphs.__file__).parent.glob("*.yaml")),
    "profile": sorted(Path(edgeward.profiles.__file__).parent.glob("*/profile.yaml")),
}
SCHEMAS = {kind: schema_for(kind) for kind in SHIPPED}


def faults(kind: str, data: object) -> list[str]:
    """What a validator finds."""
    validator = jsonschema.validators.validator_for(SCHEMAS[kind])(SCHEMAS[kind])
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(data)]


def loaded(kind: str, data: object, folder: Path) -> object:
    """What the loader of this kind makes of it."""
    path = folder / "file.yaml"
    path.write_text(yaml.safe_dump(data), encoding="utf-8")
    readers = {
        "policy": load_policy,
        "profile": AgentProfile.from_yaml,
        "strategy": load_strategy,
    }
    return readers[kind](path)


@pytest.mark.parametrize("kind", SHIPPED)
def test_it_is_a_schema(kind: str, invoke: Invoke) -> None:
    """What is printed is the schema, and valid as one."""
    result = invoke("schema", kind)
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    jsonschema.validators.validator_for(found).check_schema(found)
    assert found == SCHEMAS[kind]


@pytest.mark.parametrize(
    ("kind", "path"), [(kind, path) for kind, paths in SHIPPED.items() for path in paths]
)
def test_it_takes_what_is_shipped(kind: str, path: Path) -> None:
    """No false alarm in any file that comes with the package."""
    assert not faults(kind, yaml.safe_load(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("block", blocks("yaml"), ids=lambda b: f"{b.document.name}:{b.line}")
def test_it_takes_the_examples_of_the_docs(block: Block) -> None:
    """Nor in any example."""
    data = yaml.safe_load(block.text)
    kind = (
        next((KEYS[key] for key in data if key in KEYS), None) if isinstance(data, dict) else None
    )
    if kind is not None:
        assert not faults(kind, data)


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("policy", {"version": 2, "tols": {}}),
        ("policy", {"version": 3}),
        ("policy", {"version": 2, "tools": {"x": "alow"}}),
        ("policy", {"version": 2, "tools": {"x": {"arg": {}}}}),
        ("profile", {"agent": {"id": "a"}}),
        ("profile", {"agent": {"id": "a", "name": "A", "llm": {"modle": "x"}}}),
        ("profile", {"id": "a", "name": "A"}),
        ("policy", {"version": 2, "tools": {"x": {"args": {"a": {}}}}}),
        ("policy", {"version": 2, "tools": {"x": {"callers": {}}}}),
        ("profile", {"agent": {"id": "a", "name": "A", "llm": {"provider": "opnai"}}}),
        ("profile", {"agent": {"id": "a", "name": "A", "tools": {"python": ["tools.py"]}}}),
        ("profile", {"agent": {"id": "a", "name": "A", "cognitive": {"max_stpes": None}}}),
        (
            "strategy",
            {"strategy": "x", "start": "a", "nodes": {"a": "atc"}, "edges": {"a.b": "end"}},
        ),
    ],
)
def test_it_refuses_what_the_loader_refuses(
    kind: str, data: dict[str, Any], tmp_path: Path
) -> None:
    """A slip of the pen is marked while it is written, and refused when it is read."""
    assert faults(kind, data)
    with pytest.raises(ConfigError):
        loaded(kind, data, tmp_path)


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("policy", {"version": 2, "tools": None, "private": "read_*", "fail_closed": "yes"}),
        ("profile", {"agent": {"id": "a", "name": "A", "age": None, "llm": None}}),
        ("profile", {"agent": {"id": "a", "name": "A", "llm": {"provider": None}}}),
        ("profile", {"agent": {"id": "a", "name": "A", "llm": {"provider": "ollama"}}}),
        (
            "profile",
            {"agent": {"id": "a", "name": "A", "tools": {"python": ["a/b.py:c", "a.b:c"]}}},
        ),
    ],
)
def test_it_takes_what_the_loader_takes(kind: str, data: dict[str, Any], tmp_path: Path) -> None:
    """Blank values, one for a list of one, and the words of YAML for true and false."""
    assert not faults(kind, data)
    loaded(kind, data, tmp_path)


def test_the_keys_of_a_policy_are_explained() -> None:
    """An editor shows what a rule is for, with its example."""
    told = SCHEMAS["policy"]["properties"]["egress_allowlist"]["description"]
    assert told.startswith("Where a call may send") or "Threat:" in told


@pytest.mark.parametrize(
    ("kind", "path"), [(kind, path) for kind, paths in SHIPPED.items() for path in paths]
)
def test_shipped_files_name_the_shipped_schema(kind: str, path: Path) -> None:
    """Editors find it beside them; it is what the command prints (write it anew otherwise)."""
    first = path.read_text(encoding="utf-8").splitlines()[0]
    assert first.startswith("# yaml-language-server: $schema=")
    named = path.parent / first.rpartition("=")[2]
    assert json.loads(named.read_text(encoding="utf-8")) == SCHEMAS[kind], (
        f"edgeward schema {kind} > {named.name}"
    )
