"""What an entry says of an argument: by a condition, or, where it names none, by `clean`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ...guards.conditions import Requirement
from ...guards.flow import Facts
from ...guards.outputs import leaves
from .points import Path


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an entry says of one argument. `doubts`: what a person has yet to agree to counts."""

    requirement: Requirement
    doubts: bool = False

    @property
    def key(self) -> object:
        """Its words and tests, in no order."""
        required = self.requirement
        tests = frozenset(test.source.model_dump_json() for test in required.tests)
        return (required.path, required.anything, tests, frozenset(required.words), self.doubts)

    @property
    def written(self) -> str:
        """The same as a text, with the parts that a `*` leaves to other conditions."""
        required = self.requirement
        tests = sorted(test.source.model_dump_json() for test in required.tests)
        said = (required.path, required.anything, tests, sorted(set(required.words)), self.doubts)
        return f"{said} but {sorted(required.but)}"

    def holds(self, value: Any, facts: Facts) -> bool:
        """Whether a value at the argument's path is as it says."""
        required = self.requirement
        arguments = nested(required.path, value)
        nearer = replace(facts, about=(*facts.about, required.about), doubts=self.doubts)
        return all(
            required.flows(found, nearer) for _, found in required.failures(arguments, facts)
        )


@dataclass(frozen=True, slots=True)
class Clean:
    """What is said of a text that no condition names."""

    doubts: bool = False

    @property
    def key(self) -> object:
        """The same in every entry."""
        return ("clean", self.doubts)

    def holds(self, value: Any, facts: Facts) -> bool:
        """Whether every text of the value is clean. A number is no text."""
        nearer = replace(facts, doubts=self.doubts)
        texts = [value] if isinstance(value, str) else []
        texts = list(leaves(value)) if isinstance(value, dict | list) else texts
        return not any(nearer.stain(text)[0] for text in texts)


def nested(path: Path, value: Any) -> dict[str, Any]:
    """Arguments in which the value stands at a path."""
    for step in reversed(path[1:]):
        value = {step: value}
    return {path[0]: value}
