"""`edgeward index`: reads a profile's documents before anybody has to wait for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from . import options
from .failures import reported

if TYPE_CHECKING:
    from ..profiles.rag.indexing import Report

EXAMPLE = "Example:  edgeward index ./handbook"


def index(profile: options.Profile, debug: options.Debug = False) -> None:
    """Read the documents of a profile that are new or changed, and forget those that are gone."""
    with reported(debug=debug):
        from ..profiles.schema import AgentProfile
        from .documents import read_documents
        from .printable import one_line

        for line in _lines(read_documents(AgentProfile.from_yaml(profile))):
            typer.echo(one_line(line))


def _lines(report: Report) -> list[str]:
    added, changed, removed = map(len, (report.added, report.changed, report.removed))
    return [
        f"{added} new, {changed} changed, {removed} gone, {report.unchanged} as they were;"
        f" {report.chunks} passages embedded",
        *(f"note: {note}" for note in report.notes),
        *(f"left out: {name}: {reason}" for name, reason in report.skipped),
    ]
