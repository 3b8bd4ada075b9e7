"""What a strategy file says: nodes by kind, and where each outcome of each node leads.

    strategy: react
    start: act
    nodes: {act: act, guard: guard, tool: {kind: tool, timeout_s: 30}}
    edges: {act.call: guard, act.answer: end, act.limit: end,
            guard.allow: tool, guard.block: act, tool.done: act}

A node is a kind's name, or a mapping with `kind` and that kind's fields. `end` ends the run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from ..arguments import require
from ..guards.verdict import canonical_json
from ..nodes import kinds
from ..nodes._base import NodeKind, NodeSpec
from ..policies.yaml_file import (
    ConfigFileMissing,
    ConfigValidationError,
    Document,
    Problem,
    did_you_mean,
    either,
    read_yaml,
    validate,
)
from .check import Edge, Plan, check_strategy

END = "end"
SHIPPED = Path(__file__).parent


class StrategyFile(BaseModel):
    """The file's own fields; what stands below `nodes` is checked against each kind's."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    strategy: str = Field(min_length=1, max_length=64)
    description: str = ""
    start: str = Field(min_length=1)
    nodes: dict[str, str | dict[str, Any]] = Field(min_length=1)
    edges: dict[str, str] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class Node:
    """One node of a strategy: its kind and the kind's fields."""

    name: str
    kind: NodeKind
    spec: NodeSpec


@dataclass(frozen=True, slots=True)
class Strategy:
    """A checked strategy. `edges` maps (node, outcome) to a node's name, or to `end`."""

    name: str
    description: str
    start: str
    nodes: Mapping[str, Node]
    edges: Mapping[tuple[str, str], str]
    digest: str


def shipped_strategies() -> list[str]:
    """Names of the strategies that come with the package."""
    return sorted(path.stem for path in SHIPPED.glob("*.yaml"))


def load_strategy(source: str | Path | Strategy) -> Strategy:
    """Read a strategy: a shipped name (`react`), a path, or one that is loaded already.

    Raises:
        ConfigError: with every problem at once (I1, I5, I6, I7, and what YAML itself may not
            hold), each with file and line. TypeError: it is nothing that names a strategy.
    """
    if isinstance(source, Strategy):
        return source
    require("strategy", source, str | Path, "a shipped name, a path, or a Strategy")
    path, name = _found(source)
    document = read_yaml(path, name=name)
    file = validate(StrategyFile, document.data, document)
    nodes, problems = _nodes(file, document)
    plan = Plan(
        start=file.start,
        end=END,
        nodes={name: node.spec for name, node in nodes.items()},
        edges=[Edge(*_split(key), target) for key, target in file.edges.items()],
        where=document.where,
        unread=frozenset(file.nodes) - frozenset(nodes),
    )
    problems += check_strategy(plan)
    if problems:
        raise ConfigValidationError(*problems)
    edges = {_split(key): target for key, target in file.edges.items()}
    digest = hashlib.sha256(canonical_json(document.data).encode()).hexdigest()
    return Strategy(file.strategy, file.description, file.start, nodes, edges, digest)


def _found(source: str | Path) -> tuple[Path, str]:
    text = str(source)
    if text in shipped_strategies():
        return SHIPPED / f"{text}.yaml", f"graphs/{text}.yaml"
    path = Path(source)
    if path.suffix in (".yaml", ".yml") or path.exists() or "/" in text:
        return path, text
    known = shipped_strategies()
    allowed = f"a path to a YAML file, or one of {', '.join(known)}"
    problem = Problem(
        text, "strategy", "there is no such strategy", allowed, did_you_mean(text, known)
    )
    raise ConfigFileMissing(problem)


def _nodes(file: StrategyFile, document: Document) -> tuple[dict[str, Node], list[Problem]]:
    """The nodes whose kind is known and whose fields are right; problems for the others (I7)."""
    nodes: dict[str, Node] = {}
    problems: list[Problem] = []
    known = kinds()
    for name, written in file.nodes.items():
        fields = {"kind": written} if isinstance(written, str) else written
        kind, at = str(fields.get("kind", "")), ("nodes", name)
        if "." in name or name in (END, "start", "__start__", "__end__") or ":" in name:
            wrong = "is no name for a node"
            allowed = "letters, digits, - and _; not `end` or `start`"
            problems.append(Problem(document.where(at), f"nodes.{name}", wrong, allowed))
        elif kind not in known:
            wrong = f"unknown node kind {kind!r}" if kind else "has no kind"
            fix = did_you_mean(kind, list(known))
            problems.append(
                Problem(document.where(at), f"nodes.{name}", wrong, either(list(known)), fix)
            )
        else:
            try:
                spec = validate(known[kind].spec, fields, document, at=at)
            except ConfigValidationError as error:
                problems += error.problems
            else:
                nodes[name] = Node(name, known[kind], spec)
    return nodes, problems


def _split(key: str) -> tuple[str, str]:
    node, _, outcome = key.rpartition(".")
    return node, outcome
