"""`edgeward attack`: what a policy stops when the model obeys every injection, and its cost."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import options
from .failures import reported
from .progress import progress

if TYPE_CHECKING:
    from ..attacks.dojo import Dojo
    from ..attacks.figures import Figures
    from ..guards.decide import Policy

EXAMPLE = "Example:  edgeward attack --suites banking --policies my_policies"


def attack(
    suites: Annotated[
        str | None,
        typer.Option(help="Suites, with commas: banking, slack, travel, workspace. Default: all."),
    ] = None,
    policies: Annotated[
        Path | None,
        typer.Option(help="A folder with a policy `SUITE.yaml` for each. Default: the shipped."),
    ] = None,
    every_pass: Annotated[
        bool,
        typer.Option(
            "--all-passes",
            help="Also: attacks at the end, in base64, with nobody to ask, everything approved.",
        ),
    ] = False,
    goals: Annotated[
        bool, typer.Option(help="Play the goals of attackers who know guard and policy, too.")
    ] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
    debug: options.Debug = False,
) -> None:
    """Replay attacks on AgentDojo's suites against a policy: no model, no network."""
    with reported(debug=debug):
        from ..attacks.dojo import SUITES, load_suites

        wanted = _names(suites, SUITES)
        loaded = _policies(wanted, policies)
        found = _replayed([load_suites()[name] for name in wanted], loaded, every_pass, goals)
        if as_json:
            typer.echo(json.dumps(found, indent=2))
        else:
            _show(found)


def _names(listed: str | None, known: tuple[str, ...]) -> list[str]:
    """The suites to play.

    Raises:
        ValueError: there is no such suite.
    """
    if listed is None:
        return list(known)
    names = [name.strip() for name in listed.split(",") if name.strip()]
    wrong = [name for name in names if name not in known]
    if wrong or not names:
        raise ValueError(f"--suites: no suite {', '.join(wrong) or 'named'}; {', '.join(known)}")
    return list(dict.fromkeys(names))


def _policies(names: list[str], folder: Path | None) -> dict[str, Policy | None]:
    from ..attacks import SHIPPED
    from ..policies.schema import load_policy

    return {name: load_policy((folder or SHIPPED) / f"{name}.yaml") for name in names}


def _replayed(
    suites: list[Dojo], policies: dict[str, Policy | None], every_pass: bool, goals: bool
) -> dict[str, Figures]:
    from ..attacks.figures import figures
    from ..attacks.goals import load_goals
    from ..attacks.replay import PASSES, replay

    own = {suite.name: load_goals(suite) for suite in suites} if goals else {}
    with progress("tasks", sum(len(suite.tasks) for suite in suites)) as step:
        played = replay(
            suites,
            policies,
            goals=own,
            passes=PASSES if every_pass else PASSES[:1],
            goal_passes=PASSES[:2] if every_pass else PASSES[:1],
            step=step,
        )
    return figures(played)


def _show(found: dict[str, Figures]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False, emoji=False)
    names = list(found)
    table = Table("", *names, box=None, pad_edge=False)
    for label, text in _ROWS.items():
        table.add_row(label, *(text(found[name]) for name in names))
    for way, goals in found["all"]["goals"].items():
        for kind, row in goals.items():
            cells = (_percent(found[name]["goals"][way][kind]["harm"]) for name in names)
            table.add_row(f"own goals: {kind}, {way} ({row['pairs']} pairs)", *cells)
    for way, row in list(found["all"]["passes"].items())[1:]:
        for key in row:
            cells = (_percent(found[name]["passes"][way][key]) for name in names)
            table.add_row(f"{key} ({way})", *cells)
    console.print(table)


def _percent(part: float) -> str:
    return f"{100 * part:.1f} %"


_ROWS: dict[str, Callable[[dict[str, Any]], str]] = {
    "utility": lambda row: f"{row['utility']}/{row['tasks']}",
    "utility_unattended": lambda row: f"{row['utility_unattended']}/{row['tasks']}",
    "questions": lambda row: str(row["questions"]),
    "autonomy": lambda row: _percent(row["autonomy"]),
    "pairs": lambda row: str(row["pairs"]),
    "attack_success": lambda row: _percent(row["attack_success"]),
    "harm": lambda row: _percent(row["harm"]),
    "attack_questions": lambda row: f"{row['attack_questions']:.2f} a pair",
}
