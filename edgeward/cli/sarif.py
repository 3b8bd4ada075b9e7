"""Problems as SARIF 2.1.0, the form in which code hosts take what a linter found."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

if TYPE_CHECKING:
    from ..policies.problems import Problem

INVALID = "invalid"
"""The kind of a problem that has no word of its own."""

MEANINGS = {
    "unreachable": "Something else refuses what this entry lets through.",
    "shadowed": "Another entry says this already.",
    "never_runs": "A rule about a tool that may never run.",
    "bare_sink": "A tool that does something for good is free, while others like it are not.",
    "open_egress": "A tool that sends is free, and no list of hosts binds it.",
    "anything": "An argument of a tool that does something is not looked at.",
    "never_created": "A value must be one that was created, where no tool makes anything.",
    "open_default": "Every tool that nothing names may run.",
    "no_such_tool": "The policy names a tool that the agent does not have.",
    "unnamed_tool": "The policy does not name a tool that the agent has.",
    "in_shadow": "The whole policy is in shadow: it decides nothing.",
    "matches_everything": "A pattern that is in every text.",
    "misses_example": "A pattern does not match one of its own examples.",
    "secret": "What looks like a secret is written in the file.",
}
"""What each kind of suspicion is about."""

_ELSE = "The file does not say what its schema allows, and does not load."


def sarif_log(problems: Sequence[Problem]) -> dict[str, Any]:
    """The problems as a SARIF log with one run."""
    kinds = sorted({problem.kind or INVALID for problem in problems})
    driver = {"name": "edgeward", "rules": [_rule(kind) for kind in kinds]}
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": [_result(one) for one in problems]}],
    }


def _rule(kind: str) -> dict[str, Any]:
    said = {"text": MEANINGS.get(kind, _ELSE)}
    return {"id": kind, "shortDescription": said, "fullDescription": said, "help": said}


def _result(problem: Problem) -> dict[str, Any]:
    from ..policies.lint import SUSPICIOUS

    file, line = problem.place
    path = Path(file)
    uri = path.as_uri() if path.is_absolute() else quote(path.as_posix())
    # Code hosts show nothing without a line.
    place = {"artifactLocation": {"uri": uri}, "region": {"startLine": max(line, 1)}}
    wrong = ": ".join(filter(None, (problem.field, problem.wrong)))
    allowed = f"allowed: {problem.allowed}" if problem.allowed else ""
    kind = problem.kind or INVALID
    return {
        "ruleId": kind,
        "level": "warning" if kind in SUSPICIOUS else "error",
        "message": {"text": "; ".join(filter(None, (wrong, allowed, problem.fix)))},
        "locations": [{"physicalLocation": place}],
    }
