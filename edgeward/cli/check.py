"""`edgeward check`: what a policy says of one call, or of many, and why."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import options, shipped
from .failures import WAITING, reported

if TYPE_CHECKING:
    from ..guards.verdict import ToolCall, Verdict
    from ..policies.cases import Case

BLOCKED = 1

EXAMPLE = """Example:  edgeward check finance --tool send_money --args '{"recipient": "x"}'"""


def check(
    policy: Annotated[
        str,
        typer.Argument(help="A shipped policy's name, or a path.", autocompletion=shipped.policies),
    ],
    tool: Annotated[str | None, typer.Option(help="The tool that is called.")] = None,
    args: Annotated[
        str, typer.Option(metavar="JSON", help="Its arguments, as a model writes them.")
    ] = "{}",
    history: Annotated[
        str | None,
        typer.Option(
            metavar="FILE_OR_JSON",
            help="What went before (YAML or JSON): a list of `{user: text}` and "
            "`{tool, arguments, result}`.",
        ),
    ] = None,
    calls: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.jsonl", help="Many calls, one a line: `{tool, arguments, history}`."
        ),
    ] = None,
    user: options.User = None,
    tenant: options.Tenant = None,
    role: options.Roles = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object a call.")] = False,
    debug: options.Debug = False,
) -> None:
    """Decide a call without running it: the verdict, each rule that spoke, and what would do.

    Exit code: 0 allow or redact, 1 block, 3 ask, 2 where something given is wrong; of many calls,
    that of the strictest verdict.
    """
    with reported(debug=debug):
        from ..guards.caller import Caller
        from ..policies.schema import load_policy

        if (tool is None) == (calls is None):
            raise ValueError("give one of --tool (one call) and --calls (a file of them)")
        if calls is not None and (history is not None or args != "{}"):
            raise ValueError("--args and --history go with --tool; a line of --calls has its own")
        loaded = load_policy(policy)
        caller = Caller(user or "", tenant or "", tuple(role or ()))
        codes = list[int]()
        for name, case in _cases(tool, args, history, calls):
            known = case if case.caller != Caller() else replace(case, caller=caller)
            verdict = known.verdict(loaded)
            _show(name, case.call, verdict, as_json=as_json)
            codes.append({"block": BLOCKED, "ask": WAITING}.get(verdict.word, 0))
        if not codes:
            raise ValueError(f"{calls}: holds no call; allowed: one a line, as JSON")
    raise typer.Exit(BLOCKED if BLOCKED in codes else max(codes))


def _cases(
    tool: str | None, args: str, history: str | None, calls: Path | None
) -> Iterator[tuple[str, Case]]:
    """The calls, each with the words by which it is named where there are several."""
    from ..guards.python_values import as_call
    from ..policies.cases import Case, case_of, json_bytes, load_history

    if tool is not None:
        turns = load_history(history) if history is not None else ()
        yield "", Case(as_call(tool, args, id="call"), turns)
    if calls is not None:
        with calls.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    name = f"{calls}:{number}"
                    yield name, case_of(json_bytes(line, name=name))


def _show(name: str, call: ToolCall, verdict: Verdict, *, as_json: bool) -> None:
    from ..guards.audit import record
    from .printable import one_line, printable

    if as_json:
        place = {"at": name} if name else {}
        typer.echo(json.dumps({**place, **record(call, verdict)}))
        return
    shown = printable(verdict.explain()).replace("\n", "\n    ")
    typer.echo(f"{printable(name)}: {one_line(call.name)}: {shown}" if name else shown)
