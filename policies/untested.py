"""Which parts of a policy no case would miss: without them, every case comes out the same.

A part is an entry of a rule's list or mapping (a tool, a host, a pattern, a limit), or the whole
rule where it is one value. Each is left out in turn, and the cases are decided anew: a verdict that
then has other findings reaches it. So a rule that permits (`trust`, a host on the list) is seen to
be reached, too, which no list of findings could tell.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..guards.decide import Policy
from ..guards.verdict import Verdict
from .cases import Case
from .modes import KEY as MODE
from .problems import ConfigError, FieldPath, spell
from .schema import PolicyHead, load_policy, policy_document
from .yaml_file import Document

_OF_NO_RULE = frozenset(PolicyHead.model_fields) - {"me"}
_OF_NO_VERDICT: frozenset[FieldPath] = frozenset(
    {
        *(("approvals",), ("approvals", "max_s"), ("approvals", "once")),
        *(("limits", "near"), ("limits", "repeats"), ("limits", "prices")),
    }
)
"""What is said of a question, or of a run as it goes on: no single call comes out otherwise."""


@dataclass(frozen=True, slots=True)
class Part:
    """An entry of a policy: its name (`tools.send_email`, `arg_rules.traversal`) and its place."""

    name: str
    where: str
    path: FieldPath


def parts(document: Document) -> list[Part]:
    """Every entry of every rule of a policy, in the file's order."""
    data = document.data if isinstance(document.data, dict) else {}
    found = []
    for key, value in data.items():
        if key in _OF_NO_RULE or value is None:
            continue
        if isinstance(value, list):
            for number, item in enumerate(value):
                path: FieldPath = (key, number)
                found.append(Part(_name(key, number, item), document.where(path), path))
        elif isinstance(value, dict) and value:
            for inner in value:
                path = (key, inner)
                found.append(Part(spell(path), document.where(path), path))
        else:
            found.append(Part(key, document.where((key,)), (key,)))
    return [part for part in found if part.path not in _OF_NO_VERDICT]


def untested(
    source: str, cases: Sequence[Case], *, step: Callable[[], None] = lambda: None
) -> list[Part]:
    """The parts of the policy in this file (or of this shipped name) that no case reaches.

    `step` is called once a part, for who shows progress. A part without which the policy would not
    load cannot be left out, and is not among them. Rules in shadow are read as enforced ones.

    Raises:
        ConfigError: the policy cannot be loaded.
    """
    document, policy = policy_document(source), load_policy(source)
    if policy.shadow is not None:
        policy = load_policy(_enforced(document.data))
    verdicts = [case.verdict(policy) for case in cases]
    spoken = {finding.rule for verdict in verdicts for finding in verdict.findings}
    before = [_gist(verdict) for verdict in verdicts]
    found = []
    for part in parts(document):
        step()
        if any(rule == part.name or rule.startswith(f"{part.name}.") for rule in spoken):
            continue
        other = _without(document, part.path)
        if other is not None and all(
            _gist(case.verdict(other)) == gist for case, gist in zip(cases, before, strict=True)
        ):
            found.append(part)
    return found


def _gist(verdict: Verdict) -> tuple[Any, ...]:
    """What a verdict says, apart from places and digests."""
    return tuple((f.rule, f.word, f.reason, f.argument, f.masked) for f in verdict.findings)


def _enforced(data: Any) -> dict[str, Any]:
    """A policy that loads, with nothing in shadow."""
    return {key: value for key, value in data.items() if key != MODE}


def _without(document: Document, path: FieldPath) -> Policy | None:
    """The policy without one part; None where that is no policy."""
    data: Any = copy.deepcopy(_enforced(document.data))
    below = data
    for name in path[:-1]:
        below = below[name]
    del below[path[-1]]
    try:
        return load_policy(data)
    except ConfigError:
        return None


def _name(key: str, number: int, item: object) -> str:
    """A list's entry by its name, its value, or its place in the list."""
    named = next(_names(item), None)
    return f"{key}.{named}" if named else f"{key}[{number}]"


def _names(item: object) -> Iterator[str]:
    if isinstance(item, str):
        yield item
    elif isinstance(item, dict):
        for key in ("name", "tool"):
            if isinstance(item.get(key), str):
                yield item[key]
