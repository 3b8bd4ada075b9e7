"""`edgeward diff`: what a new policy allows that the old one did not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from . import options
from .failures import FAILED, reported
from .progress import busy

if TYPE_CHECKING:
    from ..policies.diff import Difference, Looser, Undecided, Witness

EXAMPLE = "Example:  edgeward diff policy.yaml new_policy.yaml"


def diff(
    old: Annotated[str, typer.Argument(help="The policy that is in force: a file, or a name.")],
    new: Annotated[str, typer.Argument(help="The policy that is to follow it.")],
    stricter: Annotated[
        bool, typer.Option("--stricter", help="Also list what the new policy no longer allows.")
    ] = False,
    tools: Annotated[
        str, typer.Option(metavar="NAMES", help="The agent's tools, by comma: look at no others.")
    ] = "",
    ignore_undecided: Annotated[
        bool,
        typer.Option(
            "--ignore-undecided",
            help="Exit with 0 where nothing but undecided differences is left.",
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    debug: options.Debug = False,
) -> None:
    """Every way in which a new policy is looser than the old one, each with a call that shows it.

    Names, lists, hosts, numbers and conditions are decided exactly. Of regular expressions samples
    are tried; what they do not settle is `not decided`, and counts as looser. Exit code: 0 no
    looser, 1 looser or not decided, 2 where a file is wrong.
    """
    with reported(debug=debug):
        from ..policies.diff import compare

        names = [name.strip() for name in tools.split(",") if name.strip()]
        with busy("comparing the policies"):
            found = compare(old, new, tools=names, stricter=stricter)
        (_as_json if as_json else _as_text)(found, stricter)
    open_ones = () if ignore_undecided else found.undecided
    raise typer.Exit(FAILED if found.looser or open_ones else 0)


def _as_text(found: Difference, stricter: bool) -> None:
    for one in found.looser:
        _show("looser", one)
    for left in found.undecided:
        _line(f"not decided: {left.tool}: {left.what}: {left.why} {_places(left)}")
    for one in found.stricter:
        _show("stricter", one)
    counts = [f"{len(found.looser)} looser", f"{len(found.undecided)} not decided"]
    counts += [f"{len(found.stricter)} stricter"] if stricter else []
    typer.echo(", ".join(counts))


def _show(sign: str, one: Looser) -> None:
    words = (one.old, one.new) if sign == "looser" else (one.new, one.old)
    _line(f"{sign}: {one.tool}: {one.what}: {words[0]} \u2192 {words[1]} {_places(one, sign)}")
    _line(f"    {_spelled(one.witness) if one.witness is not None else one.shown}")


def _places(one: Looser | Undecided, sign: str = "looser") -> str:
    places = [one.old_place, one.new_place]
    first, second = places if sign == "looser" else reversed(places)
    return f"({first} \u2192 {second})"


def _spelled(witness: Witness) -> str:
    """The call, and what went before it, on one line."""
    found = witness.record()
    call = f"{found.pop('tool')} {json.dumps(found.pop('arguments'), ensure_ascii=False)}"
    rest = [f"{name} {json.dumps(said, ensure_ascii=False)}" for name, said in found.items()]
    return "; ".join([call, *rest])


def _line(text: str) -> None:
    from .printable import one_line

    indent = text[: len(text) - len(text.lstrip())]
    typer.echo(indent + one_line(text))


def _as_json(found: Difference, stricter: bool) -> None:
    plain = {
        "looser": [one.record() for one in found.looser],
        "undecided": [one.record() for one in found.undecided],
    }
    if stricter:
        plain["stricter"] = [one.record() for one in found.stricter]
    typer.echo(json.dumps(plain, indent=2))
