"""The head's `mode`: what of a policy is in shadow, and whether the names in it are names of rules.

mode: shadow                                   # the whole policy
mode: {egress_allowlist: shadow, tools.pay: shadow}
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Annotated

from pydantic import Discriminator, Tag

from ..guards.rules import Check, Name, speaks
from ..guards.secrets import SHIPPED
from ..guards.shadow import Mode, Parted, Shadow
from .problems import Problem, did_you_mean, either, spell
from .yaml_file import Document

KEY = "mode"


def _form(value: object) -> str:
    return "rules" if isinstance(value, dict) else "word"


Modes = Annotated[
    Annotated[Mode, Tag("word")] | Annotated[dict[Name, Mode], Tag("rules")], Discriminator(_form)
]
"""A word for the whole policy, or one for each rule that is named."""


def shadow_of(mode: Modes) -> Shadow | None:
    """What is in shadow; None where all is enforced."""
    if isinstance(mode, str):
        return Shadow(whole=True) if mode == "shadow" else None
    rules = {str(name): word for name, word in mode.items()}
    return Shadow(rules=rules) if "shadow" in rules.values() else None


def as_head_key(problem: Problem) -> Problem:
    """A problem; where it is a `mode` in an entry of a rule, with what to write in its place."""
    if problem.kind != "extra_forbidden" or not problem.field.endswith(f".{KEY}"):
        return problem
    return replace(problem, fix="write `mode: {NAME: shadow}` at the top, with the rule's name")


def rule_names(checks: Iterable[Check]) -> Iterator[str]:
    """The names of a policy's rules and of their entries, as verdicts name them."""
    for check in filter(speaks, checks):
        yield check.rule
        yield from check.parts if isinstance(check, Parted) else ()


def faults(mode: Modes, checks: Sequence[Check], document: Document) -> Iterator[Problem]:
    """Names that name no rule of the policy, or one of which no verdict speaks."""
    if isinstance(mode, str):
        return
    known = list(dict.fromkeys(rule_names(checks)))
    shipped = {f"secret_patterns.{pattern.name}" for pattern in SHIPPED}
    for name in mode:
        if name in known:
            continue
        path, allowed = (KEY, name), either([n for n in known if n not in shipped])
        wrong = "is no rule of this policy"
        if name in {check.rule for check in checks}:
            wrong = "says nothing of calls, so that there is nothing of it to keep in shadow"
        fix = did_you_mean(name, known) or "remove it"
        yield Problem(document.where(path), spell(path), wrong, allowed, fix)
