"""`edgeward report`: what the rules in shadow would have changed, out of a log of receipts."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import options
from .failures import reported

if TYPE_CHECKING:
    from ..guards.receipts.report import Change, Report, RuleReport

EXAMPLE = "Example:  edgeward report receipts.jsonl"

MOST_TOOLS = 5
"""Tools that are named of one rule."""


def report(
    log: Annotated[Path, typer.Argument(help="The log of receipts: JSON lines, or SQLite.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    debug: options.Debug = False,
) -> None:
    """Say of each rule in shadow which verdicts it would have changed, on which tools' calls.

    Records are named by their number, as `edgeward audit verify` names them; that command says
    whether the log is as it was written, this one does not look.
    """
    with reported(debug=debug):
        from ..guards.receipts.chain import bodies
        from ..guards.receipts.report import report as of
        from ..guards.receipts.stores import read_log

        lines, _ = read_log(log)
        try:
            found = of(bodies(lines))
        except ValueError as error:
            raise ValueError(f"{log}: {error}; allowed: a log of receipts") from None
        if as_json:
            typer.echo(json.dumps(_plain(found), indent=2))
        else:
            _show(log, found)


def _show(log: Path, found: Report) -> None:
    from .printable import counted, one_line

    receipts = counted(found.receipts, "receipt")
    if not found.in_shadow:
        typer.echo(f"{one_line(str(log))}: {receipts}, none of a policy with rules in shadow")
        return
    typer.echo(
        f"{one_line(str(log))}: {receipts}, {found.in_shadow} with rules in shadow; "
        f"{found.changed} would have come out otherwise{_told(found.changes)}"
    )
    for rule in found.rules:
        place = f" ({rule.where})" if rule.where else ""
        typer.echo(one_line(f"{rule.rule}{place}: {_counts(rule)}"))
        tools = [f"{name or '(no name)'} {count}" for name, count in _most(rule.tools)]
        records = ", ".join(str(number) for number, _ in rule.examples)
        typer.echo("    " + one_line(f"calls of {', '.join(tools)}; records {records}"))


def _counts(rule: RuleReport) -> str:
    changed = f"would have changed {rule.changed}{_told(rule.changes)}"
    return f"spoke of {rule.spoke}, {changed}" if rule.spoke else changed


def _told(changes: Counter[Change]) -> str:
    told = [f"{was} -> {would_be} {n}" for (was, would_be), n in changes.most_common()]
    return f": {', '.join(told)}" if told else ""


def _most(tools: Counter[str]) -> list[tuple[str, int]]:
    found = tools.most_common(MOST_TOOLS)
    rest = tools.total() - sum(count for _, count in found)
    return [*found, ("others", rest)] if rest else found


def _plain(found: Report) -> dict[str, Any]:
    return {
        "receipts": found.receipts,
        "in_shadow": found.in_shadow,
        "changed": found.changed,
        "changes": _listed(found.changes),
        "rules": [
            {
                "rule": rule.rule,
                "where": rule.where,
                "spoke": rule.spoke,
                "changed": rule.changed,
                "changes": _listed(rule.changes),
                "tools": dict(rule.tools.most_common()),
                "examples": [{"record": n, "receipt": name} for n, name in rule.examples],
            }
            for rule in found.rules
        ],
    }


def _listed(changes: Counter[Change]) -> list[dict[str, Any]]:
    return [
        {"word": was, "would_be": would_be, "receipts": n}
        for (was, would_be), n in changes.most_common()
    ]
