"""`edgeward test`: runs the cases beside a policy."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from . import options, shipped
from .failures import FAILED, reported
from .progress import progress

if TYPE_CHECKING:
    from ..guards.verdict import Verdict
    from ..policies.cases import Case
    from ..policies.untested import Part

EXAMPLE = "Example:  edgeward test my_policy.yaml"


def run_cases(
    policy: Annotated[
        str,
        typer.Argument(
            help="A policy file, or a shipped policy's name.", autocompletion=shipped.policies
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    debug: options.Debug = False,
) -> None:
    """Decide the calls in the folders `allow`, `ask`, `redact`, `block` of the policy's name.

    `clerk.yaml` has its cases in `clerk/allow/…`: a call a file, whose name is the sentence that it
    tests. Rules in shadow are tested as if they were enforced. Prints what came out otherwise, and
    the rules that no case would miss. Exit code: 1 where a case fails, 2 where a file is wrong or
    there are no cases.
    """
    with reported(debug=debug):
        from ..policies.cases import cases_beside
        from ..policies.schema import load_policy, policy_document
        from ..policies.untested import parts, untested

        loaded = load_policy(policy)
        cases = cases_beside(policy)
        verdicts = [(case, case.verdict(loaded).would_be) for case in cases]
        failed = [(case, found) for case, found in verdicts if found.word != case.expected]
        with progress("rules", len(parts(policy_document(policy)))) as step:
            unreached = untested(policy, cases, step=step)
        shadow = loaded.shadow.told if loaded.shadow else ""
        (_as_json if as_json else _as_text)(len(cases), failed, unreached, shadow)
    raise typer.Exit(FAILED if failed else 0)


def _as_text(
    count: int, failed: list[tuple[Case, Verdict]], unreached: list[Part], shadow: str
) -> None:
    from .printable import counted, one_line, printable

    for case, verdict in failed:
        typer.echo(f"FAILED  {case.expected}: {one_line(case.name)}")
        typer.echo("        " + printable(verdict.explain()).replace("\n", "\n        "))
    for part in unreached:
        typer.echo(f"{part.where}: {printable(part.name)}: no case would miss it")
    if shadow:
        typer.echo(printable(f"in shadow, and tested as if enforced: {shadow}"))
    verb = "passes" if count == 1 else "pass"
    passed = f"{count - len(failed)} of {counted(count, 'case')} {verb}"
    typer.echo(f"{passed}; {counted(len(unreached), 'rule')} that none would miss")


def _as_json(
    count: int, failed: list[tuple[Case, Verdict]], unreached: list[Part], shadow: str
) -> None:
    from ..guards.audit import record

    found = {
        "cases": count,
        "failed": [
            {"case": case.name, "expected": case.expected, **record(case.call, verdict)}
            for case, verdict in failed
        ],
        "in_shadow": shadow,
        "untested": [{"rule": part.name, "where": part.where} for part in unreached],
    }
    typer.echo(json.dumps(found, indent=2))
