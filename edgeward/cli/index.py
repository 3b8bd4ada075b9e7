"""`edgeward index`: reads a profile's documents before anybody has to wait for them."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import options
from .failures import reported

if TYPE_CHECKING:
    from ..profiles.rag.indexing import Report

EXAMPLE = "Example:  edgeward index ./handbook"


def index(
    profile: options.Profile,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    debug: options.Debug = False,
) -> None:
    """Read the documents of a profile that are new or changed, and forget those that are gone."""
    with reported(debug=debug):
        from ..profiles.schema import AgentProfile
        from .documents import read_documents
        from .printable import one_line

        report = read_documents(AgentProfile.from_yaml(profile))
        if as_json:
            typer.echo(json.dumps(_plain(report), indent=2))
            return
        for line in _lines(report):
            typer.echo(one_line(line))


def _plain(report: Report) -> dict[str, Any]:
    left_out = [{"file": name, "reason": reason} for name, reason in report.skipped]
    return {**asdict(report), "skipped": left_out}


def _lines(report: Report) -> list[str]:
    added, changed, removed = map(len, (report.added, report.changed, report.removed))
    return [
        f"{added} new, {changed} changed, {removed} gone, {report.unchanged} as they were;"
        f" {report.chunks} passages embedded",
        *(f"note: {note}" for note in report.notes),
        *(f"left out: {name}: {reason}" for name, reason in report.skipped),
    ]
